/**
 * A simulation of mounts over an Alluxio in memory that is repeated exactly by its seed: random programs, a crash at any boundary
 * between two calls, and what must hold after each.
 *
 * <p>{@link Program} makes the {@link Step}s of a seed, {@link World} does them, {@link Model} knows what may be seen after each, with
 * {@link AttributeModel} for attributes, and {@link Histories} which of several such agree with all that was answered.
 *
 * <p>Only one thread runs at a time: {@link Turns} lets the threads of a mount run when its requests are answered.
 */
@NullMarked
package io.posixgateway.alluxio.simulation;

import org.jspecify.annotations.NullMarked;

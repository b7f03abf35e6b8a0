/**
 * The gateway as a process: mount options, logs, the volumes it serves, and its client of the keeper.
 *
 * <p>Started by the command line. Sits above the adapter and fuse-core and may import both; nothing below imports it. Each
 * class says which threads may call it.
 */
@NullMarked
package io.posixgateway.alluxio.service;

import org.jspecify.annotations.NullMarked;

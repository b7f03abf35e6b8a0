/**
 * File systems for measuring and for breaking things: one without data, one that fails on purpose.
 *
 * <p>Part of the library, so that the authors of other file systems can use them. Any thread. May import the SPI and the wire numbers.
 */
@NullMarked
package io.posixgateway.fuse.testing;

import org.jspecify.annotations.NullMarked;

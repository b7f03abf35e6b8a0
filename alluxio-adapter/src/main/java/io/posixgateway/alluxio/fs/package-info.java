/**
 * The {@link io.posixgateway.fuse.spi.FileSystem} SPI on Alluxio: one class per group of operations.
 *
 * <p>Called on transport threads, where nothing waits, and on pool threads, where RPCs may. Made of the stages below
 * ({@code meta}, {@code read}, {@code write}, {@code journal}); {@code AlluxioMount} mounts it from a program of one's own.
 */
@NullMarked
package io.posixgateway.alluxio.fs;

import org.jspecify.annotations.NullMarked;

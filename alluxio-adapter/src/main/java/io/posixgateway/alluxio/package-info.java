/**
 * Alluxio as a {@link io.posixgateway.fuse.spi.FileSystem}: the operations, made of the stages below this package.
 *
 * <p>Called on transport threads, where nothing waits, and on pool threads, where RPCs may. Imports every stage
 * ({@code inode}, {@code cache}, {@code data}, {@code write}, {@code posix}, {@code client}), and is imported by none.
 */
@NullMarked
package io.posixgateway.alluxio;

import org.jspecify.annotations.NullMarked;

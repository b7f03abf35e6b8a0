/**
 * Gives programs that have the bypass library preloaded the block files of what they opened through FUSE.
 *
 * <p>A socket that everybody may connect to, one thread that answers. It never waits for Alluxio, nor for a file system:
 * what a peer shows is judged by what the kernel knows already. Imports {@code jni} of fuse-core only.
 */
@NullMarked
package io.posixgateway.alluxio.bypass;

import org.jspecify.annotations.NullMarked;

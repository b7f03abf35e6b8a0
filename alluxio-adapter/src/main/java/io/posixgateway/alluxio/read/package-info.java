/**
 * The way to the bytes of complete files: block files of a local worker, or streams from wherever the blocks are.
 *
 * <p>Local reads never wait for the network and go straight into the caller's buffer; remote ones wait.
 */
@NullMarked
package io.posixgateway.alluxio.read;

import org.jspecify.annotations.NullMarked;

package io.posixgateway.alluxio.store;

/**
 * How far Alluxio's load of a path is.
 *
 * @param failure why it failed; empty: it did not
 */
public record LoadState(boolean done, long loadedBytes, long totalBytes, long failedFiles, String failure) {}

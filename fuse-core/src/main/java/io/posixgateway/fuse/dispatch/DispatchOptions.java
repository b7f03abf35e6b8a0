package io.posixgateway.fuse.dispatch;

/**
 * How requests are dispatched.
 *
 * @param readOnly every change, and every open for writing, is answered EROFS
 * @param poolThreads how many requests may wait at the same time
 */
public record DispatchOptions(boolean readOnly, int poolThreads) {}

package io.posixgateway.fuse.dispatch;

/**
 * How requests are dispatched.
 *
 * @param readOnly every change, and every open for writing, is answered EROFS
 * @param poolThreads how many requests may wait at the same time
 * @param name of the session, for logs
 * @param limit of what its requests may ask for
 */
public record DispatchOptions(boolean readOnly, int poolThreads, String name, RateLimit limit) {
    /** Without a limit. */
    public DispatchOptions(boolean readOnly, int poolThreads, String name) {
        this(readOnly, poolThreads, name, RateLimit.NONE);
    }

    /** Of a session whose name nobody needs. */
    public DispatchOptions(boolean readOnly, int poolThreads) {
        this(readOnly, poolThreads, "");
    }
}

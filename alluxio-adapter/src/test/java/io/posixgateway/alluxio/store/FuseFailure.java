package io.posixgateway.alluxio.store;

/** A request that was answered with an errno. */
public final class FuseFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    FuseFailure(String request, int errno) {
        super(request + ": errno " + errno);
        this.errno = errno;
    }

    /** Positive. */
    public int errno() {
        return errno;
    }
}

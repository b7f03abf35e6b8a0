package io.posixgateway.alluxio.gateway;

import java.io.IOException;

/** Work on a path failed with an errno. */
public final class TreeException extends IOException {
    private static final long serialVersionUID = 1;

    private final int errno;

    TreeException(int errno, String message) {
        super(message);
        this.errno = errno;
    }

    /** Positive; of {@link io.posixgateway.fuse.spi.Errno}. */
    public int errno() {
        return errno;
    }
}

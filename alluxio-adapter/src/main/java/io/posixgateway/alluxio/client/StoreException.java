package io.posixgateway.alluxio.client;

import org.jspecify.annotations.Nullable;

/** Alluxio refused or did not answer. Carries the errno to give to the program. */
public final class StoreException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /** @param errno positive, of {@link io.posixgateway.fuse.spi.Errno} */
    public StoreException(int errno, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.errno = errno;
    }

    /** Positive. */
    public int errno() {
        return errno;
    }
}

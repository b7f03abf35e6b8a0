package io.posixgateway.alluxio.client;

import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;

/** Alluxio refused or did not answer. Carries the errno to give to the program. */
public final class StoreException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int errno;
    private final boolean unanswered;

    /** @param errno positive, of {@link io.posixgateway.fuse.spi.Errno} */
    public StoreException(int errno, String message, @Nullable Throwable cause) {
        this(errno, message, cause, false);
    }

    private StoreException(int errno, String message, @Nullable Throwable cause, boolean unanswered) {
        super(message, cause);
        this.errno = errno;
        this.unanswered = unanswered;
    }

    /** EIO: who was asked did not answer. */
    static StoreException unanswered(String message, Throwable cause) {
        return new StoreException(Errno.EIO, message, cause, true);
    }

    /** Did somebody not answer, so that the same may succeed elsewhere, or later? */
    public boolean isUnanswered() {
        return unanswered;
    }

    /** Was it a change that may have been made, or may be made yet: nobody answered, or nobody waited for the answer? */
    public boolean isOutcomeUnknown() {
        return errno == Errno.EIO || errno == Errno.ETIMEDOUT || errno == Errno.EINTR;
    }

    /** Positive. */
    public int errno() {
        return errno;
    }
}

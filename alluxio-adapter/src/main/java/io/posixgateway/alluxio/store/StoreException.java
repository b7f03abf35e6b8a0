package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;

/** Alluxio, or this node, refused or did not answer. Carries the errno to give to the program. */
public final class StoreException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int errno;
    private final Kind kind;
    private final boolean ofRepetition;

    private enum Kind {
        ANSWER,
        UNANSWERED,
        SILENCE,
        LOGIN_REFUSED,
        THIS_NODE,
        HELD_FOLDER
    }

    /** @param errno positive, of {@link io.posixgateway.fuse.spi.Errno} */
    public StoreException(int errno, String message, @Nullable Throwable cause) {
        this(errno, message, cause, Kind.ANSWER);
    }

    /** What wraps a failure of a repetition is one, too. */
    private StoreException(int errno, String message, @Nullable Throwable cause, Kind kind) {
        this(errno, message, cause, kind, cause instanceof StoreException failure && failure.ofRepetition);
    }

    private StoreException(int errno, String message, @Nullable Throwable cause, Kind kind, boolean ofRepetition) {
        super(message, cause);
        this.errno = errno;
        this.kind = kind;
        this.ofRepetition = ofRepetition;
    }

    /** The same, as the answer to a change that had been requested before. */
    public StoreException ofRepetition() {
        return new StoreException(errno, String.valueOf(getMessage()), getCause(), kind, true);
    }

    /** True if this answers a change that had been requested before, without an answer: what it refuses may have been done then. */
    public boolean isOfRepetition() {
        return ofRepetition;
    }

    /** EIO: who was asked did not answer. */
    public static StoreException unanswered(String message, Throwable cause) {
        return new StoreException(Errno.EIO, message, cause, Kind.UNANSWERED);
    }

    /** EIO: who was asked has not answered yet, and may only be slow. */
    public static StoreException silence(String message, @Nullable Throwable cause) {
        return new StoreException(Errno.EIO, message, cause, Kind.SILENCE);
    }

    /** EACCES: Alluxio did not accept who calls, whatever the path. */
    public static StoreException loginRefused(String message, Throwable cause) {
        return new StoreException(Errno.EACCES, message, cause, Kind.LOGIN_REFUSED);
    }

    /** True if Alluxio did not accept who calls, whatever the path. */
    public boolean isLoginRefused() {
        return kind == Kind.LOGIN_REFUSED;
    }

    /** A disk of this node failed, or takes nothing: neither Alluxio nor time is the cause. */
    public static StoreException ofThisNode(int errno, String message, Throwable cause) {
        return new StoreException(errno, message, cause, Kind.THIS_NODE);
    }

    /** Was it a disk of this node, and not Alluxio? */
    public boolean isOfThisNode() {
        return kind == Kind.THIS_NODE;
    }

    /** EBUSY: another process has the folder of a volume, on this node. */
    public static StoreException heldFolder(String message) {
        return new StoreException(Errno.EBUSY, message, null, Kind.HELD_FOLDER);
    }

    /** Was it that another process has the folder of the volume? Alluxio says EBUSY, too. */
    public boolean isHeldFolder() {
        return kind == Kind.HELD_FOLDER;
    }

    /** Did somebody not answer in time, who may only be slow? */
    public boolean isSilence() {
        return kind == Kind.SILENCE;
    }

    /** Did somebody not answer, so that the same may succeed elsewhere, or later? */
    public boolean isUnanswered() {
        return kind == Kind.UNANSWERED;
    }

    /**
     * Was it a change that may have been made, or may be made yet: nobody answered, nobody waited for the answer, or it is the answer to a
     * repetition?
     */
    public boolean isOutcomeUnknown() {
        return ofRepetition || errno == Errno.EIO || errno == Errno.ETIMEDOUT || errno == Errno.EINTR;
    }

    /** Positive. */
    public int errno() {
        return errno;
    }
}

package io.posixgateway.alluxio.gateway;

import org.jspecify.annotations.Nullable;

/** A call to the service fails; the message tells the caller what to do, the kind becomes the gRPC code. */
public final class ServiceException extends Exception {
    private static final long serialVersionUID = 1;

    /** Kinds of failure. */
    public enum Kind {
        /** The request itself is wrong. */
        INVALID,
        /** No such volume or path. */
        NOT_FOUND,
        /** It is there with other properties. */
        EXISTS,
        /** Alluxio does not permit it, or this node's disk. */
        DENIED,
        /** Alluxio or the keeper does not answer; try again. */
        UNAVAILABLE,
        /** Another gateway serves the session; it may end. */
        SERVED_ELSEWHERE,
        /** Not possible in the present state. */
        PRECONDITION,
        /** Another call for the same volume is under way; try again. */
        ABORTED,
        /** The process that served the volume was killed, and the kernel does not end it; try again. */
        ENDING
    }

    private final Kind kind;

    public ServiceException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public ServiceException(Kind kind, String message) {
        this(kind, message, null);
    }

    public Kind kind() {
        return kind;
    }
}

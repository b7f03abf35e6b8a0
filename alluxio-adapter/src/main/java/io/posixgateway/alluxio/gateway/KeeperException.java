package io.posixgateway.alluxio.gateway;

import java.io.IOException;

/** The keeper refused, or did not answer; the message says what to do. */
public final class KeeperException extends IOException {
    private static final long serialVersionUID = 1;

    /** Our own code beside those of the protocol: nobody answers at the socket. */
    public static final String UNAVAILABLE = "unavailable";

    /** The keeper does not know such a question, or it is wrong. */
    public static final String INVALID = "invalid";

    /** It could not do what was asked, or sent what is no response. */
    public static final String FAILED = "failed";

    private final String code;

    KeeperException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** not_found, exists, {@link #INVALID}, {@link #FAILED}, or {@link #UNAVAILABLE}. */
    public String code() {
        return code;
    }
}

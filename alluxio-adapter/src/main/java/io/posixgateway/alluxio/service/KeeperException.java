package io.posixgateway.alluxio.service;

import java.io.IOException;

/** The keeper refused, or did not answer; the message says what to do. */
public final class KeeperException extends IOException {
    private static final long serialVersionUID = 1;

    /** Our own code beside those of the protocol: nobody answers at the socket. */
    public static final String UNAVAILABLE = "unavailable";

    private final String code;

    KeeperException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** not_found, exists, invalid, failed, or {@link #UNAVAILABLE}. */
    public String code() {
        return code;
    }
}

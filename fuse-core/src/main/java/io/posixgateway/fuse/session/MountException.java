package io.posixgateway.fuse.session;

import java.io.IOException;

/** A mount that could not be made; the message says what was given, what is wrong and what to do next. */
public final class MountException extends IOException {
    private static final long serialVersionUID = 1L;

    public MountException(String what, String advice) {
        super(what + ": " + advice);
    }
}

package io.posixgateway.alluxio.cli;

import org.jspecify.annotations.Nullable;

/** A command cannot go on; the message is all that the user needs to see. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1;

    CommandException(String message) {
        super(message);
    }

    CommandException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

package io.posixgateway.alluxio.options;

/** An option that is not allowed; the message says what was given, what is allowed and what to do. */
public final class OptionException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public OptionException(String message) {
        super(message);
    }
}

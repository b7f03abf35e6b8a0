package io.posixgateway.alluxio.simulation;

/** Something that must hold does not. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(String what) {
        super(what);
    }

    Violation(String what, Throwable cause) {
        super(what, cause);
    }
}

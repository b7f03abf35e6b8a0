package io.posixgateway.fuse.conformance;

import java.util.function.BooleanSupplier;

/** Waits for what comes true by itself. */
public final class Eventually {
    private static final long PATIENCE_NANOS = 30_000_000_000L;
    private static final long NAP_MILLIS = 10;

    private Eventually() {}

    /** Returns once the condition holds; fails when it does not within half a minute. */
    public static void holds(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("did not come true within 30 s: " + what);
            }
            Thread.sleep(NAP_MILLIS);
        }
    }
}

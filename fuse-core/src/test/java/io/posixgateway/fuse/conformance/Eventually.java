package io.posixgateway.fuse.conformance;

import java.time.Duration;

/** Waits for what comes true by itself. */
public final class Eventually {
    /** Far more than a busy machine needs: only what never comes true takes so long. */
    public static final Duration LIMIT = Duration.ofSeconds(60);

    private static final long NAP_MILLIS = 10;

    private Eventually() {}

    /** What is waited for. */
    @FunctionalInterface
    public interface Condition<E extends Exception> {
        boolean holds() throws E;
    }

    /** Returns once the condition holds; fails when it does not within {@link #LIMIT}. */
    public static <E extends Exception> void holds(String what, Condition<E> condition) throws E, InterruptedException {
        holds(what, LIMIT, condition);
    }

    /** The same with another limit. */
    public static <E extends Exception> void holds(String what, Duration limit, Condition<E> condition)
            throws E, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("did not come true within " + limit.toSeconds() + " s: " + what);
            }
            Thread.sleep(NAP_MILLIS);
        }
    }
}

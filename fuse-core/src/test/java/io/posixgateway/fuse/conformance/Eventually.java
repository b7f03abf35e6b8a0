package io.posixgateway.fuse.conformance;

import java.time.Duration;

/** Waits for what comes true by itself. */
public final class Eventually {
    /** Of {@link QuietTime}, so that a busy machine has longer: only what never comes true takes so long. */
    public static final Duration LIMIT = Duration.ofSeconds(60);

    /** So many limits may go by on the clock. */
    private static final int MAX_LIMITS = 5;

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
        QuietTime time = QuietTime.sinceNow();
        while (!condition.holds()) {
            if (isOver(time, limit)) {
                throw new AssertionError("did not come true within " + limit.toSeconds() + " s: " + what);
            }
            Thread.sleep(NAP_MILLIS);
        }
    }

    private static boolean isOver(QuietTime time, Duration limit) {
        Duration elapsed = time.elapsed();
        return elapsed.compareTo(limit) > 0
                && (time.quiet().compareTo(limit) > 0 || elapsed.compareTo(limit.multipliedBy(MAX_LIMITS)) > 0);
    }
}

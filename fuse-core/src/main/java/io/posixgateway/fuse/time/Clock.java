package io.posixgateway.fuse.time;

import java.time.Instant;
import java.util.concurrent.CountDownLatch;

/**
 * The time, and waiting for it to pass. Any thread.
 *
 * <p>A constructor argument of whatever needs the time, so that a test can set it: a test's clock ends the waits that begin
 * here when it is advanced, and never sleeps. {@link #nanos} allocates nothing.
 */
public interface Clock {
    /** The time of the machine. For those who put the parts of a program together; the parts are given theirs. */
    static Clock system() {
        return SystemClock.INSTANCE;
    }

    /** Nanoseconds since some moment, never going back, for durations and deadlines. Compare differences: it may overflow. */
    long nanos();

    /** The time of the day, which may be set back. */
    Instant instant();

    /** {@link #instant} in milliseconds since 1970. */
    default long epochMillis() {
        return instant().toEpochMilli();
    }

    /**
     * As {@link Object#wait(long)}: waits until the monitor is notified or so long has passed, or sooner; the caller holds the
     * monitor and looks again. Returns at once for 0 or less.
     */
    void waitOn(Object monitor, long nanos) throws InterruptedException;

    /** As {@link CountDownLatch#await(long, java.util.concurrent.TimeUnit)}: false when the time passed first. */
    boolean await(CountDownLatch latch, long nanos) throws InterruptedException;

    /** Waits so long. */
    void sleep(long nanos) throws InterruptedException;

    /**
     * The work of a thread of its own, which waits by this clock. It is run once, by the thread that gets it; a test's clock may let
     * that have its turn only when nothing else runs, so that a test is repeated exactly.
     */
    default Runnable background(Runnable work) {
        return work;
    }

    /** Waits so long, or until the thread is interrupted, which it stays. */
    default void pause(long nanos) {
        try {
            sleep(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

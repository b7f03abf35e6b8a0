package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

/**
 * Virtual time: it passes when a test says so, and with injected delays. Any thread.
 *
 * <p>Threads that wait by it are woken when enough of it has passed. A request that sleeps, as one that is retried does, makes
 * the time pass in place of sleeping; with {@link #advanceBySleeps} so does any other thread.
 */
public final class ManualClock implements Clock {
    private static final long START_NANOS = 1_000_000_000_000L;
    private static final long EPOCH_MILLIS = 1_700_000_000_000L;

    private final io.posixgateway.fuse.time.ManualClock clock =
            new io.posixgateway.fuse.time.ManualClock(Instant.ofEpochMilli(EPOCH_MILLIS));
    private volatile boolean sleepsAdvance;

    /** From now on the sleep of any thread advances the clock, and ends at once. */
    public ManualClock advanceBySleeps() {
        sleepsAdvance = true;
        return this;
    }

    @Override
    public long nanos() {
        return START_NANOS + clock.nanos();
    }

    @Override
    public Instant instant() {
        return clock.instant();
    }

    /** Milliseconds since the epoch, by the same clock. */
    public long millis() {
        return clock.epochMillis();
    }

    public void advance(Duration time) {
        clock.advance(time);
    }

    /** Returns when at least so many threads wait by this clock. */
    public void awaitWaiting(int threads) throws InterruptedException {
        clock.awaitWaiting(threads);
    }

    /** How many threads wait by this clock. */
    public int waiting() {
        return clock.waiting();
    }

    /** How many waits by this clock began so far. */
    public long waits() {
        return clock.waits();
    }

    @Override
    public void waitOn(Object monitor, long nanos) throws InterruptedException {
        clock.waitOn(monitor, nanos);
    }

    @Override
    public boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
        return clock.await(latch, nanos);
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        boolean servesRequest = !RemoteCalls.ofThread().about().isEmpty();
        if (sleepsAdvance || servesRequest) {
            clock.advanceNanos(nanos);
        } else {
            clock.sleep(nanos);
        }
    }
}

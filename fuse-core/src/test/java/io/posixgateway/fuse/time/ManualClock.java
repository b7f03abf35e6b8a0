package io.posixgateway.fuse.time;

import io.posixgateway.fuse.conformance.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A clock that stands still until it is advanced, which ends the waits that are over by then. Any thread.
 *
 * <p>To advance past a deadline that another thread is about to wait for, first {@link #awaitWaiting}.
 */
public final class ManualClock implements Clock {
    private final boolean waitsAdvance;

    // Guarded by this.
    private long nanos;
    private Instant instant;
    private final List<Wait> waits = new ArrayList<>();
    private long begun;

    /** One thread's; equal to no other. */
    private static final class Wait {
        private final Object monitor;
        private final long endNanos;

        Wait(Object monitor, long endNanos) {
            this.monitor = monitor;
            this.endNanos = endNanos;
        }
    }

    private ManualClock(Instant instant, boolean waitsAdvance) {
        this.instant = instant;
        this.waitsAdvance = waitsAdvance;
    }

    /** At the beginning of 2026. */
    public ManualClock() {
        this(Instant.parse("2026-01-01T00:00:00Z"));
    }

    public ManualClock(Instant instant) {
        this(instant, false);
    }

    /** One that each wait advances to its end, without waiting: for one thread, which nobody else would wake. */
    public static ManualClock advancedByWaits() {
        return new ManualClock(Instant.parse("2026-01-01T00:00:00Z"), true);
    }

    /** Both clocks go on by so much. */
    public void advance(Duration duration) {
        advanceNanos(duration.toNanos());
    }

    /** As {@link #advance}. */
    public void advanceNanos(long by) {
        List<Wait> over;
        synchronized (this) {
            nanos += by;
            instant = instant.plusNanos(by);
            over = waits.stream().filter(wait -> nanos - wait.endNanos >= 0).toList();
        }
        over.forEach(ManualClock::end);
    }

    @SuppressWarnings("NakedNotify") // what it waits for is the time, which was changed
    private static void end(Wait wait) {
        synchronized (wait.monitor) {
            wait.monitor.notifyAll();
        }
    }

    /** Returns when at least so many threads wait by this clock. */
    public void awaitWaiting(int threads) throws InterruptedException {
        Eventually.holds(threads + " threads wait by the clock", () -> waiting() >= threads);
    }

    /** How many threads wait by this clock; one whose time has come does not, though it may not have run since. */
    public synchronized int waiting() {
        return (int) waits.stream().filter(wait -> !isOver(wait)).count();
    }

    /** How many waits by this clock began so far. */
    public synchronized long waits() {
        return begun;
    }

    @Override
    public synchronized long nanos() {
        return nanos;
    }

    @Override
    public synchronized Instant instant() {
        return instant;
    }

    private synchronized Wait begin(Object monitor, long forNanos) {
        Wait wait = new Wait(monitor, nanos + forNanos);
        waits.add(wait);
        begun++;
        return wait;
    }

    private synchronized boolean isOver(Wait wait) {
        return nanos - wait.endNanos >= 0;
    }

    private synchronized void remove(Wait wait) {
        waits.remove(wait);
    }

    @Override
    @SuppressWarnings("WaitNotInLoop") // the caller's
    public void waitOn(Object monitor, long forNanos) throws InterruptedException {
        if (waitsAdvance) {
            advanceNanos(forNanos);
            return;
        }
        Wait wait = begin(monitor, forNanos);
        try {
            if (!isOver(wait)) {
                monitor.wait();
            }
        } finally {
            remove(wait);
        }
    }

    @Override
    public boolean await(CountDownLatch latch, long forNanos) throws InterruptedException {
        if (waitsAdvance) {
            advanceNanos(latch.getCount() == 0 ? 0 : forNanos);
            return latch.getCount() == 0;
        }
        Wait wait = begin(new Object(), forNanos);
        try {
            while (!isOver(wait)) {
                if (latch.await(1, TimeUnit.MILLISECONDS)) {
                    return true;
                }
            }
            return latch.getCount() == 0;
        } finally {
            remove(wait);
        }
    }

    @Override
    public void sleep(long forNanos) throws InterruptedException {
        if (waitsAdvance) {
            advanceNanos(forNanos);
            return;
        }
        Object bed = new Object();
        Wait wait = begin(bed, forNanos);
        try {
            synchronized (bed) {
                while (!isOver(wait)) {
                    bed.wait();
                }
            }
        } finally {
            remove(wait);
        }
    }
}

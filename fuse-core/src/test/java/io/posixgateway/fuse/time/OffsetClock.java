package io.posixgateway.fuse.time;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The machine's clock, which a test can set forward: for what talks to a kernel or a server that goes by the machine's. That ends
 * the sleeps that are over by then; other waits take their time. Any thread.
 */
public final class OffsetClock implements Clock {
    private final Clock machine = Clock.system();
    private final AtomicLong offsetNanos = new AtomicLong();
    private volatile @Nullable Moment stoppedAt;

    /** A time of the machine's clock. */
    private record Moment(long nanos, Instant instant) {}

    /** From now on it goes on only as it is set forward: for what is true for seconds, on a machine that may be slow. */
    public synchronized void stop() {
        stoppedAt = new Moment(machine.nanos(), machine.instant());
    }

    /** From now on it is so much later. */
    public synchronized void advance(Duration duration) {
        offsetNanos.addAndGet(duration.toNanos());
        notifyAll();
    }

    @Override
    public long nanos() {
        Moment at = stoppedAt;
        return (at == null ? machine.nanos() : at.nanos()) + offsetNanos.get();
    }

    @Override
    public Instant instant() {
        Moment at = stoppedAt;
        return (at == null ? machine.instant() : at.instant()).plusNanos(offsetNanos.get());
    }

    @Override
    public void waitOn(Object monitor, long nanos) throws InterruptedException {
        machine.waitOn(monitor, nanos);
    }

    @Override
    public boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
        return machine.await(latch, nanos);
    }

    @Override
    public synchronized void sleep(long nanos) throws InterruptedException {
        long end = nanos() + nanos;
        for (long left = nanos; left > 0; left = end - nanos()) {
            machine.waitOn(this, left);
        }
    }
}

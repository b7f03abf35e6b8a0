package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.time.Clock;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

/** A million times as fast as the machine's: what takes two seconds to count as stuck does so after two microseconds. */
final class HurryingClock implements Clock {
    private static final long TIMES = 1_000_000;

    @Override
    public long nanos() {
        return Clock.system().nanos() * TIMES;
    }

    @Override
    public Instant instant() {
        return Clock.system().instant();
    }

    @Override
    public void waitOn(Object monitor, long nanos) throws InterruptedException {
        Clock.system().waitOn(monitor, Math.max(1, nanos / TIMES));
    }

    @Override
    public boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
        return Clock.system().await(latch, nanos / TIMES);
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        Clock.system().sleep(nanos / TIMES);
    }
}

package io.posixgateway.fuse.time;

import java.time.Instant;
import java.util.concurrent.CountDownLatch;

/** The machine's clock, until it is made to throw: for a fault in code that cannot be made to fail otherwise. Any thread. */
public final class FaultyClock implements Clock {
    private final Clock machine = Clock.system();
    // Guarded by this.
    private String threads = "";
    private int passes;
    private int faults;

    /** From now on, threads whose names begin so are told the time so many times, and then so many times get an error in its place. */
    public synchronized void fail(String threadsNamed, int passing, int times) {
        threads = threadsNamed;
        passes = passing;
        faults = times;
    }

    /** Faults that have not been met; none from now on. */
    public synchronized int endFaults() {
        int left = faults;
        faults = 0;
        return left;
    }

    /** Faults that have not been met. */
    public synchronized int left() {
        return faults;
    }

    @Override
    public long nanos() {
        strike();
        return machine.nanos();
    }

    private synchronized void strike() {
        if (faults > 0 && Thread.currentThread().getName().startsWith(threads) && passes-- <= 0) {
            faults--;
            throw new IllegalStateException("thrown on purpose by the clock");
        }
    }

    @Override
    public Instant instant() {
        return machine.instant();
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
    public void sleep(long nanos) throws InterruptedException {
        machine.sleep(nanos);
    }
}

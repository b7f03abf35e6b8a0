package io.posixgateway.alluxio.write;

import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.time.Clock;

/** Pauses between attempts of what a program waits for, each twice as long as the one before up to 2 s; 12 s in all. Any thread. */
final class Pauses {
    /** So long after the first attempt a failure is not yet reported. */
    private static final long PATIENCE_NANOS = 12_000_000_000L;

    private static final long PAUSE_NANOS = 250_000_000L;
    private static final int MAX_DOUBLINGS = 3;

    private final Clock clock;
    private volatile boolean hurries;

    Pauses(Clock clock) {
        this.clock = clock;
    }

    /** From now on what fails is not retried: the process ends, or the mount does. */
    void stopRetrying() {
        hurries = true;
    }

    /**
     * Waits a moment; an interrupt ends that.
     *
     * @param pauses how many there were since then
     * @return false: it took long enough
     */
    boolean await(long beganNanos, int pauses) {
        if (hurries || clock.nanos() - beganNanos >= PATIENCE_NANOS) {
            return false;
        }
        return slept(clock, PAUSE_NANOS << Math.min(pauses, MAX_DOUBLINGS));
    }

    /** Sleeps as in a call to Alluxio; false: an interrupt ended that. */
    static boolean slept(Clock clock, long nanos) {
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        try {
            clock.sleep(nanos);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            remote.end();
        }
    }
}

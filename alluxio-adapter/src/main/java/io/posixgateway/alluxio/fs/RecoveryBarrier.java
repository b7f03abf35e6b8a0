package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/**
 * What calls wait at until the changed files of an earlier process are recovered. Where Alluxio refuses, they fail before
 * long; an Alluxio that is merely slow, as on a busy machine, makes no call fail. Any thread.
 */
final class RecoveryBarrier {
    private static final long LOOK_NANOS = 100_000_000L;

    private final CountDownLatch opened = new CountDownLatch(1);
    private final BooleanSupplier refused;
    private final Duration whenRefused;
    private final Duration otherwise;
    private final Clock clock;

    /**
     * @param refused has an attempt failed, as Alluxio does not answer?
     * @param whenRefused how long a call waits then
     * @param otherwise how long while every answer came
     */
    RecoveryBarrier(BooleanSupplier refused, Duration whenRefused, Duration otherwise, Clock clock) {
        this.clock = clock;
        this.refused = refused;
        this.whenRefused = whenRefused;
        this.otherwise = otherwise;
    }

    void open() {
        opened.countDown();
    }

    boolean isOpen() {
        return opened.getCount() == 0;
    }

    /** Waits for a time; false: it is still shut. */
    boolean await(Duration limit) throws InterruptedException {
        return clock.await(opened, limit.toNanos());
    }

    /** Waits until it is open, with the limits above. */
    void pass() throws StoreException {
        try {
            for (long began = clock.nanos(); !clock.await(opened, LOOK_NANOS); ) {
                if (clock.nanos() - began >= (refused.getAsBoolean() ? whenRefused : otherwise).toNanos()) {
                    throw new StoreException(
                            Errno.EIO,
                            "Changed files of an earlier process are not recovered yet: Alluxio does not answer",
                            null);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted", e);
        }
    }
}

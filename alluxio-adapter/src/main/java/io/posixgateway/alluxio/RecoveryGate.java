package io.posixgateway.alluxio;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What calls wait at until the changed files of an earlier process are recovered. Where Alluxio refuses, they fail before
 * long; an Alluxio that is merely slow, as on a busy machine, makes no call fail. Any thread.
 */
final class RecoveryGate {
    private static final long LOOK_MILLIS = 100;

    private final CountDownLatch opened = new CountDownLatch(1);
    private final BooleanSupplier refused;
    private final Duration whenRefused;
    private final Duration otherwise;

    /**
     * @param refused has an attempt failed, as Alluxio does not answer?
     * @param whenRefused how long a call waits then
     * @param otherwise how long while every answer came
     */
    RecoveryGate(BooleanSupplier refused, Duration whenRefused, Duration otherwise) {
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
        return opened.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Waits until it is open, with the limits above. */
    void pass() throws StoreException {
        try {
            for (long waited = 0; !opened.await(LOOK_MILLIS, TimeUnit.MILLISECONDS); ) {
                waited += LOOK_MILLIS;
                if (waited >= (refused.getAsBoolean() ? whenRefused : otherwise).toMillis()) {
                    throw new StoreException(
                            Errno.EIO,
                            "The files that an earlier process was changing are not recovered yet: Alluxio does not answer",
                            null);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted", e);
        }
    }
}

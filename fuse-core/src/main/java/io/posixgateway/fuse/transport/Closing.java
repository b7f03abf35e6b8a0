package io.posixgateway.fuse.transport;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of a transport's life: bounded waits, and what is in use for longer is not freed but reported. */
final class Closing {
    static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Logger LOG = LoggerFactory.getLogger(Closing.class);

    private Closing() {}

    /** A wait; false on time-out. */
    @FunctionalInterface
    interface Wait {
        boolean await(long timeoutNanos) throws InterruptedException;
    }

    /** Waits, though interrupted, for a bounded time; what still runs then is logged. */
    static boolean wait(String what, Wait wait) {
        boolean interrupted = false;
        try {
            for (; ; ) {
                try {
                    boolean done = wait.await(WAIT_NANOS);
                    if (!done) {
                        LOG.error(
                                "{} did not end within {} s; their memory is not freed",
                                what,
                                WAIT_NANOS / 1_000_000_000L);
                    }
                    return done;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

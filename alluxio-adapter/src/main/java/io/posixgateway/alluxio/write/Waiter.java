package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;

/**
 * Who waits for a long commit, asked between two pieces of it.
 *
 * <p>The kernel sends close as a request that no signal ends. So a program that was killed stays until the last byte is in Alluxio,
 * though nobody hears of that any more; what it wrote is then committed by the end of its handle, for which nobody waits. A program
 * that got a signal and lives on waits, as it does on a local disk.
 */
@FunctionalInterface
interface Waiter {
    /** Nobody, or somebody who waits to the end. */
    Waiter PATIENT = () -> {};

    /** @throws StoreException EINTR: nobody waits any more */
    void check() throws StoreException;

    /** The program whose request this thread serves; it is not asked for in short commits, and once a second in long ones. */
    static Waiter ofThread(Clock clock) {
        return new Waiter() {
            private static final long SHORT_NANOS = 2_000_000_000L;
            private static final long PAUSE_NANOS = 1_000_000_000L;

            private long nextNanos = clock.nanos() + SHORT_NANOS;

            @Override
            public void check() throws StoreException {
                if (clock.nanos() < nextNanos) {
                    return;
                }
                nextNanos = clock.nanos() + PAUSE_NANOS;
                if (RemoteCalls.ofThread().callerKilled()) {
                    throw new StoreException(
                            Errno.EINTR,
                            "The waiting program was killed; the content is uploaded when the last handle is closed",
                            null);
                }
            }
        };
    }
}

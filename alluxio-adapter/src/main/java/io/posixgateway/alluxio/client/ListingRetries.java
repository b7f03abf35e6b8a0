package io.posixgateway.alluxio.client;

import io.posixgateway.fuse.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a listing whose connection broke while the master worked on it. Any thread; waits.
 *
 * <p>A master that loads a large directory may pause for so long (its heap is collected, another one takes over) that the keepalive of the
 * connection fails. Alluxio's client repeats a call only in the first seconds after its begin, so that listing would end with EIO, and
 * what the master has loaded by then would be for nobody. A master that takes no calls at all fails sooner than {@link #WORKED_NANOS}.
 */
final class ListingRetries {
    /** A call that took so long reached the master. */
    static final long WORKED_NANOS = 30_000_000_000L;

    static final int MOST_TRIES = 5;
    private static final Logger LOG = LoggerFactory.getLogger(ListingRetries.class);

    private final Clock clock;

    ListingRetries(Clock clock) {
        this.clock = clock;
    }

    /**
     * Runs it, again where it was cut off.
     *
     * @throws StoreException what it throws; an interrupt ends it
     */
    <T> T run(String path, FirstListings.Work<T> listing) throws StoreException {
        for (int tries = 1; ; tries++) {
            long beganNanos = clock.nanos();
            try {
                return listing.run();
            } catch (StoreException e) {
                long tookNanos = clock.nanos() - beganNanos;
                if (tries == MOST_TRIES || tookNanos < WORKED_NANOS || !isCutOff(e)) {
                    throw e;
                }
                LOG.warn(
                        "Retrying the listing of {}, because the connection to Alluxio's master broke after {} s: {}",
                        path,
                        tookNanos / 1_000_000_000L,
                        e.getMessage());
            }
        }
    }

    private static boolean isCutOff(StoreException failure) {
        return !Thread.currentThread().isInterrupted() && ErrnoTable.isUnanswered(failure);
    }
}

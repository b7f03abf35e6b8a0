package io.posixgateway.alluxio.client;

import alluxio.conf.AlluxioConfiguration;
import alluxio.conf.PropertyKey;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;

/** How often, and for how long, a reader has failed since something came. For one thread at a time. */
final class ReadTries {
    /** The last of them is given up only where nothing is known of the worker any more, and is the last all the same. */
    private static final int MAX_GIVEN_UP = 3;

    private final Clock clock;
    private final long limitNanos;
    private final long firstPauseNanos;
    private final long longestPauseNanos;
    private long sinceNanos;
    private long pauseNanos;
    private int failures;
    private int givenUp;

    ReadTries(AlluxioConfiguration configuration, Clock clock) {
        this.clock = clock;
        this.limitNanos = nanos(configuration, PropertyKey.USER_BLOCK_READ_RETRY_MAX_DURATION);
        this.firstPauseNanos = nanos(configuration, PropertyKey.USER_BLOCK_READ_RETRY_SLEEP_MIN);
        this.longestPauseNanos = nanos(configuration, PropertyKey.USER_BLOCK_READ_RETRY_SLEEP_MAX);
    }

    private static long nanos(AlluxioConfiguration configuration, PropertyKey duration) {
        return configuration.getDuration(duration).toNanos();
    }

    /** A read begins, or something came. */
    void begin() {
        sinceNanos = clock.nanos();
        pauseNanos = firstPauseNanos;
        failures = 0;
        givenUp = 0;
    }

    /** May the next call be given up where there is another way? */
    boolean mayBeGivenUp() {
        return givenUp < MAX_GIVEN_UP - 1;
    }

    /**
     * Returns when it is to be tried again.
     *
     * @param wasGivenUp did it fail since a worker does not answer any more?
     * @throws IOException the failure: it is the last
     */
    void failed(IOException failure, boolean wasGivenUp) throws IOException {
        failures++;
        givenUp += wasGivenUp ? 1 : 0;
        boolean again = wasGivenUp ? givenUp < MAX_GIVEN_UP : clock.nanos() - sinceNanos <= limitNanos;
        if (!again
                || failure instanceof BlockReadCall.TooShort
                || Thread.currentThread().isInterrupted()) {
            throw failure;
        }
        if (failures > 1 && !wasGivenUp) {
            clock.pause(pauseNanos);
            pauseNanos = Math.min(2 * pauseNanos, longestPauseNanos);
        }
    }
}

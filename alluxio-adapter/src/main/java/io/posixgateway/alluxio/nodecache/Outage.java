package io.posixgateway.alluxio.nodecache;

import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What became of the cache's disk. After a failure nothing is written for a while, then one write tries again; that outage, which lasts
 * until one succeeds, is a line of the log, whatever fails in it. While calls are overdue the cache is suspended: it is neither read nor
 * written. Any thread; never waits.
 */
final class Outage {
    private static final Logger LOG = LoggerFactory.getLogger(Outage.class);
    private static final long RETRY_NANOS = 30_000_000_000L;

    private final String folder;
    private final Clock clock;
    private final LongAdder faults = new LongAdder();
    private boolean failing;
    private long failedNanos;
    /** Calls that were not answered in time, nor since. Changed under the monitor. */
    private volatile int overdue;

    Outage(String folder, Clock clock) {
        this.folder = folder;
        this.clock = clock;
    }

    /** False for a while after a failure. */
    synchronized boolean mayWrite() {
        return overdue == 0 && (!failing || clock.nanos() - failedNanos >= RETRY_NANOS);
    }

    boolean isSuspended() {
        return overdue > 0;
    }

    /** One more call is overdue. */
    synchronized void suspended() {
        faults.increment();
        overdue++;
        if (overdue == 1) {
            LOG.warn(
                    "The data cache in {} is suspended: its disk does not answer. Reads continue from Alluxio until it"
                            + " does. Look at its disk, or mount without cache_dir",
                    folder);
        }
    }

    /** One of them was answered. */
    synchronized void resumed() {
        overdue--;
        if (overdue == 0) {
            LOG.info("The data cache in {} is used again: its disk answers", folder);
        }
    }

    synchronized void failed(Throwable why) {
        faults.increment();
        failedNanos = clock.nanos();
        if (!failing) {
            failing = true;
            LOG.warn(
                    "The data cache in {} fails: {}. Reads continue from Alluxio; writing to it is retried every"
                            + " {} seconds. Look at its disk (full, read-only, removed?), or mount without cache_dir",
                    folder,
                    why.toString(),
                    RETRY_NANOS / 1_000_000_000L);
        }
    }

    synchronized void succeeded() {
        failing = false;
    }

    /** Failures of the disk. */
    long faults() {
        return faults.sum();
    }
}

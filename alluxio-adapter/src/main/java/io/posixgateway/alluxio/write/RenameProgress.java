package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far the rename of a directory is, for the log; and whether anybody waits for the end. For the thread that renames, but for
 * {@link #moved} and {@link #removed}.
 */
final class RenameProgress {
    private static final Logger LOG = LoggerFactory.getLogger(RenameProgress.class);
    private static final long REPORT_NANOS = 10_000_000_000L;
    private static final long CHECK_NANOS = 1_000_000_000L;

    private final Clock clock;
    private final String what;
    private final AtomicLong files = new AtomicLong();
    private final AtomicBoolean removed = new AtomicBoolean();
    /** Is there anything under the new name? */
    boolean begun;

    private long nextReportNanos;
    private long nextCheckNanos;
    private @Nullable String reported;

    RenameProgress(Clock clock, String from, String to) {
        this.clock = clock;
        this.nextReportNanos = clock.nanos() + REPORT_NANOS;
        this.nextCheckNanos = clock.nanos() + CHECK_NANOS;
        this.what = "Renaming " + from + " to " + to + " file by file: ";
    }

    void moved() {
        files.incrementAndGet();
    }

    /** A file was not moved, as it is gone from the store. The log has the first. */
    void removed(String path) {
        if (!removed.getAndSet(true)) {
            LOG.warn(
                    "{}{} is not in the under file system any more, so it is not moved; others may follow", what, path);
        }
    }

    /** On the thread that waits. */
    void check() throws StoreException {
        long now = clock.nanos();
        if (now >= nextReportNanos) {
            nextReportNanos = now + REPORT_NANOS;
            report(files + " files so far");
        }
        if (now >= nextCheckNanos) {
            nextCheckNanos = now + CHECK_NANOS;
            if (RemoteCalls.ofThread().callerKilled()) {
                throw new StoreException(Errno.EINTR, "the waiting program was killed", null);
            }
        }
    }

    private void report(String text) {
        reported = text;
        LOG.info("{}{}", what, text);
    }

    /** Short ones that succeed are not worth a line. */
    void end(String how) {
        if (reported != null || !how.equals("done")) {
            report(files + " files moved, " + how);
        }
    }
}

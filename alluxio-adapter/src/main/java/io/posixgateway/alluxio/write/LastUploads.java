package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.recovery.Phase;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uploads what is still changed when a mount ends, one file after the other, and logs how far that is, what is kept on this host's disk
 * at last, and how to get that to Alluxio. For one thread; has one of its own meanwhile.
 */
final class LastUploads {
    private static final Logger LOG = LoggerFactory.getLogger(LastUploads.class);
    private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Clock clock;
    private final SpoolFolder folder;
    private final long beganNanos;
    // Guarded by this.
    private int done;
    private @Nullable Draft current;

    /** Uploads and ends one. */
    interface Upload {
        void run(Draft draft) throws StoreException;
    }

    LastUploads(Clock clock, SpoolFolder folder) {
        this.clock = clock;
        this.folder = folder;
        this.beganNanos = clock.nanos();
    }

    void run(List<Draft> drafts, Upload upload) {
        if (drafts.isEmpty()) {
            return;
        }
        PeriodicThread reports = new PeriodicThread(
                clock, "last-uploads", REPORT_NANOS, () -> true, () -> logProgress(drafts.size()), () -> {});
        reports.start();
        List<String> kept = new ArrayList<>();
        try {
            for (Draft draft : drafts) {
                begin(draft);
                try {
                    upload.run(draft);
                    uploaded();
                } catch (StoreException
                        | RuntimeException
                        | Error e) { // one that fails, in whatever way, stops no other
                    kept.add(kept(draft, e));
                }
            }
        } finally {
            reports.close();
            begin(null);
            kept.forEach(line -> LOG.error("{}", line));
        }
    }

    /** Counts it, too, for the exit code of the command that serves the mount. Returns what to log of it. */
    private String kept(Draft draft, Throwable failure) {
        Path content = draft.spool.file();
        boolean stays = !draft.is(Phase.LOST) && Files.exists(content);
        folder.failedAtEnd(draft.path(), stays ? content : null);
        String why = draft.path() + " could not be uploaded at the end: "
                + (failure instanceof StoreException ? failure.getMessage() : failure);
        return stays
                ? why + ". Its content stays in " + content + " ("
                        + content.toFile().length()
                        + " bytes): once Alluxio answers, mount it again, copy that file to its path, and delete it"
                : why;
    }

    private synchronized void begin(@Nullable Draft draft) {
        current = draft;
    }

    private synchronized void uploaded() {
        done++;
    }

    private synchronized void logProgress(int all) {
        Draft uploading = current;
        if (uploading != null) {
            LOG.info(
                    "The mount ends: {} of {} changed files are uploaded after {} s, {} ({} bytes) is in flight",
                    done,
                    all,
                    TimeUnit.NANOSECONDS.toSeconds(clock.nanos() - beganNanos),
                    uploading.path(),
                    uploading.shownBytes());
        }
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.store.StoreException;
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
    private @Nullable DirtyFile current;

    /** Uploads and ends one. */
    interface Upload {
        void run(DirtyFile dirtyFile) throws StoreException;
    }

    LastUploads(Clock clock, SpoolFolder folder) {
        this.clock = clock;
        this.folder = folder;
        this.beganNanos = clock.nanos();
    }

    void run(List<DirtyFile> dirtyFiles, Upload upload) {
        if (dirtyFiles.isEmpty()) {
            return;
        }
        PeriodicThread reports = new PeriodicThread(
                clock, "last-uploads", REPORT_NANOS, () -> true, () -> logProgress(dirtyFiles.size()), () -> {});
        reports.start();
        List<String> kept = new ArrayList<>();
        try {
            for (DirtyFile dirtyFile : dirtyFiles) {
                begin(dirtyFile);
                try {
                    upload.run(dirtyFile);
                    uploaded();
                } catch (StoreException
                        | RuntimeException
                        | Error e) { // one that fails, in whatever way, stops no other
                    kept.add(kept(dirtyFile, e));
                }
            }
        } finally {
            reports.close();
            begin(null);
            kept.forEach(line -> LOG.error("{}", line));
        }
    }

    /** Counts it, too, for the exit code of the command that serves the mount. Returns what to log of it. */
    private String kept(DirtyFile dirtyFile, Throwable failure) {
        Path content = dirtyFile.spool.file();
        boolean stays = !dirtyFile.is(Phase.LOST) && Files.exists(content);
        folder.failedAtEnd(dirtyFile.path(), stays ? content : null);
        String why = dirtyFile.path() + " could not be uploaded at the end: "
                + (failure instanceof StoreException ? failure.getMessage() : failure);
        return stays
                ? why + ". Its content stays in " + content + " ("
                        + content.toFile().length()
                        + " bytes): once Alluxio answers, mount it again, copy that file to its path, and delete it"
                : why;
    }

    private synchronized void begin(@Nullable DirtyFile dirtyFile) {
        current = dirtyFile;
    }

    private synchronized void uploaded() {
        done++;
    }

    private synchronized void logProgress(int all) {
        DirtyFile uploading = current;
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

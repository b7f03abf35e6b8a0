package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.KnownAlluxio;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.fuse.time.Supervised;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of a volume, part by part, in the order in which they need each other. On the thread that closes the volume. */
final class Shutdown {
    private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);
    /** So long the client's goodbyes are waited for, which a server that hangs never answers. */
    private static final long GOODBYE_MILLIS = TimeUnit.SECONDS.toMillis(5);

    private final VolumeContext volume;
    private final @Nullable VolumeStateDir kept;

    /** @param kept where what outlives the process is stored; null: nothing does */
    Shutdown(VolumeContext volume, @Nullable VolumeStateDir kept) {
        this.volume = volume;
        this.kept = kept;
    }

    /**
     * The mount is no more: changed files are committed, hidden ones are removed.
     *
     * @param alone false: a thread still works on what an earlier process left, and might never return, so that is not waited for
     */
    void end(KnownAlluxio alluxio, boolean alone) {
        step("copies of deleted files", volume.orphans::close);
        step("changed files", volume.dirtyFiles::close);
        step("times of directories", volume.metadata.times()::close);
        if (alone) {
            step("hidden files", () -> volume.sillyRenameCleanup.removeAll(alluxio));
        } else {
            LOG.warn(
                    "Deleted files stay hidden in Alluxio until the next mount, because a call about them does not end");
        }
        step("the journal", volume.journal::close);
        closeCaches();
        try {
            closeClient().join(GOODBYE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (kept != null) {
            step("the volume's folder", kept::discard);
        }
    }

    /** The next process waits for the folder, so that goes first; nobody waits for the client's goodbyes. */
    void leave() {
        step("copies of deleted files", volume.orphans::leave);
        step("changed files", volume.dirtyFiles::leave);
        step("times of directories", volume.metadata.times()::leave);
        step("the journal", volume.journal::close);
        if (kept != null) {
            step("the volume's folder", kept::close);
        }
        closeCaches();
        closeClient();
    }

    private void closeCaches() {
        step("directories that are listed", volume.hot::close);
        step("listings", volume.ahead::close);
        step("kernel notifications", volume.invalidator::close);
        step("files that are read", volume.readers::close);
        step("the table of files", volume.table::close);
    }

    /** One that fails, in whatever way, stops no other: the folder of a volume that is not let go of keeps out the next mount. */
    private static void step(String what, Runnable end) {
        Supervised.run("Ending " + what, end);
    }

    private Thread closeClient() {
        Thread thread = new Thread(volume.store::close, "client-closing");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}

package io.posixgateway.alluxio;

import io.posixgateway.alluxio.recovery.KnownAlluxio;
import io.posixgateway.alluxio.recovery.VolumeFolder;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The end of a volume, part by part, in the order in which they need each other. On the thread that closes the volume. */
final class Shutdown {
    /** So long the client's goodbyes are waited for, which a server that hangs never answers. */
    private static final long GOODBYE_MILLIS = TimeUnit.SECONDS.toMillis(5);

    private final Volume volume;
    private final @Nullable VolumeFolder kept;

    /** @param kept where what outlives the process is stored; null: nothing does */
    Shutdown(Volume volume, @Nullable VolumeFolder kept) {
        this.volume = volume;
        this.kept = kept;
    }

    /** The mount is no more: changed files are published, hidden ones are removed. */
    void end(KnownAlluxio alluxio) {
        volume.orphans.close();
        volume.drafts.close();
        volume.metadata.times().close();
        volume.hiddenCleanup.removeAll(alluxio);
        volume.journal.close();
        closeCaches();
        try {
            closeClient().join(GOODBYE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (kept != null) {
            kept.discard();
        }
    }

    /** The next process waits for the folder, so that goes first; nobody waits for the client's goodbyes. */
    void leave() {
        volume.orphans.leave();
        volume.drafts.leave();
        volume.metadata.times().leave();
        volume.journal.close();
        if (kept != null) {
            kept.close();
        }
        closeCaches();
        closeClient();
    }

    private void closeCaches() {
        volume.hot.close();
        volume.ahead.close();
        volume.notices.close();
        volume.readers.close();
        volume.table.close();
    }

    private Thread closeClient() {
        Thread thread = new Thread(volume.store::close, "client-closing");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}

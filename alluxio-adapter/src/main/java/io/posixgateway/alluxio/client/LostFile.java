package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import alluxio.master.file.meta.PersistenceState;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;

/**
 * A file that Alluxio has marked LOST: it was in workers only, and a worker that had a part of it is gone. Alluxio keeps the mark when
 * that worker comes back, so the mark alone does not refuse a read: what workers still have is read, since blocks never change.
 */
final class LostFile {
    private LostFile() {}

    /** True if Alluxio marked it before it returned this status. */
    static boolean isMarked(URIStatus status) {
        return PersistenceState.LOST.name().equals(status.getPersistenceState());
    }

    /** EIO, for a part of it that no worker returns. */
    static StoreException failure(String path, @Nullable Throwable cause) {
        String why = cause == null ? "" : " (" + cause + ")";
        return new StoreException(
                Errno.EIO,
                "Alluxio calls " + path + " LOST: it was stored in workers only, and no worker has this part of"
                        + " it" + why
                        + ". Restart the worker that had it, or delete the file and write it again. With"
                        + " write_type=CACHE_THROUGH, files survive the loss of workers",
                cause);
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * What a sync acknowledged of a file that changes on, and a worker that stopped may still undo: a spool file and a record of their own,
 * as those of a closed file that is {@link io.posixgateway.alluxio.journal.Phase#UNSTABLE}. Guarded by the dirty file that owns it, until
 * that is committed anew, or gives it to {@link RecommitQueue}.
 */
record SyncedCopy(Spool spool, DirtyFileRecord record) {
    /**
     * Copies the content; it is on the disk then, and so is its record, which counts only after it. Waits.
     *
     * @throws StoreException ENOSPC: there is no room for it, and nothing is left of it
     */
    static SyncedCopy of(DirtyFile dirtyFile, SpoolFolder folder) throws StoreException {
        Spool spool = folder.make();
        DirtyFileRecord record = null;
        try {
            spool.copyFrom(dirtyFile.spool);
            spool.force();
            record = folder.record(spool, dirtyFile.record.content());
            Origin origin = dirtyFile.record.origin();
            if (origin != null) {
                record.began(origin);
            }
            record.synced();
            record.force();
            return new SyncedCopy(spool, record);
        } catch (StoreException | RuntimeException e) {
            DirtyFile.remove(spool, record, false);
            throw e;
        }
    }

    /** Something newer is acknowledged, or nobody misses it. */
    static void remove(@Nullable SyncedCopy copy) {
        if (copy != null) {
            DirtyFile.remove(copy.spool, copy.record, false);
        }
    }
}

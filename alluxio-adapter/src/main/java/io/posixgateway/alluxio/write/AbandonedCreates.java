package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.Clock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of this mount that are not complete in Alluxio, at paths where other clients may put theirs at any moment: what
 * Alluxio is told by path is meant for a file only while that file is there. Any thread; waits.
 */
final class AbandonedCreates {
    private static final Logger LOG = LoggerFactory.getLogger(AbandonedCreates.class);

    /** A worker says nothing when it has cancelled. */
    private static final long CANCELLED_NANOS = 1_000_000_000L;

    private static final int SAME_SECONDS = 2;

    private final Store store;
    private final Clock clock;

    AbandonedCreates(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /** Is the file still there, and not complete? */
    boolean isAt(String path, long fileId) throws StoreException {
        return find(path, fileId) != null;
    }

    /** The file if it is still there, and not complete. */
    @Nullable
    FileStatus find(String path, long fileId) throws StoreException {
        FileStatus there = at(path);
        return there != null && there.id() == fileId && !there.complete() ? there : null;
    }

    /**
     * Removes the file, which would be in everyone's way, if it is still there; a complete one stays.
     *
     * @param written may an upload have put it into the under file system? If not, what is there is of other clients, and stays
     * @return is another file there?
     * @throws StoreException it may be there still
     */
    static boolean remove(Store store, String path, long fileId, boolean written) throws StoreException {
        return remove(store, path, fileId, 0, written);
    }

    /**
     * The same, wherever it is by now.
     *
     * @param createdSeconds when it was made; 0: not known
     */
    static void remove(Store store, long fileId, long createdSeconds, boolean written) throws StoreException {
        String path = Existing.orNull(() -> store.pathOf(fileId));
        if (path != null) {
            remove(store, path, fileId, createdSeconds, written);
        }
    }

    private static boolean remove(Store store, String path, long fileId, long createdSeconds, boolean written)
            throws StoreException {
        FileStatus there = Existing.orNull(() -> store.status(path));
        if (there == null) {
            return false;
        }
        boolean same = there.id() == fileId && isSame(createdSeconds, there.createdSeconds());
        if (same && !there.complete()) {
            delete(store, path, written);
        }
        return !same;
    }

    private static void delete(Store store, String path, boolean written) throws StoreException {
        if (written) {
            store.delete(path);
        } else {
            store.forget(path);
        }
    }

    /** Alluxio's time of making a file is told in two ways, a moment apart. */
    static boolean isSame(long createdSeconds, long seconds) {
        return createdSeconds == 0 || seconds == 0 || Math.abs(createdSeconds - seconds) <= SAME_SECONDS;
    }

    /**
     * Cancels what was being written to a path. A worker then removes what the under file system has there, which may be the
     * file of another client by now: that one steps aside meanwhile, under a hidden name.
     */
    void beside(String path, long fileId, FileReplacer replacer, Runnable cancel) {
        Renaming aside = null;
        try {
            FileStatus there = at(path);
            if (there != null && there.id() != fileId && there.complete()) {
                aside = replacer.putAside(path, there.id());
            }
        } catch (StoreException e) {
            LOG.warn("Cannot determine whether {} belongs to another client: {}", path, e.getMessage());
        }
        cancel.run();
        if (aside != null) {
            putBack(aside, replacer);
        }
    }

    private void putBack(Renaming aside, FileReplacer replacer) {
        boolean interrupted = !Pauses.slept(clock, CANCELLED_NANOS) && Thread.interrupted();
        try {
            replacer.putBack(aside);
        } catch (StoreException e) {
            LOG.error(
                    "Another client's {} is now {}, because renaming it back failed: {}. Rename it with 'alluxio fs"
                            + " mv'",
                    aside.to(),
                    aside.from(),
                    e.getMessage());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private @Nullable FileStatus at(String path) throws StoreException {
        return Existing.orNull(() -> store.status(path));
    }
}

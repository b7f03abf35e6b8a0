package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what a worker that had stopped wrote at a name from which the file was renamed, or removed, meanwhile: Alluxio finds it in the
 * under file system, and the name is back. One thread; waits.
 *
 * <p>Nothing else is removed, and nothing at a name that the file still has here: there a late write may make Alluxio load it anew,
 * without its attributes, and it looks like one that is back, but is the only one. It is one that Alluxio loaded, which no client
 * made, with every byte of what was sent, of which there is one at least. One that a client made is known by its extended attributes, or
 * as its last change is not older than it is. A file that Alluxio loaded within the second in which it was written is taken for a
 * client's, and stays; so do very long ones, and what a worker writes after this process has ended. It is put aside before it is removed,
 * and goes back if it is another one by then.
 */
final class RevivedNames {
    private static final Logger LOG = LoggerFactory.getLogger(RevivedNames.class);

    private final Store store;
    private final Metadata metadata;
    private final FileReplacer replacer;

    RevivedNames(Store store, Metadata metadata, FileReplacer replacer) {
        this.store = store;
        this.metadata = metadata;
        this.replacer = replacer;
    }

    /**
     * Looks at a path to which a worker was sent content, when it is done with that.
     *
     * @return false: Alluxio does not answer, look again later
     */
    boolean isSettled(StaleWorkerWrites.Sent sent) {
        try {
            FileStatus there = isElsewhere(sent) ? at(sent.path()) : null;
            if (there != null && isRevived(there, sent) && isElsewhere(sent)) {
                remove(there, sent);
            }
            return true;
        } catch (StoreException e) {
            LOG.debug("Cannot determine whether {} has reappeared: {}", sent.path(), e.getMessage());
            return !e.isOutcomeUnknown();
        }
    }

    /** Has this mount renamed, or removed, what was sent there? */
    private boolean isElsewhere(StaleWorkerWrites.Sent sent) throws StoreException {
        return sent.inode().unlinked() || !metadata.pathOf(sent.inode()).equals(sent.path());
    }

    /** Compared with the under file system only where that can show nothing but a name that is new to Alluxio. */
    private @Nullable FileStatus at(String path) throws StoreException {
        FileStatus known = Existing.orNull(() -> store.status(path));
        return known != null ? known : Existing.orNull(() -> store.compared(path));
    }

    private boolean isRevived(FileStatus there, StaleWorkerWrites.Sent sent) throws StoreException {
        if (!isLoaded(there) || there.lengthBytes() == 0 || there.lengthBytes() != sent.lengthBytes()) {
            return false;
        }
        try (StoreReader source = store.open(sent.path(), there.id())) {
            return ContentDigest.of(source::read, there.lengthBytes()).equals(sent.digest());
        }
    }

    /** Did no client make the file, but Alluxio find it in the under file system? */
    static boolean isLoaded(FileStatus file) {
        return !file.directory()
                && file.complete()
                && file.xattrs().isEmpty()
                && TimeUnit.SECONDS.toMillis(file.createdSeconds()) > file.modifiedMillis();
    }

    /**
     * Is it surely no late write of a worker? A gateway gives a file that it writes a time of its own; who changes the attributes of one
     * that Alluxio loaded notes Alluxio's with it. A file of another client of Alluxio cannot be told from a loaded one.
     */
    static boolean isOfGateway(FileStatus there) {
        PosixXattr extras = PosixXattr.decode(there.xattrs().get(PosixXattr.XATTR));
        boolean isWritten = extras.has(PosixXattr.MODIFIED) && extras.modifiedThenMillis == 0;
        return there.directory() || !there.complete() || isWritten;
    }

    private void remove(FileStatus there, StaleWorkerWrites.Sent sent) throws StoreException {
        if (store.status(sent.path()).id() != there.id()) {
            return; // the comparison took a while
        }
        Renaming aside = replacer.putAside(sent.path(), there.id());
        if (store.status(aside.from()).id() == there.id()) {
            replacer.removeAside(aside);
            LOG.warn(
                    "{} reappeared, because a worker that had stopped responding wrote it late; it is removed"
                            + " again",
                    sent.path());
        } else {
            replacer.putBack(aside);
        }
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import alluxio.grpc.RenamePOptions;
import alluxio.grpc.S3SyntaxOptions;
import alluxio.grpc.WritePType;
import io.posixgateway.alluxio.client.MasterClient.Repeat;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.UfsKind;
import io.posixgateway.fuse.spi.Errno;
import java.util.List;

/**
 * Renames in Alluxio, in the way that the under file system (UFS) of the path needs. Any thread; waits.
 *
 * <p>To replace a file, Alluxio's master first deletes it, from Alluxio alone unless it is asked to persist, and then renames in the UFS.
 * Asked so, it persists what it renames, too: not what is to be in workers alone, and replaces nothing of the UFS.
 * Object stores and HDFS refuse to rename to what exists: there the file is to be deleted in the UFS, too. The master does all of it under
 * the locks of both paths, so Alluxio shows the old file or the new one; the UFS itself shows neither for the time of a copy. On a local
 * folder that gap need not be, as rename(2) replaces; but where what is written goes to workers first, nothing is renamed in the UFS, and
 * the old file has to be deleted there, or the next comparison brings it back.
 *
 * <p>Where it deletes, it is asked once: a master that was killed after the last step in the UFS, before its journal said so, would
 * delete what it had put there if it was asked again.
 *
 * <p>And it deletes whatever is at the target, a directory with all that is in it, and does not take that back when the UFS then refuses:
 * attributes, links and what only workers have would be gone. So what is there is looked at just before.
 */
final class Renames {
    private static final S3SyntaxOptions OVERWRITING =
            S3SyntaxOptions.newBuilder().setOverwrite(true).build();

    private final FileSystemMaster files;
    private final MountPoints mountPoints;
    private final LoadMetadataRaceGuard listings;
    private final OpenReaders open;
    private final WritePType writeType;

    Renames(
            FileSystemMaster files,
            MountPoints mountPoints,
            LoadMetadataRaceGuard listings,
            OpenReaders open,
            WritePType writeType) {
        this.writeType = writeType;
        this.files = files;
        this.mountPoints = mountPoints;
        this.listings = listings;
        this.open = open;
    }

    /** Is what is written in the UFS once it is complete? */
    boolean persistsAtOnce() {
        return writeType == WritePType.CACHE_THROUGH || writeType == WritePType.THROUGH;
    }

    /** As {@link Store#deletesToReplace}. */
    boolean deletesToReplace(String path) throws StoreException {
        return !persistsAtOnce() || mountPoints.of(path).kind() != UfsKind.LOCAL;
    }

    /** As {@link Store#rename}. */
    void rename(String from, String to, boolean overFile) throws StoreException {
        open.moved(from);
        try {
            listings.take(List.of(from, to), () -> overFile ? replaced(from, to) : renamed(from, to));
        } finally {
            open.moved(from);
        }
    }

    private String renamed(String from, String to) throws StoreException {
        files.rename(from, to, RenamePOptions.getDefaultInstance(), Repeat.UNANSWERED_CHANGE);
        return to;
    }

    private String replaced(String from, String to) throws StoreException {
        boolean persisted = isReplaceablePersisted(to);
        RenamePOptions.Builder options = RenamePOptions.newBuilder().setS3SyntaxOptions(OVERWRITING);
        if (deletesToReplace(to)) {
            options.setPersist(writeType != WritePType.MUST_CACHE || persisted);
            deletedAndRenamed(from, to, options.build());
        } else {
            files.rename(from, to, options.build(), Repeat.UNANSWERED_CHANGE);
        }
        return to;
    }

    private void deletedAndRenamed(String from, String to, RenamePOptions options) throws StoreException {
        try {
            files.rename(from, to, options, Repeat.REFUSED);
        } catch (StoreException e) {
            if (e.errno() != Errno.EIO || !ErrnoTable.isUnanswered(e)) {
                throw e;
            }
            throw StoreException.unanswered(String.valueOf(e.getMessage()), e);
        }
    }

    /** Has the UFS what is there? EISDIR for a directory. */
    private boolean isReplaceablePersisted(String target) throws StoreException {
        try {
            URIStatus there = files.status(target);
            if (there.isFolder()) {
                throw new StoreException(
                        Errno.EISDIR,
                        target + " is a directory that another client created; move it away, or write to another path",
                        null);
            }
            return there.isPersisted();
        } catch (StoreException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
            return false;
        }
    }
}

package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.DirtyFiles;
import io.posixgateway.fuse.spi.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes directories that may hold files which nobody sees. Called while nobody goes by a path below; waits. */
final class DirectoryRemoval {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryRemoval.class);

    private final VolumeContext volume;

    DirectoryRemoval(VolumeContext volume) {
        this.volume = volume;
    }

    /** Deletes a directory that shows no names; open deleted files in it move up. */
    void remove(Inode parent, Inode child, String path) throws StoreException {
        directory(path);
        delete(parent, path);
        gone(child);
    }

    /**
     * Deletes it as well, for the directory that this step brings to its place. Where Alluxio refuses that, the deleted one is made again.
     *
     * @param from where the other one comes from
     */
    void replace(Inode parent, Inode child, String path, String from, DirtyFiles.Step step) throws StoreException {
        if (volume.store.crossesMounts(from, path)) {
            throw new StoreException(Errno.EXDEV, from + " and " + path + " are in different under file systems", null);
        }
        FileStatus before = directory(path);
        delete(parent, path);
        try {
            step.run();
        } catch (StoreException e) {
            if (e.isOutcomeUnknown() || !isMadeAgain(child, path, before)) {
                gone(child);
            }
            throw e;
        }
        gone(child);
    }

    /** Alluxio deletes whatever is there: what another client has put there since is not to go. */
    private FileStatus directory(String path) throws StoreException {
        FileStatus there = volume.store.status(path);
        if (!there.directory()) {
            throw new StoreException(
                    Errno.ENOTDIR,
                    path + " is a file now, which another client put in the place of the directory",
                    null);
        }
        return there;
    }

    /** It stays the node that it was. */
    private boolean isMadeAgain(Inode child, String path, FileStatus before) {
        try {
            volume.store.makeDirectory(path, before.mode(), before.xattrs());
            long nowNanos = volume.cachePolicy.nowNanos();
            boolean adopted =
                    volume.table.adopt(child, volume.store.status(path).id(), nowNanos);
            child.invalidateAttr(volume.table.generation().changed());
            return adopted;
        } catch (StoreException e) {
            LOG.warn(
                    "The empty directory {} was to be replaced by another one, and is deleted: {}",
                    path,
                    e.getMessage());
            return false;
        }
    }

    private void gone(Inode child) {
        child.markUnlinked();
        volume.metadata.times().gone(child);
    }

    private void delete(Inode parent, String path) throws StoreException {
        try {
            volume.store.delete(path);
        } catch (StoreException e) {
            if (e.errno() != Errno.ENOTEMPTY || !new SillyRenameCleanup(volume).movedUp(parent, path)) {
                throw e;
            }
            volume.store.delete(path);
        }
    }
}

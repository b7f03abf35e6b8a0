package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;

/** Deletes directories that may hold files which nobody sees. Called while nobody goes by a path below; waits. */
final class DirectoryRemoval {
    private final VolumeContext volume;

    DirectoryRemoval(VolumeContext volume) {
        this.volume = volume;
    }

    /** Deletes a directory that shows no names; open deleted files in it move up. */
    void remove(Inode parent, Inode child, String path) throws StoreException {
        try {
            volume.store.delete(path);
        } catch (StoreException e) {
            if (e.errno() != Errno.ENOTEMPTY || !new SillyRenameCleanup(volume).movedUp(parent, path)) {
                throw e;
            }
            volume.store.delete(path);
        }
        child.markUnlinked();
        volume.metadata.times().gone(child);
    }
}

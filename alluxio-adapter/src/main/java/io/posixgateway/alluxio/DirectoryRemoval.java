package io.posixgateway.alluxio;

import io.posixgateway.alluxio.cache.HiddenNames;
import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;

/** Deletes directories that may hold files which nobody sees. Called while nobody goes by a path below; waits. */
final class DirectoryRemoval {
    private static final int MOST_HIDDEN = 1000;

    private final Volume volume;

    DirectoryRemoval(Volume volume) {
        this.volume = volume;
    }

    /** Deletes a directory that shows no names; open deleted files in it move up. */
    void remove(Inode parent, Inode child, String path) throws StoreException {
        try {
            volume.store.delete(path);
        } catch (StoreException e) {
            if (e.errno() != Errno.ENOTEMPTY || !moveHiddenUp(parent, path)) {
                throw e;
            }
            volume.store.delete(path);
        }
        child.markUnlinked();
        volume.metadata.times().gone(child);
    }

    private boolean moveHiddenUp(Inode parent, String path) throws StoreException {
        Store.Page page = volume.store.list(path, "", MOST_HIDDEN);
        for (FileStatus status : page.entries()) {
            if (!HiddenNames.is(status.name())) {
                return false;
            }
        }
        for (FileStatus status : page.entries()) {
            Name hidden = Name.of(status.name());
            volume.store.rename(path + "/" + status.name(), volume.metadata.pathOf(parent, hidden), false);
            volume.metadata.place(parent, hidden, status);
        }
        return !page.more();
    }
}

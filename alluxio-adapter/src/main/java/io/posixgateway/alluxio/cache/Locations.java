package io.posixgateway.alluxio.cache;

import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.NameCodec;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.InodeTable;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import org.jspecify.annotations.Nullable;

/** Finds files by their ids in Alluxio. Any thread; waits. */
public final class Locations {
    private final Metadata metadata;
    private final Store store;
    private final InodeTable table;

    Locations(Metadata metadata, Store store, InodeTable table) {
        this.metadata = metadata;
        this.store = store;
        this.table = table;
    }

    /** Is it a node of another Alluxio than the one that answers, whose id may be another file's? Never waits. */
    public boolean isForeign(long node) {
        return table.ids().isForeign(node);
    }

    /** Where Alluxio has the file now; null: nowhere. */
    @Nullable
    String of(Inode inode) throws StoreException {
        try {
            return store.pathOf(inode.fileId());
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }

    /**
     * The file is at this path: puts it into the tree there, so that it moves with the directories above it. Waits.
     *
     * @param path where Alluxio says the file of the inode's id is
     */
    public void settle(Inode inode, String path) throws StoreException {
        String root = table.path(table.root());
        String prefix = root == null || root.equals("/") ? "/" : root + "/";
        Inode at = path.startsWith(prefix) ? table.root() : null;
        String[] parts =
                path.startsWith(prefix) ? path.substring(prefix.length()).split("/", -1) : new String[0];
        for (int i = 0; i < parts.length && at != null && at.isDirectory(); i++) {
            Name name = names(at).shown(parts[i]);
            at = i + 1 < parts.length ? metadata.child(at, name) : metadata.look(at, name);
        }
        if (at != inode) {
            table.loose(inode, path);
        }
    }

    /** Between the names in a directory and those in its path. Waits where it is not known yet in what it is stored. */
    NameCodec names(Inode directory) throws StoreException {
        if (!directory.isStoreKnown()) {
            metadata.refresh(directory);
        }
        return table.names(directory);
    }

    /** Finds out in what a directory is stored, where a name's path depends on it. Waits if so. */
    public void findStore(Inode directory, Name name) throws StoreException {
        if (NameCodec.dependsOnStore(name)) {
            names(directory);
        }
    }

    /** A name in a directory, as Alluxio has it in paths. */
    String stored(Inode directory, Name name) {
        return table.names(directory).stored(name);
    }

    /** Where the entry of a node that is no longer known is in its directory, if it still is there; null: it is not. */
    public @Nullable String nameIn(Inode directory, long node) throws StoreException {
        try {
            String path = store.pathOf(InodeTable.fileIdOf(node));
            String parent = metadata.pathOf(directory);
            String prefix = parent.equals("/") ? "/" : parent + "/";
            boolean inside = path.startsWith(prefix) && path.indexOf('/', prefix.length()) < 0;
            return inside ? path.substring(prefix.length()) : null;
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }

    /** This node, if it is known and has the file of this id; else the one that the file has now. Null: there is none. */
    public @Nullable Inode ofFile(long node, long fileId) throws StoreException {
        Inode known = table.get(node);
        return known != null && known.fileId() == fileId ? known : recover(InodeTable.nodeOf(fileId));
    }

    /** Null: each time that it was looked for, another file was where it had just been. */
    private @Nullable Inode recoverFile(long fileId) throws StoreException {
        for (int tries = 1; tries <= Metadata.MOST_TRIES; tries++) {
            long issued = table.generation().issued();
            String path = store.pathOf(fileId);
            FileStatus status = store.status(path);
            if (status.id() == fileId) {
                Inode inode = table.of(fileId, status.directory());
                settle(inode, path);
                metadata.see(inode, status, issued, metadata.nowNanos());
                return inode;
            }
        }
        return null;
    }

    /** The node of this id, found through Alluxio when the table does not know it; null when it is gone. */
    public @Nullable Inode recover(long node) throws StoreException {
        try {
            return recoverFile(InodeTable.fileIdOf(node));
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }
}

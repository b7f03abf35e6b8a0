package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.read.NodeFill;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.DirtyFiles;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import org.jspecify.annotations.Nullable;

/** Brings the content of files to this node, by their paths below the mount's root; see {@link NodeFill}. One thread; waits for Alluxio. */
public final class NodeWarmup implements AutoCloseable {
    private final VolumeContext volume;
    private final NodeFill fill;

    private NodeWarmup(VolumeContext volume, NodeFill fill) {
        this.volume = volume;
        this.fill = fill;
    }

    /** Null: the mount has no data cache. */
    static @Nullable NodeWarmup of(VolumeContext volume) {
        NodeFill fill = volume.readers.fill();
        return fill == null ? null : new NodeWarmup(volume, fill);
    }

    /** As {@link NodeFill#bring}. What was written here and is not uploaded yet is here. */
    public boolean bring(String path, NodeFill.Progress progress) throws StoreException {
        Inode inode = at(path);
        long written = volume.dirtyFiles.length(inode);
        if (written != DirtyFiles.NO_DIRTY_FILE) {
            return progress.piece(written, true);
        }
        Attr attr = volume.metadata.attr(inode);
        if (!attr.complete()) {
            throw new StoreException(Errno.EBUSY, path + ": another client is writing it", null);
        }
        if (volume.readers.wantsToLearn()) {
            volume.learnBlocks(inode);
        }
        return fill.bring(FileOperations.extent(attr), () -> volume.metadata.pathOf(inode), progress);
    }

    /** How much of a file is here. */
    public long bytesHere(String path) throws StoreException {
        Inode inode = at(path);
        long written = volume.dirtyFiles.length(inode);
        return written != DirtyFiles.NO_DIRTY_FILE
                ? written
                : fill.bytesHere(FileOperations.extent(volume.metadata.attr(inode)));
    }

    private Inode at(String path) throws StoreException {
        Inode found = volume.metadata
                .locations()
                .walk(path, (directory, part, last) -> {
                    Name name = volume.table.names(directory).shown(part);
                    Inode known = volume.table.child(directory, name);
                    boolean isHereOnly =
                            known != null && volume.dirtyFiles.has(known); // what Alluxio has there is older
                    return isHereOnly ? known : volume.metadata.child(directory, name);
                })
                .found();
        if (found == null) {
            throw new StoreException(Errno.ENOENT, path + " is gone", null);
        }
        return found;
    }

    /** What was brought may be evicted from here on. */
    @Override
    public void close() {
        fill.close();
    }
}

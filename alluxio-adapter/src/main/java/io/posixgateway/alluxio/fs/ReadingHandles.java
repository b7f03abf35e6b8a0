package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.read.FileReader;
import io.posixgateway.alluxio.read.Passthrough;
import io.posixgateway.fuse.spi.OpenReply;
import org.jspecify.annotations.Nullable;

/** Begins handles that read, each in the way of those who have its node open: through the gateway, or by the kernel itself. Any thread. */
final class ReadingHandles {
    private final VolumeContext volume;

    ReadingHandles(VolumeContext volume) {
        this.volume = volume;
    }

    /** Is the kernel to read the node by itself from here on, in a file of the data cache, which is to be opened? A hint. */
    boolean startsCached(Inode inode) {
        FileReader.Extent extent = volume.passthrough.passesCached() && inode.handles() == 0 ? passable(inode) : null;
        return extent != null && volume.passthrough.hasCached(extent);
    }

    /**
     * A handle that reads, in the way of those who have the node open; null: that way is not this one's.
     *
     * @param isCached see {@link #startsCached}: the disk is waited for
     */
    @Nullable
    FileHandle open(Inode inode, OpenReply reply, boolean isCached) {
        FileReader.Extent extent = isCached ? passable(inode) : null;
        try (Passthrough.Cached cached = extent == null ? null : volume.passthrough.openCached(extent)) {
            return open(inode, reply, cached);
        }
    }

    private @Nullable FileHandle open(Inode inode, OpenReply reply, Passthrough.@Nullable Cached cached) {
        FileHandle handle;
        synchronized (inode) {
            FileReader.Extent extent = passable(inode);
            Passthrough.Live live = volume.passthrough.of(inode.node());
            boolean other = live != null && (extent == null || !live.serves(extent));
            if (other || volume.passthrough.heldBefore(inode.node())) {
                return null;
            }
            if (live == null && extent != null && inode.handles() == 0) {
                live = volume.passthrough.start(inode.node(), extent, cached);
            }
            if (live != null) {
                reply.backingId = live.join();
                handle = FileHandle.passedThrough(inode, live);
            } else {
                handle = FileHandle.reading(inode);
            }
        }
        Attr attr = inode.attr();
        if (attr != null) {
            notePages(handle, attr, (reply.flags & OpenReply.KEEP_CACHE) != 0);
        }
        reply.flags |= OpenReply.NO_FLUSH;
        return handle;
    }

    private void notePages(FileHandle handle, Attr attr, boolean keeps) {
        if (keeps) {
            volume.readers.blocks().used(FileOperations.extent(attr));
        }
        if (!keeps || !volume.pages.isNoted(handle.inode, attr)) {
            handle.hasPagesOf(attr);
        }
    }

    /** The file as the kernel could read it by itself; null: it cannot. */
    private FileReader.@Nullable Extent passable(Inode inode) {
        Attr attr = inode.attr();
        if (attr == null || attr.fileId() != inode.fileId() || !inode.isRegular() || volume.dirtyFiles.has(inode)) {
            return null;
        }
        FileReader.Extent extent = FileOperations.extent(attr);
        boolean matches = volume.passthrough.matches(extent) || volume.passthrough.matchesCached(extent);
        return matches && !volume.mayBeOpenUnseen(inode) ? extent : null;
    }
}

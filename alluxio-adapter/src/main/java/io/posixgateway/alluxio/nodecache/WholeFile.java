package io.posixgateway.alluxio.nodecache;

import java.io.FileDescriptor;
import java.util.concurrent.atomic.AtomicBoolean;

/** A file of the cache that is all of one version of a file, open until it is closed; it is not evicted so long. Any thread. */
public final class WholeFile implements AutoCloseable {
    private final CacheVolume volume;
    private final Piece piece;
    private final FolderDisk.Opened file;
    private final AtomicBoolean open = new AtomicBoolean(true);

    WholeFile(CacheVolume volume, Piece piece, FolderDisk.Opened file) {
        this.volume = volume;
        this.piece = piece;
        this.file = file;
    }

    /** For reading; the file's own, to be used while it is open. */
    public FileDescriptor descriptor() {
        return file.descriptor();
    }

    /** It was found not to be what was written, or to be unreadable. */
    public boolean isDropped() {
        return piece.dropped;
    }

    /** Closes the descriptor, which is not needed any more; the file is still not evicted. */
    public void closeDescriptor() {
        NodeCache.closeQuietly(piece, file);
    }

    /** A second time is harmless. */
    @Override
    public void close() {
        if (open.getAndSet(false)) {
            volume.ended(this);
            volume.cache().close(piece, file);
        }
    }
}

package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.nodecache.CacheVolume;
import io.posixgateway.alluxio.nodecache.CachedFile;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads one complete file: from local block files where there are any, else from the data cache, else through a stream, whose data the
 * cache keeps. Any thread.
 *
 * <p>Alluxio numbers the blocks of a file by its file id: the upper 40 bits name the file, the lower 24 count.
 */
public final class FileReader implements AutoCloseable {
    private static final int SEQUENCE_BITS = 24;

    private final BlockFiles blocks;
    private final Remotes remotes;
    /** Null: there is none. */
    private final @Nullable CacheVolume cache;

    private @Nullable RemoteFile remote;
    /** Set under the monitor. */
    private volatile @Nullable CachedFile cached;

    private boolean closed;
    private final Extent extent;
    private final long fileId;
    private final long lengthBytes;
    private final long blockBytes;
    private final Counters counters;

    /** What was read in which way, in bytes. */
    public interface Counters {
        void local(int bytes);

        void remote(int bytes);
    }

    /** Where files that are read through streams are shared. */
    interface Remotes {
        RemoteFile join();

        void leave(RemoteFile file);
    }

    FileReader(BlockFiles blocks, Remotes remotes, @Nullable CacheVolume cache, Extent extent, Counters counters) {
        this.blocks = blocks;
        this.remotes = remotes;
        this.cache = cache;
        this.extent = extent;
        this.fileId = extent.fileId;
        this.lengthBytes = extent.lengthBytes;
        this.blockBytes = Math.max(1, extent.blockBytes);
        this.counters = counters;
    }

    /**
     * Which version of which file, and how it is cut.
     *
     * @param version see {@link io.posixgateway.alluxio.meta.Attr#version}
     */
    public record Extent(long fileId, long lengthBytes, long blockBytes, long version) {
        /** The block it begins with. */
        public long firstBlock() {
            return fileId >>> SEQUENCE_BITS << SEQUENCE_BITS;
        }
    }

    public long fileId() {
        return fileId;
    }

    private long blockId(long index) {
        return (fileId >>> SEQUENCE_BITS << SEQUENCE_BITS) | index;
    }

    /**
     * Reads from local block files, or else from the data cache; -1 when a part is in neither, and then the buffer is as it was. Never
     * waits for more than the disk.
     */
    public int readLocal(long offset, ByteBuffer into) {
        int local = readBlocks(offset, into);
        return local >= 0 || cache == null ? local : readCached(offset, into, false);
    }

    private int readCached(long offset, ByteBuffer into, boolean mayWait) {
        CachedFile file = cachedFile(mayWait);
        return file == null ? -1 : file.read(offset, into, mayWait);
    }

    /** Null: there is no cache, or it cannot be used now, or the reader was closed meanwhile. */
    private @Nullable CachedFile cachedFile(boolean mayWait) {
        CachedFile known = cached;
        if (known != null || cache == null) {
            return known;
        }
        CachedFile made = cache.open(extent.fileId, extent.lengthBytes, extent.version, mayWait);
        if (made != null && !isKept(made)) {
            made.close();
        }
        return cached;
    }

    /** False: another thread was first, or the reader was closed meanwhile. */
    private synchronized boolean isKept(CachedFile made) {
        if (cached != null || closed) {
            return false;
        }
        cached = made;
        return true;
    }

    private int readBlocks(long offset, ByteBuffer into) {
        int start = into.position();
        long end = Math.min(lengthBytes, offset + into.remaining());
        int limit = into.limit();
        long at = offset;
        while (at < end) {
            int count = readBlock(at, end, into);
            into.limit(limit);
            if (count <= 0) {
                into.position(start);
                return -1;
            }
            at += count;
        }
        int total = into.position() - start;
        counters.local(total);
        return total;
    }

    private int readBlock(long at, long end, ByteBuffer into) {
        long index = at / blockBytes;
        BlockFile file = blocks.take(blockId(index));
        if (file == null) {
            return -1;
        }
        try {
            long blockEnd = Math.min(end, (index + 1) * blockBytes);
            into.limit(into.position() + (int) (blockEnd - at));
            return file.read(at - index * blockBytes, into);
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(FileReader.class).debug("Reading a block file failed: {}", e.toString());
            return -1;
        } finally {
            file.give();
        }
    }

    /** Reads from wherever the bytes are. May wait. Fewer bytes than there are in the file are an EIO. */
    public int read(long offset, ByteBuffer into) throws StoreException {
        int here = readBlocks(offset, into);
        if (here < 0) {
            here = readCached(offset, into, true);
        }
        if (here >= 0) {
            return here;
        }
        int start = into.position();
        long wanted = Math.min(into.remaining(), Math.max(0, lengthBytes - offset));
        int count = readRemote(offset, into);
        if (count < wanted) {
            throw new StoreException(
                    Errno.EIO, "File " + fileId + " ends at " + (offset + count) + ", not at " + lengthBytes, null);
        }
        counters.remote(count);
        keepRead(offset, into, start);
        return count;
    }

    private void keepRead(long offset, ByteBuffer into, int start) {
        CachedFile file = cached;
        if (file != null && into.position() > start) {
            file.keep(offset, into.slice(start, into.position() - start));
        }
    }

    /** Reads what a stream has fetched already; -1 when a part is missing, and then the buffer is as it was. Never waits. */
    public int readBuffered(long offset, ByteBuffer into) {
        RemoteFile open = kept();
        int start = into.position();
        int count = open == null ? -1 : open.readBuffered(offset, into);
        if (count > 0) {
            counters.remote(count);
            keepRead(offset, into, start);
        }
        return count;
    }

    private synchronized @Nullable RemoteFile kept() {
        return remote;
    }

    private int readRemote(long offset, ByteBuffer into) throws StoreException {
        RemoteFile kept = remote();
        RemoteFile file = kept == null ? remotes.join() : kept;
        try {
            return file.read(offset, into);
        } finally {
            if (kept == null) {
                remotes.leave(file);
            }
        }
    }

    /** Null: the reader was closed meanwhile. */
    private synchronized @Nullable RemoteFile remote() {
        if (remote == null && !closed) {
            remote = remotes.join();
        }
        return remote;
    }

    /** May closing it wait? */
    public boolean streams() {
        return kept() != null;
    }

    @Override
    public void close() {
        RemoteFile open;
        CachedFile cachedOpen;
        synchronized (this) {
            closed = true;
            open = remote;
            remote = null;
            cachedOpen = cached;
            cached = null;
        }
        if (cachedOpen != null) {
            cachedOpen.close();
        }
        if (open != null) {
            remotes.leave(open);
        }
    }
}

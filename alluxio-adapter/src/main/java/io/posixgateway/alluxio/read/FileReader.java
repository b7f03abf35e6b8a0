package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Reads one complete file: from local block files where there are any, else through a stream. Any thread.
 *
 * <p>Alluxio numbers the blocks of a file by its file id: the upper 40 bits name the file, the lower 24 count.
 */
public final class FileReader implements AutoCloseable {
    private static final int SEQUENCE_BITS = 24;

    private final BlockFiles blocks;
    private final Remotes remotes;
    private @Nullable RemoteFile remote;
    private boolean closed;
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

    FileReader(BlockFiles blocks, Remotes remotes, Extent extent, Counters counters) {
        this.blocks = blocks;
        this.remotes = remotes;
        this.fileId = extent.fileId;
        this.lengthBytes = extent.lengthBytes;
        this.blockBytes = Math.max(1, extent.blockBytes);
        this.counters = counters;
    }

    /** Which file, and how it is cut. */
    public record Extent(long fileId, long lengthBytes, long blockBytes) {
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

    /** Reads from local block files; -1 when a part is not in one, and then the buffer is as it was. Never waits. */
    public int readLocal(long offset, ByteBuffer into) {
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
        int local = readLocal(offset, into);
        if (local >= 0) {
            return local;
        }
        long wanted = Math.min(into.remaining(), Math.max(0, lengthBytes - offset));
        int count = readRemote(offset, into);
        if (count < wanted) {
            throw new StoreException(
                    Errno.EIO, "File " + fileId + " ends at " + (offset + count) + ", not at " + lengthBytes, null);
        }
        counters.remote(count);
        return count;
    }

    /** Reads what a stream has fetched already; -1 when a part is missing, and then the buffer is as it was. Never waits. */
    public int readBuffered(long offset, ByteBuffer into) {
        RemoteFile open = kept();
        int count = open == null ? -1 : open.readBuffered(offset, into);
        if (count > 0) {
            counters.remote(count);
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
        synchronized (this) {
            closed = true;
            open = remote;
            remote = null;
        }
        if (open != null) {
            remotes.leave(open);
        }
    }
}

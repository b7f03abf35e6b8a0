package io.posixgateway.alluxio.data;

import io.posixgateway.alluxio.client.FileSource;
import io.posixgateway.alluxio.client.StoreException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Reads one open file through a stream. Any thread, one after another.
 *
 * <p>The kernel's readahead arrives slightly out of order, so a stream must not be moved for each request. Therefore the
 * stream goes forward in chunks, and the last few chunks are kept as a window: a request inside the window is a copy, one a
 * little ahead moves the window on, and one anywhere else is read by itself. Where two such follow each other, the stream
 * moves there. The window's memory comes from a common budget; without any left, every request is read by itself.
 */
final class RemoteReader implements AutoCloseable {
    static final int CHUNK_BYTES = 1 << 20;

    /** Opens the stream at the first read. */
    interface Opener {
        FileSource open() throws StoreException;
    }

    private static final class Chunk {
        private final long offset;
        private final ByteBuffer data;
        private int copiedBytes;

        Chunk(long offset, ByteBuffer data) {
            this.offset = offset;
            this.data = data;
        }

        boolean holds(long at) {
            return at >= offset && at < offset + data.limit();
        }
    }

    private final Opener opener;
    private final long lengthBytes;
    private final int windowChunks;
    private final BufferBudget budget;
    private final ArrayDeque<Chunk> window = new ArrayDeque<>();
    private @Nullable FileSource source;
    private long nextOffset;
    private long singleEnd = -1;

    RemoteReader(Opener opener, long lengthBytes, long readAheadBytes, BufferBudget budget) {
        this.opener = opener;
        this.lengthBytes = lengthBytes;
        this.windowChunks = (int) Math.max(0, readAheadBytes / CHUNK_BYTES);
        this.budget = budget;
    }

    /** Fills the buffer from this offset on, as far as the file goes. */
    synchronized int read(long offset, ByteBuffer into) throws StoreException {
        int start = into.position();
        long at = offset;
        while (into.hasRemaining() && at < lengthBytes) {
            int count = copyFromWindow(at, into);
            if (count == 0 && !moveOn(at)) {
                count = readSingle(at, into);
                if (count == 0) {
                    break;
                }
            }
            at += count;
        }
        return into.position() - start;
    }

    private int copyFromWindow(long at, ByteBuffer into) {
        for (Chunk chunk : window) {
            if (chunk.holds(at)) {
                ByteBuffer data = chunk.data;
                int from = (int) (at - chunk.offset);
                int count = Math.min(data.limit() - from, into.remaining());
                into.put(into.position(), data, from, count);
                into.position(into.position() + count);
                chunk.copiedBytes += count;
                return count;
            }
        }
        return 0;
    }

    /** Moves the window so that it holds this offset; false when it is not worth it. */
    private boolean moveOn(long at) throws StoreException {
        long ahead = at - nextOffset;
        if (at == singleEnd && (ahead < 0 || ahead > CHUNK_BYTES)) {
            nextOffset = at;
            ahead = 0;
        }
        if (windowChunks == 0 || ahead < 0 || ahead >= (long) windowChunks * CHUNK_BYTES) {
            return false;
        }
        while (nextOffset <= at) {
            ByteBuffer buffer = roomForChunk();
            if (buffer == null) {
                return false;
            }
            buffer.clear().limit((int) Math.min(CHUNK_BYTES, lengthBytes - nextOffset));
            int count = fill(buffer);
            if (count == 0) {
                budget.give(buffer.capacity());
                return false;
            }
            budget.readAhead(count);
            window.addLast(new Chunk(nextOffset, buffer.flip()));
            nextOffset += count;
        }
        return true;
    }

    private int fill(ByteBuffer buffer) throws StoreException {
        try {
            return source().read(nextOffset, buffer);
        } catch (StoreException e) {
            budget.give(buffer.capacity());
            throw e;
        }
    }

    private @Nullable ByteBuffer roomForChunk() {
        if (window.size() >= windowChunks) {
            return dropFirst().data;
        }
        int bytes = (int) Math.min(CHUNK_BYTES, lengthBytes);
        if (budget.take(bytes)) {
            return ByteBuffer.allocate(bytes);
        }
        return window.isEmpty() ? null : dropFirst().data;
    }

    private Chunk dropFirst() {
        Chunk chunk = window.removeFirst();
        budget.wasted(Math.max(0, chunk.data.limit() - chunk.copiedBytes));
        return chunk;
    }

    private int readSingle(long at, ByteBuffer into) throws StoreException {
        byte[] bytes = new byte[(int) Math.min(into.remaining(), lengthBytes - at)];
        int count = source().readOnce(at, bytes, bytes.length);
        into.put(bytes, 0, count);
        singleEnd = at + count;
        return count;
    }

    private FileSource source() throws StoreException {
        FileSource open = source;
        if (open == null) {
            open = opener.open();
            source = open;
        }
        return open;
    }

    /** Is a stream open, so that closing it may wait? */
    synchronized boolean streams() {
        return source != null;
    }

    @Override
    public synchronized void close() {
        while (!window.isEmpty()) {
            budget.give(dropFirst().data.capacity());
        }
        if (source != null) {
            source.close();
            source = null;
        }
    }
}

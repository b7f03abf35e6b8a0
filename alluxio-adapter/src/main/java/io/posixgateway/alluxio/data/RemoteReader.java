package io.posixgateway.alluxio.data;

import io.posixgateway.alluxio.client.FileSource;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file through one stream; {@link RemoteFile} chooses between several. Any thread.
 *
 * <p>The kernel's readahead arrives slightly out of order, so a stream must not be moved for each request. Therefore the
 * stream goes forward in chunks, and the last few chunks are kept as a window: a request inside the window is a copy, one a
 * little ahead moves the window on, and one anywhere else is read by itself, so that random reads bring no more than what is
 * asked for. Where enough of such follow each other, the stream moves there. The window's memory comes from a common budget;
 * without any left, every request is read by itself. When what is asked for comes near the window's end, the next chunk is
 * fetched by a helper, if one is free, while this one is copied.
 *
 * <p>Two locks, in this order: that of the stream is held while something is fetched, the monitor for the window only.
 */
final class RemoteReader implements AutoCloseable {
    static final int CHUNK_BYTES = 1 << 20;
    /** So much is fetched before it is asked for. */
    private static final int AHEAD_BYTES = 2 * CHUNK_BYTES;

    /** A request so far ahead of a stream that has gone forward a while is one of those that it is to bring. */
    private static final int NEAR_BYTES = 2 * CHUNK_BYTES;
    /** So far from the end of what was read singly a request belongs to the same sequence. */
    private static final int LOOSE_BYTES = CHUNK_BYTES / 4;
    /** So much read singly in sequence moves the stream there. */
    private static final int SEQUENCE_BYTES = CHUNK_BYTES / 2;

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
    private final Helpers helpers;
    private final ArrayDeque<Chunk> window = new ArrayDeque<>();
    private final ReentrantLock stream = new ReentrantLock();
    private final AtomicBoolean fetching = new AtomicBoolean();
    private volatile @Nullable FileSource source;
    private boolean closed;
    /** Where the stream is; written under its lock, as all that follows. */
    private volatile long nextOffset;
    /** Where it began to go forward. */
    private volatile long startOffset;

    private volatile long windowOffset;
    /** Where the last sequence of single reads ends, and how long it is. */
    private volatile long singleEnd = Long.MIN_VALUE / 2;

    private long singleBytes;
    /** Copied from the window since the stream began there. */
    private long copiedBytes;

    /** @param helpers fetch chunks ahead */
    RemoteReader(Opener opener, long lengthBytes, long readAheadBytes, BufferBudget budget, Helpers helpers) {
        this.opener = opener;
        this.lengthBytes = lengthBytes;
        this.windowChunks = (int) Math.max(0, readAheadBytes / CHUNK_BYTES);
        this.budget = budget;
        this.helpers = helpers;
    }

    /** Is what is read here in the window, or next to be in it? Never waits; a hint. */
    boolean suits(long offset) {
        return (offset >= windowOffset && isNear(offset)) || continuesSingle(offset);
    }

    private boolean isNear(long offset) {
        long next = nextOffset;
        return offset - next < (next - startOffset > CHUNK_BYTES ? NEAR_BYTES : CHUNK_BYTES);
    }

    private boolean continuesSingle(long offset) {
        return Math.abs(offset - singleEnd) <= LOOSE_BYTES;
    }

    /** Fills the buffer from this offset on, as far as the file goes. */
    int read(long offset, ByteBuffer into) throws StoreException {
        int start = into.position();
        long at = offset;
        while (into.hasRemaining() && at < lengthBytes) {
            int count = copyFromWindow(at, into);
            if (count == 0) {
                count = fetch(at, into);
                if (count == 0) {
                    break;
                }
            }
            at += count;
        }
        fetchAhead(at);
        return into.position() - start;
    }

    /** The same when all of it is in the window; -1 when it is not, and then the buffer is as it was. Never waits. */
    int readKept(long offset, ByteBuffer into) {
        int start = into.position();
        long end = Math.min(lengthBytes, offset + into.remaining());
        long at = offset;
        while (at < end) {
            int count = copyFromWindow(at, into);
            if (count == 0) {
                into.position(start);
                return -1;
            }
            at += count;
        }
        fetchAhead(at);
        return into.position() - start;
    }

    private synchronized int copyFromWindow(long at, ByteBuffer into) {
        for (Chunk chunk : window) {
            if (chunk.holds(at)) {
                ByteBuffer data = chunk.data;
                int from = (int) (at - chunk.offset);
                int count = Math.min(data.limit() - from, into.remaining());
                into.put(into.position(), data, from, count);
                into.position(into.position() + count);
                chunk.copiedBytes += count;
                copiedBytes += count;
                return count;
            }
        }
        return 0;
    }

    private int fetch(long at, ByteBuffer into) throws StoreException {
        lockStream();
        try {
            int count = copyFromWindow(at, into);
            if (count == 0 && moveOn(at)) {
                count = copyFromWindow(at, into);
            }
            return count == 0 ? readSingle(at, into) : count;
        } finally {
            stream.unlock();
        }
    }

    /** Has the next chunk fetched when so much is already read. */
    private void fetchAhead(long read) {
        if (wantsMore(read) && fetching.compareAndSet(false, true) && !helpers.help(() -> fetchNext(read))) {
            fetching.set(false);
        }
    }

    private boolean wantsMore(long read) {
        long next = nextOffset;
        return windowChunks > 2
                && read - startOffset > CHUNK_BYTES
                && read <= next
                && next < lengthBytes
                && next - read < AHEAD_BYTES;
    }

    /** A failure is for whoever asks for that part. */
    private void fetchNext(long read) {
        if (stream.tryLock()) {
            try {
                while (wantsMore(read) && moveOn(nextOffset)) {
                    Thread.onSpinWait();
                }
            } catch (StoreException e) {
                org.slf4j.LoggerFactory.getLogger(RemoteReader.class).debug("Reading ahead: {}", e.getMessage());
            } finally {
                stream.unlock();
            }
        }
        fetching.set(false);
    }

    /** As long as others fetch; a program that is killed meanwhile gives up. */
    private void lockStream() throws StoreException {
        if (stream.tryLock()) {
            return;
        }
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        try {
            stream.lockInterruptibly();
        } catch (InterruptedException e) {
            throw new StoreException(Errno.ETIMEDOUT, "Alluxio took too long to send what others read", e);
        } finally {
            remote.end();
        }
    }

    /** Moves the window so that it holds this offset; false when it is not worth it. */
    private boolean moveOn(long at) throws StoreException {
        if (windowChunks == 0) {
            return false;
        }
        if (at < nextOffset || !isNear(at) || !isUsed()) {
            if (!continuesSingle(at) || singleBytes < SEQUENCE_BYTES) {
                return false;
            }
            start(at);
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
            long end = nextOffset + count;
            add(new Chunk(nextOffset, buffer.flip()));
            nextOffset = end;
        }
        return true;
    }

    private synchronized void start(long at) {
        startOffset = at;
        nextOffset = at;
        singleBytes = 0;
        copiedBytes = 0;
    }

    /** Is what the stream brings wanted, but for its first chunks? */
    private synchronized boolean isUsed() {
        return nextOffset - startOffset <= 2 * (copiedBytes + CHUNK_BYTES);
    }

    private synchronized void add(Chunk chunk) {
        window.addLast(chunk);
        windowOffset = window.getFirst().offset;
    }

    private int fill(ByteBuffer buffer) throws StoreException {
        try {
            return source().read(nextOffset, buffer);
        } catch (StoreException e) {
            budget.give(buffer.capacity());
            throw e;
        }
    }

    private synchronized @Nullable ByteBuffer roomForChunk() {
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
        boolean continues = continuesSingle(at);
        singleBytes = continues ? singleBytes + count : count;
        singleEnd = continues ? Math.max(singleEnd, at + count) : at + count;
        return count;
    }

    private FileSource source() throws StoreException {
        FileSource open = source;
        if (open == null) {
            if (closed) {
                throw new StoreException(Errno.EBADF, "The file was closed meanwhile", null);
            }
            open = opener.open();
            source = open;
        }
        return open;
    }

    /** Waits for what is being fetched. Nothing can be read any more. */
    @Override
    public void close() {
        stream.lock();
        try {
            closed = true;
            dropAll();
            FileSource open = source;
            if (open != null) {
                open.close();
                source = null;
            }
        } finally {
            stream.unlock();
        }
    }

    private synchronized void dropAll() {
        while (!window.isEmpty()) {
            budget.give(dropFirst().data.capacity());
        }
    }
}

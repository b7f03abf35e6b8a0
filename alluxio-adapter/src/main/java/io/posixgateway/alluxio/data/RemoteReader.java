package io.posixgateway.alluxio.data;

import io.posixgateway.alluxio.client.FileSource;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Reads a part of a file that is read in sequence; {@link RemoteFile} chooses between several. Any thread.
 *
 * <p>The kernel's readahead arrives slightly out of order. Therefore the file is fetched in chunks, and the last few are kept
 * as a window that goes forward: a request inside the window is a copy, one a little ahead moves the window on, and one
 * anywhere else is read by itself, so that random reads bring no more than what is asked for. Where enough of such follow each
 * other, the window moves there. Its memory comes from a common budget; without any left, every request is read by itself.
 *
 * <p>When what is asked for comes near the window's end, helpers fetch what follows, as far as there are any, while this is
 * copied: at first two chunks ahead, and more when somebody had to wait for one of them, as the way to the worker is long then.
 *
 * <p>What a worker has is fetched in several chunks at once. What none has comes in a stream, one chunk after the other, so that
 * the worker reads the under file system once, and keeps it. The lock is for the stream, which one thread at a time may use; the
 * monitor guards the window, and whoever waits for a chunk waits on it.
 */
final class RemoteReader implements AutoCloseable {
    static final int CHUNK_BYTES = ChunkMemory.CHUNK_BYTES;
    /** So much is fetched before it is asked for, at first. */
    private static final int FIRST_AHEAD_BYTES = 2 * CHUNK_BYTES;

    /** A request so far ahead of a window that has gone forward a while is one of those that it is to bring. */
    private static final int NEAR_BYTES = 2 * CHUNK_BYTES;
    /** So far from the end of what was read singly a request belongs to the same sequence. */
    private static final int LOOSE_BYTES = CHUNK_BYTES / 4;
    /** More chunks in one call would save little. */
    private static final int MOST_TOGETHER = 16;
    /** So much read singly in sequence moves the window there. */
    private static final int SEQUENCE_BYTES = CHUNK_BYTES / 2;

    /** Opens the stream at the first read. */
    interface Opener {
        FileSource open() throws StoreException;
    }

    private final Opener opener;
    private final long lengthBytes;
    private final int windowChunks;
    /** So many chunks at most come with one call. */
    private final int mostTogether;

    private final BufferBudget budget;
    private final Helpers helpers;
    private final ReentrantLock stream = new ReentrantLock();
    /** Opened and closed under the lock. */
    private volatile @Nullable FileSource source;

    // Guarded by the monitor. What is volatile is read without it, for hints.
    private final ArrayDeque<Chunk> window = new ArrayDeque<>();
    private volatile boolean closed;
    /** Where the window ends. */
    private volatile long nextOffset;
    /** Where it began to go forward. */
    private volatile long startOffset;

    private volatile long windowOffset;
    private int aheadBytes = FIRST_AHEAD_BYTES;
    /** The last chunk came in a stream. */
    private volatile boolean streams;
    /** Where the last sequence of single reads ends, and how long it is. */
    private volatile long singleEnd = Long.MIN_VALUE / 2;

    private long singleBytes;
    /** Copied from the window since it began there. */
    private long copiedBytes;

    /** @param helpers fetch chunks ahead */
    RemoteReader(Opener opener, long lengthBytes, long readAheadBytes, BufferBudget budget, Helpers helpers) {
        this.opener = opener;
        this.lengthBytes = lengthBytes;
        this.windowChunks = (int) Math.max(0, readAheadBytes / CHUNK_BYTES);
        this.mostTogether = Math.min(MOST_TOGETHER, windowChunks / 2);
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
            int count = readSome(at, into);
            if (count == 0) {
                break;
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
            int count = copy(at, into);
            if (count == 0) {
                into.position(start);
                return -1;
            }
            at += count;
        }
        fetchAhead(at);
        return into.position() - start;
    }

    /** Others go on meanwhile. */
    private int copy(long at, ByteBuffer into) {
        Chunk chunk = pin(at);
        if (chunk == null) {
            return 0;
        }
        int count = 0;
        try {
            count = chunk.copy(at, into);
        } finally {
            unpin(chunk, count);
        }
        return count;
    }

    private synchronized @Nullable Chunk pin(long at) {
        Chunk chunk = at(at);
        if (chunk == null || !chunk.has(at)) {
            return null;
        }
        chunk.pin();
        return chunk;
    }

    private synchronized void unpin(Chunk chunk, int count) {
        copiedBytes += count;
        chunk.unpin(count);
        if (chunk.isAbandoned() && !chunk.isPinned()) {
            giveBack(chunk.memory());
        }
    }

    private @Nullable Chunk at(long at) {
        for (Chunk chunk : window) {
            if (chunk.covers(at)) {
                return chunk;
            }
        }
        return null;
    }

    private int readSome(long at, ByteBuffer into) throws StoreException {
        Chunk missing;
        while ((missing = moveOn(at)) != null) {
            fetchFor(at, missing);
        }
        lookFurther(at);
        awaitChunk(at);
        int count = copy(at, into);
        return count == 0 ? readSingle(at, into) : count;
    }

    /** What failed on the way is for whoever asks for it. */
    private void fetchFor(long at, Chunk chunk) throws StoreException {
        try {
            fetch(chunk);
        } catch (StoreException e) {
            if (chunk.covers(at) || e.errno() == Errno.ETIMEDOUT) {
                throw e;
            }
        }
    }

    /** Moves the window so that it holds this offset; what is to be fetched for that, or null when there is no more of it. */
    private synchronized @Nullable Chunk moveOn(long at) {
        if (windowChunks == 0 || closed || at(at) != null) {
            return null;
        }
        if (at < nextOffset || !isNear(at) || !isUsed()) {
            if (!continuesSingle(at) || singleBytes < SEQUENCE_BYTES) {
                return null;
            }
            start(at);
        }
        return nextOffset <= at ? next(Long.MAX_VALUE, false) : null;
    }

    private void start(long at) {
        startOffset = at;
        nextOffset = at;
        singleBytes = 0;
        copiedBytes = 0;
    }

    /** Is what is fetched wanted, but for the first chunks? */
    private boolean isUsed() {
        return nextOffset - startOffset <= 2 * (copiedBytes + CHUNK_BYTES);
    }

    /** One chunk more, to be fetched by who calls; null without memory for it. What comes after `read` keeps its own. */
    private @Nullable Chunk next(long read, boolean ahead) {
        ByteBuffer room = roomForChunk(read);
        if (room == null) {
            return null;
        }
        Chunk chunk = new Chunk(nextOffset, nextBytes(), room, ahead);
        window.addLast(chunk);
        windowOffset = window.getFirst().offset();
        nextOffset = chunk.offset() + chunk.lengthBytes();
        return chunk;
    }

    private @Nullable ByteBuffer roomForChunk(long read) {
        if (window.size() >= windowChunks) {
            return dropFirst(read);
        }
        int bytes = ChunkMemory.bytesFor(lengthBytes);
        if (!budget.take(bytes)) {
            return dropFirst(read);
        }
        ByteBuffer room = ChunkMemory.take(bytes);
        if (room == null) {
            budget.give(bytes);
        }
        return room == null ? dropFirst(read) : room;
    }

    private boolean isInSequence(Chunk chunk) {
        return chunk.offset() >= startOffset && chunk.offset() < nextOffset;
    }

    private void giveBack(ByteBuffer room) {
        budget.give(room.capacity());
        ChunkMemory.give(room);
    }

    /** Its memory; null: there is none, or it is being fetched, or read, or to be read. */
    private @Nullable ByteBuffer dropFirst(long read) {
        Chunk chunk = window.peekFirst();
        if (chunk == null
                || chunk.isFetching()
                || chunk.isPinned()
                || (isInSequence(chunk) && chunk.offset() + chunk.lengthBytes() > read)) {
            return null;
        }
        window.removeFirst();
        budget.wasted(chunk.wastedBytes());
        return chunk.memory();
    }

    private void fetch(Chunk chunk) throws StoreException {
        int count = 0;
        try {
            count = bring(chunk);
        } finally {
            fetched(chunk, count);
        }
    }

    private synchronized void fetched(Chunk chunk, int count) {
        chunk.fetched(count);
        budget.readAhead(count);
        if (chunk.isAbandoned()) {
            giveBack(chunk.memory());
        }
        notifyAll();
    }

    /** As much of it as the file has. */
    private int bring(Chunk chunk) throws StoreException {
        ByteBuffer room = chunk.room();
        boolean more = true;
        while (more && room.hasRemaining()) {
            long at = chunk.offset() + room.position();
            int count = readBeside(at, room);
            if (count <= 0) {
                awaitChunk(chunk.offset() - 1);
                count = readStream(at, room, true);
            }
            more = count > 0;
        }
        return room.position();
    }

    private int readBeside(long at, ByteBuffer into) throws StoreException {
        FileSource open = source;
        return open != null && open.besideBytes(at) > 0 ? open.readBeside(at, FileSource.Rooms.of(into)) : -1;
    }

    /** @param goesOn is what follows wanted next? */
    private int readStream(long at, ByteBuffer into, boolean goesOn) throws StoreException {
        lockStream();
        try {
            FileSource open = source();
            if (!goesOn) {
                return open.readOnce(at, into);
            }
            int count = open.read(at, into);
            streams = open.besideBytes(at) == 0;
            return count;
        } finally {
            stream.unlock();
        }
    }

    /** As long as others use it; a program that is killed meanwhile gives up. */
    private void lockStream() throws StoreException {
        if (stream.tryLock()) {
            return;
        }
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        try {
            stream.lockInterruptibly();
        } catch (InterruptedException e) {
            throw tooLong(e);
        } finally {
            remote.end();
        }
    }

    private static StoreException tooLong(InterruptedException e) {
        return new StoreException(Errno.ETIMEDOUT, "Alluxio took too long to send what others read", e);
    }

    /** Until whoever fetches what is to be here has done that. */
    private void awaitChunk(long at) throws StoreException {
        if (!isFetching(at)) {
            return;
        }
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        try {
            synchronized (this) {
                while (isFetching(at)) {
                    wait();
                }
            }
        } catch (InterruptedException e) {
            abandon(at);
            throw tooLong(e);
        } finally {
            remote.end();
        }
    }

    /** It takes too long: whoever asks for it next does not wait for it. */
    private synchronized void abandon(long at) {
        Chunk chunk = at(at);
        if (chunk != null && chunk.isFetching()) {
            window.remove(chunk);
            chunk.abandon();
            notifyAll();
        }
    }

    /** Who has to wait for what was to be here already has more fetched ahead from now on. */
    private synchronized void lookFurther(long at) {
        Chunk chunk = at(at);
        if (chunk == null || !chunk.comesAhead()) {
            return;
        }
        aheadBytes = Math.max(aheadBytes, Math.min(2 * aheadBytes, (windowChunks - 2) * CHUNK_BYTES));
    }

    private synchronized boolean isFetching(long at) {
        Chunk chunk = at(at);
        return chunk != null && chunk.isFetching();
    }

    /** Has what follows fetched when so much is already read. */
    private void fetchAhead(long read) {
        while (wantsMore(read) && fetchNext(read)) {
            Thread.onSpinWait();
        }
    }

    private boolean wantsMore(long read) {
        long next = nextOffset;
        return windowChunks > 2
                && read - startOffset > CHUNK_BYTES
                && read <= next
                && next < lengthBytes
                && next - read < aheadBytes
                && !closed;
    }

    private synchronized boolean fetchNext(long read) {
        List<Chunk> run = mayFetchMore(read) ? nextRun(read) : List.of();
        if (run.isEmpty()) {
            return false;
        }
        boolean helped = helpers.help(() -> {
            fetchQuietly(run);
            fetchAhead(read);
        });
        if (!helped) {
            giveUp(run);
        }
        return helped;
    }

    private void giveUp(List<Chunk> run) {
        nextOffset = run.get(0).offset();
        for (Chunk chunk : run) {
            window.removeLast();
            giveBack(chunk.memory());
        }
    }

    /** What one call is to bring: more of it the longer the sequence is, as far as there is memory. */
    private List<Chunk> nextRun(long read) {
        long most = Math.min(mostTogether, (nextOffset - startOffset) / (2 * CHUNK_BYTES));
        FileSource open = source;
        long end = nextOffset + (open == null || most < 2 ? 0 : open.besideBytes(nextOffset));
        List<Chunk> run = new ArrayList<>(1);
        Chunk chunk = next(read, true);
        while (chunk != null) {
            run.add(chunk);
            boolean more = run.size() < most && nextOffset < lengthBytes && nextOffset + nextBytes() <= end;
            chunk = more ? next(read, true) : null;
        }
        return run;
    }

    private int nextBytes() {
        return (int) Math.min(CHUNK_BYTES, lengthBytes - nextOffset);
    }

    private boolean mayFetchMore(long read) {
        Chunk last = window.peekLast();
        return wantsMore(read) && isUsed() && helpers.areFree() && !(streams && last != null && last.isFetching());
    }

    /** A failure is for whoever asks for that part. */
    private void fetchQuietly(List<Chunk> run) {
        try {
            fetchTogether(run);
            for (Chunk chunk : run) {
                if (chunk.isFetching()) {
                    fetchQuietly(chunk);
                }
            }
        } finally { // an Error, too, leaves nobody waiting
            for (Chunk chunk : run) {
                if (chunk.isFetching()) {
                    fetched(chunk, 0);
                }
            }
        }
    }

    private void fetchTogether(List<Chunk> run) {
        FileSource open = source;
        if (run.size() == 1 || open == null) {
            return;
        }
        try {
            open.readBeside(run.get(0).offset(), new Run(run, this::fetched));
        } catch (StoreException e) {
            debug(e);
        }
    }

    private void fetchQuietly(Chunk chunk) {
        try {
            fetch(chunk);
        } catch (StoreException e) {
            debug(e);
        }
    }

    private static void debug(StoreException failure) {
        org.slf4j.LoggerFactory.getLogger(RemoteReader.class).debug("Reading ahead: {}", failure.getMessage());
    }

    private int readSingle(long at, ByteBuffer into) throws StoreException {
        int limit = into.limit();
        into.limit((int) Math.min(limit, into.position() + lengthBytes - at));
        int count;
        try {
            count = readBeside(at, into);
            if (count <= 0) {
                count = readStream(at, into, false);
            }
        } finally {
            into.limit(limit);
        }
        continueSingle(at, count);
        return count;
    }

    private synchronized void continueSingle(long at, int count) {
        boolean continues = continuesSingle(at);
        singleBytes = continues ? singleBytes + count : count;
        singleEnd = continues ? Math.max(singleEnd, at + count) : at + count;
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

    /** Waits for what the stream is doing. Nothing can be read any more. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            dropAll();
        }
        stream.lock();
        try {
            FileSource open = source;
            if (open != null) {
                open.close();
                source = null;
            }
        } finally {
            stream.unlock();
        }
    }

    /** The memory of what is in use is given back by who uses it. */
    private void dropAll() {
        for (Chunk chunk : window) {
            if (!chunk.isFetching()) {
                budget.wasted(chunk.wastedBytes());
            }
            if (chunk.isFetching() || chunk.isPinned()) {
                chunk.abandon();
            } else {
                giveBack(chunk.memory());
            }
        }
        window.clear();
        notifyAll();
    }
}

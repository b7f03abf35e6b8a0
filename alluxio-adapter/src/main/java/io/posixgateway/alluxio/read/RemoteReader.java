package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Reads a part of a file that is read in sequence; {@link RemoteFile} chooses between several. Any thread.
 *
 * <p>The kernel's readahead arrives slightly out of order. Therefore the file is fetched in chunks, and the last few are kept
 * as a {@link ReadAheadWindow} that goes forward; what is asked for elsewhere is read by itself, so that random reads bring no more than
 * that.
 *
 * <p>When what is asked for comes near the window's end, helpers fetch what follows, as far as there are any, while this is
 * copied: at first two chunks ahead, and more when somebody had to wait for one of them, as the way to the worker is long then.
 *
 * <p>What a worker has is fetched in several chunks at once. What none has comes in a stream, one chunk after the other, so that
 * the worker reads the under file system once, and keeps it. The lock is for the stream, which one thread at a time may use.
 */
final class RemoteReader implements AutoCloseable {
    /** Opens the stream at the first read. */
    interface Opener {
        StoreReader open() throws StoreException;
    }

    private final Opener opener;
    private final long lengthBytes;
    private final ReadAheadWindow window;
    private final BestEffortExecutor helpers;
    private final ReentrantLock stream = new ReentrantLock();
    /** Opened and closed under the lock. */
    private volatile @Nullable StoreReader source;

    /** The last chunk came in a stream. */
    private volatile boolean streams;

    /** @param helpers fetch chunks ahead */
    RemoteReader(
            Opener opener, long lengthBytes, long readAheadBytes, BufferBudget budget, BestEffortExecutor helpers) {
        this.opener = opener;
        this.lengthBytes = lengthBytes;
        this.window = new ReadAheadWindow(lengthBytes, readAheadBytes, budget);
        this.helpers = helpers;
    }

    /** Is what is read here in the window, or next to be in it? Never waits; a hint. */
    boolean matches(long offset) {
        return window.matches(offset);
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
    int readBuffered(long offset, ByteBuffer into) {
        int start = into.position();
        long end = Math.min(lengthBytes, offset + into.remaining());
        long at = offset;
        while (at < end) {
            int count = window.copy(at, into);
            if (count == 0) {
                into.position(start);
                return -1;
            }
            at += count;
        }
        fetchAhead(at);
        return into.position() - start;
    }

    private int readSome(long at, ByteBuffer into) throws StoreException {
        Chunk missing;
        while ((missing = window.advance(at)) != null) {
            fetchFor(at, missing);
        }
        window.grow(at);
        await(at);
        int count = window.copy(at, into);
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

    private void fetch(Chunk chunk) throws StoreException {
        int count = 0;
        try {
            count = bring(chunk);
        } finally {
            window.fetched(chunk, count);
        }
    }

    /** As much of it as the file has. */
    private int bring(Chunk chunk) throws StoreException {
        ByteBuffer room = chunk.room();
        boolean more = true;
        while (more && room.hasRemaining()) {
            long at = chunk.offset() + room.position();
            int count = readRange(at, room);
            if (count <= 0) {
                await(chunk.offset() - 1);
                count = readStream(at, room, true);
            }
            more = count > 0;
        }
        return room.position();
    }

    private int readRange(long at, ByteBuffer into) throws StoreException {
        StoreReader open = source;
        return open != null && open.rangeAvailable(at) > 0
                ? open.readRange(at, StoreReader.ScatterTarget.of(into))
                : -1;
    }

    /** @param goesOn is what follows wanted next? */
    private int readStream(long at, ByteBuffer into, boolean goesOn) throws StoreException {
        lockStream();
        try {
            StoreReader open = source();
            if (!goesOn) {
                return open.readOnce(at, into);
            }
            int count = open.read(at, into);
            streams = open.rangeAvailable(at) == 0;
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
        return new StoreException(
                Errno.ETIMEDOUT, "Alluxio took too long to send data that several readers wait for", e);
    }

    /** Until whoever fetches what is to be here has done that. */
    private void await(long at) throws StoreException {
        if (!window.isFetching(at)) {
            return;
        }
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        try {
            window.await(at);
        } catch (InterruptedException e) {
            window.abandon(at);
            throw tooLong(e);
        } finally {
            remote.end();
        }
    }

    /** Has what follows fetched when so much is already read. */
    private void fetchAhead(long read) {
        while (window.wantsMore(read)
                && helpers.areFree()
                && window.fetchNext(read, source, streams, run -> isHelped(run, read))) {
            Thread.onSpinWait();
        }
    }

    private boolean isHelped(List<Chunk> run, long read) {
        return helpers.help(() -> {
            fetchQuietly(run);
            fetchAhead(read);
        });
    }

    /** A failure is for whoever asks for that part. */
    private void fetchQuietly(List<Chunk> run) {
        try {
            fetchTogether(run);
            for (Chunk chunk : run) {
                if (window.isFetching(chunk)) {
                    fetchQuietly(chunk);
                }
            }
        } finally { // an Error, too, leaves nobody waiting
            for (Chunk chunk : run) {
                if (window.isFetching(chunk)) {
                    window.fetched(chunk, 0);
                }
            }
        }
    }

    private void fetchTogether(List<Chunk> run) {
        StoreReader open = source;
        if (run.size() == 1 || open == null) {
            return;
        }
        try {
            open.readRange(run.get(0).offset(), new ChunkBatch(run, window::fetched));
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
        org.slf4j.LoggerFactory.getLogger(RemoteReader.class).debug("Reading ahead failed: {}", failure.getMessage());
    }

    private int readSingle(long at, ByteBuffer into) throws StoreException {
        int limit = into.limit();
        into.limit((int) Math.min(limit, into.position() + lengthBytes - at));
        int count;
        try {
            count = readRange(at, into);
            if (count <= 0) {
                count = readStream(at, into, false);
            }
        } finally {
            into.limit(limit);
        }
        window.readSingly(at, count);
        return count;
    }

    private StoreReader source() throws StoreException {
        StoreReader open = source;
        if (open == null) {
            if (window.isClosed()) {
                throw new StoreException(Errno.EBADF, "The file was closed in the meantime", null);
            }
            open = opener.open();
            source = open;
        }
        return open;
    }

    /** Waits for what the stream is doing. Nothing can be read any more. */
    @Override
    public void close() {
        window.close();
        stream.lock();
        try {
            StoreReader open = source;
            if (open != null) {
                open.close();
                source = null;
            }
        } finally {
            stream.unlock();
        }
    }
}

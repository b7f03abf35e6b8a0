package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.StoreReader;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What {@link RemoteReader} has fetched of a file, and where that goes on: the last few chunks of a sequence. Any thread; its
 * monitor guards the chunks, too, and whoever waits for one waits on it. Nothing is fetched here.
 *
 * <p>A request inside the window is a copy, one a little ahead moves it on. One anywhere else is read by itself, and where
 * enough of such follow each other, the window moves there. The memory comes from a common budget; where none is left, the
 * window takes what it has used, or does not move.
 */
final class ReadAheadWindow {
    private static final int CHUNK_BYTES = ChunkMemory.CHUNK_BYTES;
    /** So much is fetched before it is asked for, at first. */
    private static final int FIRST_AHEAD_BYTES = 2 * CHUNK_BYTES;

    /** A request so far ahead of a window that has gone forward a while is one of those that it is to bring. */
    private static final int NEAR_BYTES = 2 * CHUNK_BYTES;
    /** So far from the end of what was read singly a request belongs to the same sequence. */
    private static final int LOOSE_BYTES = CHUNK_BYTES / 4;
    /** More chunks in one call would save little. */
    private static final int MAX_TOGETHER = 16;
    /** So much read singly in sequence moves the window there. */
    private static final int SEQUENCE_BYTES = CHUNK_BYTES / 2;

    private final long lengthBytes;
    private final int mostChunks;
    /** So many chunks at most come with one call. */
    private final int mostTogether;

    private final BufferBudget budget;

    // Guarded by the monitor. What is volatile is read without it, for hints.
    private final ArrayDeque<Chunk> chunks = new ArrayDeque<>();
    private volatile boolean closed;
    /** Where the window ends. */
    private volatile long nextOffset;
    /** Where it began to go forward. */
    private volatile long startOffset;

    private volatile long firstOffset;
    private int aheadBytes = FIRST_AHEAD_BYTES;
    /** Where the last sequence of single reads ends, and how long it is. */
    private volatile long singleEnd = Long.MIN_VALUE / 2;

    private long singleBytes;
    /** Copied from the window since it began there. */
    private long copiedBytes;

    /** @param mostBytes none: nothing is kept, and nothing fetched ahead */
    ReadAheadWindow(long lengthBytes, long mostBytes, BufferBudget budget) {
        this.lengthBytes = lengthBytes;
        this.mostChunks = (int) Math.max(0, mostBytes / CHUNK_BYTES);
        this.mostTogether = Math.min(MAX_TOGETHER, mostChunks / 2);
        this.budget = budget;
    }

    /** Is what is read here in the window, or next to be in it? Never waits; a hint. */
    boolean matches(long offset) {
        return (offset >= firstOffset && isNear(offset)) || continuesSingle(offset);
    }

    private boolean isNear(long offset) {
        long next = nextOffset;
        return offset - next < (next - startOffset > CHUNK_BYTES ? NEAR_BYTES : CHUNK_BYTES);
    }

    private boolean continuesSingle(long offset) {
        return Math.abs(offset - singleEnd) <= LOOSE_BYTES;
    }

    /** Copies what is here of this part, as far as there is room; others go on meanwhile. 0: nothing is. */
    int copy(long at, ByteBuffer into) {
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
        for (Chunk chunk : chunks) {
            if (chunk.covers(at)) {
                return chunk;
            }
        }
        return null;
    }

    /** Moves on so that this offset is in the window; what is to be fetched for that, or null when there is no more of it. */
    synchronized @Nullable Chunk advance(long at) {
        if (mostChunks == 0 || closed || at(at) != null) {
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

    /** So much was read there by itself. */
    synchronized void readSingly(long at, int count) {
        boolean continues = continuesSingle(at);
        singleBytes = continues ? singleBytes + count : count;
        singleEnd = continues ? Math.max(singleEnd, at + count) : at + count;
    }

    /** Is there to be more in the window, when so much is already read? A hint. */
    boolean wantsMore(long read) {
        long next = nextOffset;
        return mostChunks > 2
                && read - startOffset > CHUNK_BYTES
                && read <= next
                && next < lengthBytes
                && next - read < aheadBytes
                && !closed;
    }

    /**
     * Takes up what is to be fetched next with one call, if more is wanted.
     *
     * @param source null: it is not open yet
     * @param oneByOne not before the last chunk is there
     * @param helper has these chunks fetched, at some time; false: it does not, and the window stays as it is
     * @return is it being done?
     */
    synchronized boolean fetchNext(
            long read, @Nullable StoreReader source, boolean oneByOne, Predicate<List<Chunk>> helper) {
        Chunk last = chunks.peekLast();
        if (!wantsMore(read) || !isUsed() || (oneByOne && last != null && last.isFetching())) {
            return false;
        }
        List<Chunk> run = nextRun(read, source);
        if (run.isEmpty()) {
            return false;
        }
        boolean helped = helper.test(run);
        if (!helped) {
            takeBack(run);
        }
        return helped;
    }

    /** More of it the longer the sequence is, as far as there is memory. */
    private List<Chunk> nextRun(long read, @Nullable StoreReader source) {
        long most = Math.min(mostTogether, (nextOffset - startOffset) / (2 * CHUNK_BYTES));
        long end = nextOffset + (source == null || most < 2 ? 0 : source.rangeAvailable(nextOffset));
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

    private void takeBack(List<Chunk> run) {
        nextOffset = run.get(0).offset();
        for (Chunk chunk : run) {
            chunks.removeLast();
            giveBack(chunk.memory());
        }
    }

    /** One chunk more, to be fetched by who calls; null without memory for it. What comes after `read` keeps its own. */
    private @Nullable Chunk next(long read, boolean ahead) {
        ByteBuffer room = roomForChunk(read);
        if (room == null) {
            return null;
        }
        Chunk chunk = new Chunk(nextOffset, nextBytes(), room, ahead);
        chunks.addLast(chunk);
        firstOffset = chunks.getFirst().offset();
        nextOffset = chunk.offset() + chunk.lengthBytes();
        return chunk;
    }

    private @Nullable ByteBuffer roomForChunk(long read) {
        if (chunks.size() >= mostChunks) {
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

    /** Its memory; null: there is none, or it is being fetched, or read, or to be read. */
    private @Nullable ByteBuffer dropFirst(long read) {
        Chunk chunk = chunks.peekFirst();
        if (chunk == null
                || chunk.isFetching()
                || chunk.isPinned()
                || (isInSequence(chunk) && chunk.offset() + chunk.lengthBytes() > read)) {
            return null;
        }
        chunks.removeFirst();
        budget.wasted(chunk.wastedBytes());
        return chunk.memory();
    }

    private boolean isInSequence(Chunk chunk) {
        return chunk.offset() >= startOffset && chunk.offset() < nextOffset;
    }

    private void giveBack(ByteBuffer room) {
        budget.give(room.capacity());
        ChunkMemory.give(room);
    }

    /**
     * Told by who was to fetch it.
     *
     * @param count bytes that are here; 0: it failed
     */
    synchronized void fetched(Chunk chunk, int count) {
        chunk.fetched(count);
        budget.readAhead(count);
        if (chunk.isAbandoned()) {
            giveBack(chunk.memory());
        }
        notifyAll();
    }

    /** Did nobody say yet what came of it? */
    synchronized boolean isFetching(Chunk chunk) {
        return chunk.isFetching();
    }

    /** The same of what is to be here. */
    synchronized boolean isFetching(long at) {
        Chunk chunk = at(at);
        return chunk != null && chunk.isFetching();
    }

    /** Until whoever fetches what is to be here has done that. */
    synchronized void await(long at) throws InterruptedException {
        while (isFetching(at)) {
            wait();
        }
    }

    /** It takes too long: whoever asks for it next does not wait for it. */
    synchronized void abandon(long at) {
        Chunk chunk = at(at);
        if (chunk != null && chunk.isFetching()) {
            chunks.remove(chunk);
            chunk.abandon();
            notifyAll();
        }
    }

    /** Who has to wait for what was to be here already has more fetched ahead from now on. */
    synchronized void grow(long at) {
        Chunk chunk = at(at);
        if (chunk == null || !chunk.comesAhead()) {
            return;
        }
        aheadBytes = Math.max(aheadBytes, Math.min(2 * aheadBytes, (mostChunks - 2) * CHUNK_BYTES));
    }

    boolean isClosed() {
        return closed;
    }

    /** Nothing is kept any more. The memory of what is in use is given back by who uses it. */
    synchronized void close() {
        closed = true;
        for (Chunk chunk : chunks) {
            if (!chunk.isFetching()) {
                budget.wasted(chunk.wastedBytes());
            }
            if (chunk.isFetching() || chunk.isPinned()) {
                chunk.abandon();
            } else {
                giveBack(chunk.memory());
            }
        }
        chunks.clear();
        notifyAll();
    }
}

package io.posixgateway.alluxio.nodecache;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A piece of which parts were read, until all of it was. Guarded by its own monitor. */
final class Filling {
    private static final int CHUNK_BYTES = 1 << 20;

    final CacheKey file;
    final int index;
    private final int bytes;
    private final CacheVolume.Buffers buffers;
    private final @Nullable ByteBuffer[] chunks;
    /** Where each part that is here begins, and ends. */
    private final TreeMap<Integer, Integer> here = new TreeMap<>();

    private boolean ended;
    /** When some of it was read last. */
    private long readNanos;

    Filling(CacheKey file, int index, CacheVolume.Buffers buffers, long nowNanos) {
        this.readNanos = nowNanos;
        this.file = file;
        this.index = index;
        this.bytes = file.bytesOf(index);
        this.buffers = buffers;
        this.chunks = new ByteBuffer[(bytes + CHUNK_BYTES - 1) / CHUNK_BYTES];
    }

    /** Takes the memory for all of it; false: there is not so much, and none is taken. */
    synchronized boolean hasMemory() {
        for (int i = 0; i < chunks.length; i++) {
            int wanted = Math.min(CHUNK_BYTES, bytes - i * CHUNK_BYTES);
            ByteBuffer chunk = buffers.take(wanted);
            if (chunk == null) {
                giveBack();
                return false;
            }
            chunk.clear().limit(wanted);
            chunks[i] = chunk;
        }
        return true;
    }

    /**
     * @param at where in the piece; the data is left as it is
     * @return true: all is here, for the first time
     */
    synchronized boolean put(int at, ByteBuffer data, long nowNanos) {
        readNanos = nowNanos;
        if (isWhole() || ended) {
            return false;
        }
        int end = at + data.remaining();
        for (int next = at; next < end; ) {
            int into = next % CHUNK_BYTES;
            int count = Math.min(end - next, CHUNK_BYTES - into);
            Objects.requireNonNull(chunks[next / CHUNK_BYTES]).put(into, data, data.position() + next - at, count);
            next += count;
        }
        cover(at, end);
        return isWhole();
    }

    synchronized boolean isIdleFor(long nanos, long nowNanos) {
        return nowNanos - readNanos >= nanos;
    }

    private void cover(int from, int to) {
        int start = from;
        int end = to;
        Map.Entry<Integer, Integer> before = here.floorEntry(end);
        while (before != null && before.getValue() >= start) {
            start = Math.min(start, before.getKey());
            end = Math.max(end, before.getValue());
            here.remove(before.getKey());
            before = here.floorEntry(end);
        }
        here.put(start, end);
    }

    private boolean isWhole() {
        Integer end = here.get(0);
        return end != null && end == bytes;
    }

    /** Of one that is whole, which nobody changes any more. */
    synchronized List<ByteBuffer> content() {
        List<ByteBuffer> content = new ArrayList<>();
        for (ByteBuffer chunk : chunks) {
            if (chunk != null) {
                content.add(chunk.duplicate());
            }
        }
        return content;
    }

    /** It is not needed any more; a second time is harmless. */
    synchronized void end() {
        ended = true;
        giveBack();
    }

    private void giveBack() {
        for (int i = 0; i < chunks.length; i++) {
            ByteBuffer chunk = chunks[i];
            chunks[i] = null;
            if (chunk != null) {
                buffers.give(chunk.clear());
            }
        }
    }
}

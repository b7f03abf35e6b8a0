package io.posixgateway.alluxio.data;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Where chunks of files lie. Any thread.
 *
 * <p>Off the heap: on it an array of 1 MiB takes 2, as the collector gives such whole regions, and a full heap ends the process,
 * while whoever gets no chunk reads without one. What is given back is kept for others, of any volume, as making it anew means
 * zeroing it. Chunks of small files are on the heap.
 */
final class ChunkMemory {
    static final int CHUNK_BYTES = 1 << 20;
    private static final int SMALL_BYTES = CHUNK_BYTES / 4;
    private static final int MOST_KEPT = 64;
    /** Where there is none, to ask takes the JVM half a second. */
    private static final long PAUSE_NANOS = 10_000_000_000L;

    private static final ConcurrentLinkedDeque<ByteBuffer> KEPT = new ConcurrentLinkedDeque<>();
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final AtomicLong ASK_AGAIN = new AtomicLong(System.nanoTime());

    private ChunkMemory() {}

    /** What a chunk of so many bytes takes; at most a whole one. */
    static int bytesFor(long bytes) {
        return bytes <= SMALL_BYTES ? (int) bytes : CHUNK_BYTES;
    }

    /** @param bytes as {@link #bytesFor} says; null: there is no more */
    static @Nullable ByteBuffer take(int bytes) {
        if (bytes < CHUNK_BYTES) {
            return ByteBuffer.allocate(bytes);
        }
        ByteBuffer kept = KEPT.pollFirst();
        if (kept != null) {
            COUNT.decrementAndGet();
            return kept;
        }
        if (System.nanoTime() - ASK_AGAIN.get() < 0) {
            return null;
        }
        try {
            return ByteBuffer.allocateDirect(CHUNK_BYTES);
        } catch (OutOfMemoryError e) { // of direct memory only
            ASK_AGAIN.set(System.nanoTime() + PAUSE_NANOS);
            org.slf4j.LoggerFactory.getLogger(ChunkMemory.class)
                    .warn("No direct memory for reading ahead (POSIX_GATEWAY_DIRECT is the limit): {}", e.getMessage());
            return null;
        }
    }

    /** Nobody uses it any more. */
    static void give(ByteBuffer memory) {
        if (!memory.isDirect()) {
            return;
        }
        if (COUNT.incrementAndGet() > MOST_KEPT) {
            COUNT.decrementAndGet();
            return;
        }
        KEPT.addFirst(memory);
    }
}

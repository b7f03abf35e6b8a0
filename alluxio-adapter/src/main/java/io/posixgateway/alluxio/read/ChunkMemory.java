package io.posixgateway.alluxio.read;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Where chunks of files lie, for all volumes. Any thread.
 *
 * <p>Off the heap: on it an array of 1 MiB takes 2, as the collector gives such whole regions, and a full heap ends the process,
 * while whoever gets no chunk reads without one. All chunks together take half of what the JVM allows beside the heap, since
 * Alluxio's client counts its own memory apart and may take as much. What was made is kept until memory is short, as making it
 * anew means zeroing it. Chunks of small files are on the heap.
 */
final class ChunkMemory {
    static final int CHUNK_BYTES = 1 << 20;
    private static final int SMALL_BYTES = CHUNK_BYTES / 4;

    private static final ConcurrentLinkedDeque<ByteBuffer> FREE = new ConcurrentLinkedDeque<>();
    private static final AtomicLong MADE_BYTES = new AtomicLong();

    /** Asked for when the first chunk is. */
    private static final class Limit {
        static final long BYTES = directBytes() / 2;

        private static long directBytes() {
            long set = 0;
            try {
                HotSpotDiagnosticMXBean machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
                set = Long.parseLong(machine.getVMOption("MaxDirectMemorySize").getValue());
            } catch (RuntimeException e) {
                org.slf4j.LoggerFactory.getLogger(ChunkMemory.class)
                        .debug("The JVM does not report its limit of direct memory: {}", e.toString());
            }
            return set == 0 ? Runtime.getRuntime().maxMemory() : set;
        }
    }

    private ChunkMemory() {}

    /** What all chunks may take together. */
    static long limitBytes() {
        return Limit.BYTES;
    }

    /** What a chunk of so many bytes takes; at most a whole one. */
    static int bytesFor(long bytes) {
        return bytes <= SMALL_BYTES ? (int) bytes : CHUNK_BYTES;
    }

    /** @param bytes as {@link #bytesFor} says; null: there is no more */
    static @Nullable ByteBuffer take(int bytes) {
        if (bytes < CHUNK_BYTES) {
            return ByteBuffer.allocate(bytes);
        }
        ByteBuffer free = FREE.pollFirst();
        return free == null ? make() : free;
    }

    private static @Nullable ByteBuffer make() {
        if (MADE_BYTES.addAndGet(CHUNK_BYTES) <= Limit.BYTES) {
            try {
                return ByteBuffer.allocateDirect(CHUNK_BYTES);
            } catch (OutOfMemoryError e) { // beside the heap
                org.slf4j.LoggerFactory.getLogger(ChunkMemory.class)
                        .warn("No memory to read ahead: {}", e.getMessage());
            }
        }
        MADE_BYTES.addAndGet(-CHUNK_BYTES);
        return null;
    }

    /** Nobody uses it any more. */
    static void give(ByteBuffer memory) {
        if (memory.isDirect()) {
            FREE.addFirst(memory);
        }
    }

    /** What nobody uses is kept no longer. */
    static void giveBack() {
        while (FREE.pollFirst() != null) {
            MADE_BYTES.addAndGet(-CHUNK_BYTES);
        }
    }
}

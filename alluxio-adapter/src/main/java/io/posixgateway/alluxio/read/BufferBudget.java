package io.posixgateway.alluxio.read;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A number of bytes that windows of a volume may hold at the same time, out of those of the process, and what was done with
 * them. Any thread; never waits.
 */
public final class BufferBudget {
    private final long totalBytes;
    private final ReadMemory shared;
    private final AtomicLong usedBytes = new AtomicLong();
    private final LongAdder readAhead = new LongAdder();
    private final LongAdder wasted = new LongAdder();

    /** @param totalBytes ceiling of this volume */
    public BufferBudget(long totalBytes) {
        this(totalBytes, ReadMemory.ofProcess());
    }

    BufferBudget(long totalBytes, ReadMemory shared) {
        this.totalBytes = totalBytes;
        this.shared = shared;
        shared.join();
    }

    /** The volume reads no more; what it still holds counts until it is given back. */
    void close() {
        shared.leave();
    }

    /** False: not so much is left, and nothing was taken. */
    public boolean take(long bytes) {
        long used = usedBytes.addAndGet(bytes);
        if (used > totalBytes || !shared.take(bytes, used)) {
            usedBytes.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    public void give(long bytes) {
        usedBytes.addAndGet(-bytes);
        shared.give(bytes);
    }

    /** Memory that is kept for windows to come, of any volume, is given back to the collector. */
    public static void giveBackUnused() {
        ChunkMemory.giveBack();
    }

    public long usedBytes() {
        return usedBytes.get();
    }

    public long totalBytes() {
        return totalBytes;
    }

    /** Bytes were read ahead into held memory. */
    void readAhead(long bytes) {
        readAhead.add(bytes);
    }

    /** Bytes read ahead were dropped, and nobody had asked for them. */
    void wasted(long bytes) {
        wasted.add(bytes);
    }

    public long readAheadBytes() {
        return readAhead.sum();
    }

    public long wastedBytes() {
        return wasted.sum();
    }
}

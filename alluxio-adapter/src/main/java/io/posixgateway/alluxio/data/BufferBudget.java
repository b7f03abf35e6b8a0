package io.posixgateway.alluxio.data;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** A number of bytes that may be held at the same time, and what was done with them. Any thread; never waits. */
public final class BufferBudget {
    private final long totalBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private final LongAdder readAhead = new LongAdder();
    private final LongAdder wasted = new LongAdder();

    public BufferBudget(long totalBytes) {
        this.totalBytes = totalBytes;
    }

    /** False: not so much is left, and nothing was taken. */
    public boolean take(long bytes) {
        long used = usedBytes.addAndGet(bytes);
        if (used > totalBytes) {
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

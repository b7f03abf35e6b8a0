package io.posixgateway.alluxio.read;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that windows of all volumes of a process may hold together. A volume with more than an equal share does not get the
 * last quarter: others, whose readers come later, find some of theirs. Any thread; never waits.
 */
final class ReadMemory {
    private static final int LAST_PART = 4;

    private final long totalBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private final AtomicInteger volumes = new AtomicInteger();

    ReadMemory(long totalBytes) {
        this.totalBytes = totalBytes;
    }

    /** Made when the first volume is. */
    private static final class OfProcess {
        static final ReadMemory ALL = new ReadMemory(ChunkMemory.limitBytes());
    }

    static ReadMemory ofProcess() {
        return OfProcess.ALL;
    }

    void join() {
        volumes.incrementAndGet();
    }

    void leave() {
        volumes.decrementAndGet();
    }

    /**
     * @param ownBytes what the volume holds with these
     * @return false: it gets none, and nothing was taken
     */
    boolean take(long bytes, long ownBytes) {
        boolean isBeyondShare = ownBytes > totalBytes / Math.max(1, volumes.get());
        long most = isBeyondShare ? totalBytes - totalBytes / LAST_PART : totalBytes;
        if (usedBytes.addAndGet(bytes) > most) {
            usedBytes.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    void give(long bytes) {
        usedBytes.addAndGet(-bytes);
    }

    long usedBytes() {
        return usedBytes.get();
    }
}

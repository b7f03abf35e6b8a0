package io.posixgateway.alluxio.data;

import java.util.concurrent.atomic.AtomicLong;

/** A number of bytes that may be held at the same time. Any thread; never waits. */
public final class BufferBudget {
    private final long totalBytes;
    private final AtomicLong usedBytes = new AtomicLong();

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
    }

    public long usedBytes() {
        return usedBytes.get();
    }
}

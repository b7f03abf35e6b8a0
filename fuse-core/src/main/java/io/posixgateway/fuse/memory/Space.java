package io.posixgateway.fuse.memory;

import java.util.concurrent.atomic.AtomicLong;

/** The bytes that a file system may hold, and those it holds. Any thread. */
final class Space {
    private final long capacityBytes;
    private final AtomicLong usedBytes = new AtomicLong();

    Space(long capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    /** Takes bytes; false, and nothing taken, when fewer are free. */
    boolean take(long bytes) {
        if (usedBytes.addAndGet(bytes) <= capacityBytes) {
            return true;
        }
        usedBytes.addAndGet(-bytes);
        return false;
    }

    void give(long bytes) {
        usedBytes.addAndGet(-bytes);
    }

    long capacityBytes() {
        return capacityBytes;
    }

    long usedBytes() {
        return usedBytes.get();
    }

    long freeBytes() {
        return Math.max(0, capacityBytes - usedBytes.get());
    }
}

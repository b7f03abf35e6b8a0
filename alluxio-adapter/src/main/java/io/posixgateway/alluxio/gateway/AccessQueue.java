package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.dispatch.RequestRecord;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Records on their way to one reader. {@link #offer} by any thread: it never waits, and drops the record when the reader is
 * too far behind. {@link #poll} by the reader.
 */
public final class AccessQueue {
    private final int most;
    private final Queue<RequestRecord> records = new ConcurrentLinkedQueue<>();
    private final AtomicInteger size = new AtomicInteger();
    private final LongAdder dropped = new LongAdder();

    AccessQueue(int most) {
        this.most = most;
    }

    void offer(RequestRecord record) {
        if (size.incrementAndGet() > most) {
            size.decrementAndGet();
            dropped.increment();
            return;
        }
        records.add(record);
    }

    /** The oldest record; null: there is none now. */
    @Nullable
    RequestRecord poll() {
        RequestRecord record = records.poll();
        if (record != null) {
            size.decrementAndGet();
        }
        return record;
    }

    /** Records for which there was no room. */
    public long dropped() {
        return dropped.sum();
    }
}

package io.posixgateway.fuse.metrics;

import java.util.concurrent.atomic.AtomicLongArray;

/** Counts durations of one kind that is rare beside requests. Any thread; takes no lock and allocates nothing. */
public final class DurationCounter {
    private static final int NANOS = LatencyBuckets.COUNT;

    private final AtomicLongArray counts = new AtomicLongArray(LatencyBuckets.COUNT + 1);

    /** One more. */
    public void add(long nanos) {
        counts.incrementAndGet(LatencyBuckets.indexOf(nanos));
        counts.addAndGet(NANOS, nanos);
    }

    /** Those counted so far. */
    public Latencies latencies() {
        long[] found = new long[LatencyBuckets.COUNT];
        for (int i = 0; i < found.length; i++) {
            found[i] = counts.get(i);
        }
        return new Latencies(found, counts.get(NANOS));
    }
}

package io.posixgateway.fuse.metrics;

/** The latencies of one opcode at one moment. */
public final class Latencies {
    private final long[] counts;
    private final long sumNanos;

    /**
     * @param counts per bucket of {@link LatencyBuckets}; taken over
     * @param sumNanos of all durations
     */
    public Latencies(long[] counts, long sumNanos) {
        this.counts = counts;
        this.sumNanos = sumNanos;
    }

    /** How many durations lie in a bucket of {@link LatencyBuckets}. */
    public long countIn(int bucket) {
        return counts[bucket];
    }

    /** All durations added up. */
    public long sumNanos() {
        return sumNanos;
    }

    /** How many durations there are. */
    public long count() {
        long total = 0;
        for (long count : counts) {
            total += count;
        }
        return total;
    }

    /** The bound below which the given part (0…1) of the durations lies; 0 when there are none. */
    public long quantileNanos(double part) {
        long wanted = (long) Math.ceil(count() * part);
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= wanted && seen > 0) {
                return LatencyBuckets.upperBoundNanos(i);
            }
        }
        return 0;
    }
}

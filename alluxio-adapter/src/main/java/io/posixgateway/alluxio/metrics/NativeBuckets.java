package io.posixgateway.alluxio.metrics;

import io.posixgateway.fuse.metrics.Latencies;
import io.posixgateway.fuse.metrics.LatencyBuckets;
import io.prometheus.metrics.model.snapshots.NativeHistogramBuckets;
import java.util.Map;
import java.util.TreeMap;

/**
 * The buckets of a session as those of a native histogram.
 *
 * <p>Both have four buckets per power of two, but with other bounds: a count goes where the middle of its bucket is, so that a
 * value is known to 25 % here as there.
 */
final class NativeBuckets {
    /** 2<sup>2</sup> buckets per power of two. */
    static final int SCHEMA = 2;

    private static final double NANOS = 1e9;

    /** Faster than this counts as zero. */
    static final double ZERO_THRESHOLD_SECONDS = LatencyBuckets.upperBoundNanos(0) / NANOS;

    private NativeBuckets() {}

    static NativeHistogramBuckets of(Latencies latencies) {
        Map<Integer, Long> counts = new TreeMap<>();
        for (int i = 1; i < LatencyBuckets.COUNT; i++) {
            long count = latencies.countIn(i);
            if (count > 0) {
                counts.merge(indexOf(middleSeconds(i)), count, Long::sum);
            }
        }
        NativeHistogramBuckets.Builder buckets = NativeHistogramBuckets.builder();
        counts.forEach(buckets::bucket);
        return buckets.build();
    }

    private static double middleSeconds(int bucket) {
        double from = LatencyBuckets.upperBoundNanos(bucket - 1);
        double to = bucket == LatencyBuckets.COUNT - 1 ? from : LatencyBuckets.upperBoundNanos(bucket);
        return Math.sqrt(from * to) / NANOS;
    }

    /** The bucket with this index holds what is above 2^((index-1)/4) seconds, up to 2^(index/4). */
    private static int indexOf(double seconds) {
        return (int) Math.ceil(Math.log(seconds) / Math.log(2) * (1 << SCHEMA));
    }
}

package io.posixgateway.fuse.metrics;

/**
 * The bounds of a latency histogram: four buckets per power of two from 256 ns to 68 s, one below and one above.
 *
 * <p>A bucket is found by shifts alone; a value is known to 25 %.
 */
public final class LatencyBuckets {
    private static final int LOWEST_POWER = 8;
    private static final int HIGHEST_POWER = 36;
    private static final int PARTS_POWER = 2;
    private static final int PARTS = 1 << PARTS_POWER;

    /** How many buckets there are. */
    public static final int COUNT = (HIGHEST_POWER - LOWEST_POWER) * PARTS + 2;

    private LatencyBuckets() {}

    /** The bucket of a duration. */
    public static int indexOf(long nanos) {
        if (nanos < 1L << LOWEST_POWER) {
            return 0;
        }
        int power = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos);
        if (power >= HIGHEST_POWER) {
            return COUNT - 1;
        }
        int part = (int) (nanos >>> (power - PARTS_POWER)) & (PARTS - 1);
        return 1 + (power - LOWEST_POWER) * PARTS + part;
    }

    /** The first duration that is above the bucket; Long.MAX_VALUE for the last one. */
    public static long upperBoundNanos(int index) {
        if (index == COUNT - 1) {
            return Long.MAX_VALUE;
        }
        if (index == 0) {
            return 1L << LOWEST_POWER;
        }
        int power = LOWEST_POWER + (index - 1) / PARTS;
        int part = (index - 1) % PARTS;
        return (long) (PARTS + part + 1) << (power - PARTS_POWER);
    }
}

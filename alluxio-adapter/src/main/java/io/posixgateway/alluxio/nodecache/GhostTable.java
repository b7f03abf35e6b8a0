package io.posixgateway.alluxio.nodecache;

/**
 * The ghost queue of {@link S3Fifo}: which pieces were evicted last, without them. As the paper proposes, it is a hash table of
 * fingerprints with the time of each eviction, counted in evictions, and an entry ends by its age; an entry that finds no free place takes
 * the oldest of a few. Guarded by the table's monitor.
 */
final class GhostTable {
    private static final int WAYS = 4;
    private static final int MIN_SIZE = 1 << 10;

    private int[] fingerprints = new int[MIN_SIZE];
    private int[] times = new int[MIN_SIZE];
    private int now = 1;

    /** @param capacity how many evictions are remembered */
    void add(long hash, int capacity) {
        if (fingerprints.length < 2L * capacity) {
            fingerprints = new int[Integer.highestOneBit(capacity) * 4];
            times = new int[fingerprints.length];
        }
        int start = start(hash);
        int oldest = start;
        for (int i = start; i < start + WAYS; i++) {
            if (now - times[i] > now - times[oldest] || times[i] == 0) {
                oldest = i;
            }
        }
        fingerprints[oldest] = fingerprint(hash);
        times[oldest] = now++;
    }

    /** Whether it was evicted not longer than that ago; it is no ghost any more. */
    boolean remove(long hash, int capacity) {
        int start = start(hash);
        for (int i = start; i < start + WAYS; i++) {
            if (times[i] != 0 && fingerprints[i] == fingerprint(hash) && now - times[i] <= capacity) {
                times[i] = 0;
                return true;
            }
        }
        return false;
    }

    private int start(long hash) {
        return (int) hash & (fingerprints.length - 1) & -WAYS;
    }

    private static int fingerprint(long hash) {
        return (int) (hash >>> 32);
    }
}

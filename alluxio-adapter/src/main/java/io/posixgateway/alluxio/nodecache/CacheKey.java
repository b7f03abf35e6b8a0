package io.posixgateway.alluxio.nodecache;

/**
 * One version of one file. A changed file gets another id, length or time of modification; and where an id names another file, as in an
 * Alluxio restored from a backup, that was made at another time. So what is found by a key is what Alluxio would send for it.
 *
 * @param tenant who may find it; names the cluster, too
 * @param fileId Alluxio's
 * @param version see {@link io.posixgateway.alluxio.meta.Attr#version}
 */
public record CacheKey(Tenant tenant, long fileId, long lengthBytes, long version) {
    /** All pieces have this length, but the last one of a file. */
    public static final int PIECE_BYTES = 4 << 20;

    /** How many pieces the file has. */
    public int pieces() {
        return (int) ((lengthBytes + PIECE_BYTES - 1) / PIECE_BYTES);
    }

    /** False for a file that is empty, or too long to be counted in pieces. */
    boolean isCacheable() {
        return lengthBytes > 0 && lengthBytes / PIECE_BYTES < Integer.MAX_VALUE;
    }

    public int bytesOf(int piece) {
        return (int) Math.min(PIECE_BYTES, lengthBytes - (long) piece * PIECE_BYTES);
    }

    /** Spread over all 64 bits. */
    long hash(int piece) {
        long hash = mix(tenant.id() ^ fileId);
        hash = mix(hash ^ lengthBytes);
        hash = mix(hash ^ version);
        return mix(hash ^ piece);
    }

    /** The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
    private static long mix(long number) {
        long mixed = number + 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}

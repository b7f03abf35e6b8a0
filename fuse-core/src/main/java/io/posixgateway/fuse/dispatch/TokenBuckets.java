package io.posixgateway.fuse.dispatch;

/**
 * Token buckets of a {@link RateLimit}, one of bytes and one of requests, each as the moment until which all that was reserved is
 * paid for (the generic cell rate algorithm): no timer fills them. What is left unused for a second may be used at once. A request
 * starts when what was reserved before it is paid for, however large it is itself; so requests start in the order in which they came.
 *
 * <p>Any thread. Moments are those of one {@link io.posixgateway.fuse.time.Clock}, compared by their differences.
 */
final class TokenBuckets {
    private static final long SECOND = 1_000_000_000L;
    private static final long BURST_NANOS = SECOND;

    private final RateLimit limit;
    // Guarded by this.
    private long bytesPaidUntil;
    private long requestsPaidUntil;

    TokenBuckets(RateLimit limit, long now) {
        this.limit = limit;
        bytesPaidUntil = now - BURST_NANOS;
        requestsPaidUntil = now - BURST_NANOS;
    }

    /**
     * Reserves tokens of one request.
     *
     * @param bytes it moves at most
     * @return in how many nanoseconds it may start; 0: now
     */
    synchronized long reserve(long bytes, long now) {
        long delay = 0;
        if (limit.requestsPerSecond() > 0) {
            long start = start(requestsPaidUntil, now);
            requestsPaidUntil = now + start + requestNanos();
            delay = Math.max(delay, start);
        }
        if (limit.bytesPerSecond() > 0 && bytes > 0) {
            long start = start(bytesPaidUntil, now);
            bytesPaidUntil = now + start + byteNanos(bytes);
            delay = Math.max(delay, start);
        }
        return delay;
    }

    /** Gives back what was reserved and not used. */
    synchronized void giveBack(int requests, long bytes) {
        requestsPaidUntil -= limit.requestsPerSecond() > 0 ? requests * requestNanos() : 0;
        bytesPaidUntil -= limit.bytesPerSecond() > 0 ? byteNanos(bytes) : 0;
    }

    /** From now; negative: so much of the burst is left. */
    private static long start(long paidUntil, long now) {
        return Math.max(paidUntil - now, -BURST_NANOS);
    }

    private long requestNanos() {
        return SECOND / limit.requestsPerSecond();
    }

    /** Of 8 GiB at most, which no request exceeds. */
    private long byteNanos(long bytes) {
        return bytes * SECOND / limit.bytesPerSecond();
    }
}

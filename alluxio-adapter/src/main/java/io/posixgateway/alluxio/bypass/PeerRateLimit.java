package io.posixgateway.alluxio.bypass;

import io.posixgateway.fuse.time.Clock;

/**
 * How many questions a peer may ask: so many in a second, and as many at once. Peers share one of a fixed number of places,
 * so that many of them take no memory. One thread.
 */
final class PeerRateLimit {
    private static final int PLACES = 1024;

    private final long intervalNanos;
    private final long burstNanos;
    private final Clock clock;
    /** When the place will be as good as unused. */
    private final long[] paidNanos = new long[PLACES];

    PeerRateLimit(int perSecond, Clock clock) {
        this.intervalNanos = 1_000_000_000L / perSecond;
        this.burstNanos = 1_000_000_000L;
        this.clock = clock;
        java.util.Arrays.fill(paidNanos, clock.nanos() - burstNanos);
    }

    boolean allows(long uid, long pid) {
        int place = (int) (((uid * 31 + pid) * 0x9E37_79B9_7F4A_7C15L) >>> 54);
        long now = clock.nanos();
        long paid = paidNanos[place];
        if (paid - now < 0) {
            paid = now;
        }
        if (paid - now > burstNanos) {
            return false;
        }
        paidNanos[place] = paid + intervalNanos;
        return true;
    }
}

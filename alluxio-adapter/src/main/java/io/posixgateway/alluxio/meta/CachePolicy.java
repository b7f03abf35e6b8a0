package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.time.Clock;

/** How long cached metadata is valid (TTL), and when an open revalidates it. Immutable. */
public final class CachePolicy {
    /** What a program may see of changes made by others. */
    public enum Consistency {
        /**
         * Open asks Alluxio unless it did so a moment ago, so that what was closed before that is seen; between opens the
         * time to live holds.
         */
        CLOSE_TO_OPEN,
        /** Everything is believed for the time to live, open included. */
        TTL,
        /** Files never change: everything is believed for ever, and the kernel keeps its pages. */
        IMMUTABLE
    }

    private static final long FOR_EVER_NANOS = 365L * 24 * 3600 * 1_000_000_000L;

    private final Consistency consistency;
    private final long ttlNanos;
    private final long openNanos;
    private final long missingNanos;
    private final Clock clock;

    /**
     * @param openNanos how old may be what an open with close-to-open believes
     * @param missingNanos how long a name is believed to be missing without asking whether its directory changed
     * @param clock nanoseconds that only go forward
     */
    public CachePolicy(Consistency consistency, long ttlNanos, long openNanos, long missingNanos, Clock clock) {
        this.consistency = consistency;
        this.ttlNanos = consistency == Consistency.IMMUTABLE ? FOR_EVER_NANOS : ttlNanos;
        this.openNanos = consistency == Consistency.CLOSE_TO_OPEN ? Math.min(openNanos, this.ttlNanos) : this.ttlNanos;
        this.missingNanos =
                consistency == Consistency.IMMUTABLE ? FOR_EVER_NANOS : Math.min(missingNanos, this.ttlNanos);
        this.clock = clock;
    }

    Clock clock() {
        return clock;
    }

    public long nowNanos() {
        return clock.nanos();
    }

    /** For how long what was seen then may still be believed, in nanoseconds; 0 or less: no longer. */
    public long leftNanos(long seenNanos) {
        return seenNanos + ttlNanos - clock.nanos();
    }

    public boolean fresh(long seenNanos) {
        return leftNanos(seenNanos) > 0;
    }

    /** For how long a name that was seen to be missing then may still be believed to be, without asking; 0 or less: no longer. */
    public long missingLeftNanos(long seenNanos) {
        return seenNanos + missingNanos - clock.nanos();
    }

    /** Is a name believed to be missing at all? */
    boolean believesMissing() {
        return missingNanos > 0;
    }

    /** May an open believe what was seen then? */
    public boolean validAtOpen(long seenNanos) {
        return seenNanos + openNanos - clock.nanos() > 0;
    }

    /** Is there anything that an open believes? */
    public boolean trustsAtOpen() {
        return openNanos > 0;
    }

    /** Will the next open soon believe it as well? */
    boolean isValidAtOpen(long seenNanos) {
        return openNanos == 0 || seenNanos + openNanos / 2 - clock.nanos() > 0;
    }

    /** Will what was seen then soon be too old, for opens too? */
    boolean expiresSoon(long seenNanos) {
        return leftNanos(seenNanos) < openNanos + openNanos / 2;
    }

    /** How long what was seen is believed. */
    public long ttlNanos() {
        return ttlNanos;
    }

    /** The same for an open. */
    public long openNanos() {
        return openNanos;
    }

    public boolean immutable() {
        return consistency == Consistency.IMMUTABLE;
    }
}

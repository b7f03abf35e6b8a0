package io.posixgateway.alluxio.service;

import io.posixgateway.alluxio.options.OptionValues;

/**
 * How long a request may take before the watchdog acts; 0: it never does.
 *
 * @param slowNanos its age from which it is named in the log
 * @param interruptNanos how long its present call to Alluxio may take before that is interrupted
 * @param abortNanos its age from which the whole connection is aborted
 */
public record WatchLimits(long slowNanos, long interruptNanos, long abortNanos) {
    /** The values of a table that holds {@link MountOptions#SESSION}. */
    public static WatchLimits of(OptionValues values) {
        return new WatchLimits(
                values.millis("slow_request") * 1_000_000L,
                values.millis("interrupt_after") * 1_000_000L,
                values.millis("abort_after") * 1_000_000L);
    }

    /** The shortest of them; Long.MAX_VALUE when none is set. */
    long shortestNanos() {
        return Math.min(set(slowNanos), Math.min(set(interruptNanos), set(abortNanos)));
    }

    private static long set(long nanos) {
        return nanos == 0 ? Long.MAX_VALUE : nanos;
    }
}

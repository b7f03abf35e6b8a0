package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.metrics.CallerProcess;
import io.posixgateway.fuse.wire.Opcode;
import java.util.function.IntFunction;

/**
 * How long a request may take before the watchdog acts; 0: it never does.
 *
 * @param slowNanos its age from which it is named in the log
 * @param interruptNanos how long its present call to Alluxio may take before that is interrupted
 * @param abortNanos its age from which the whole connection is aborted
 */
public record WatchLimits(long slowNanos, long interruptNanos, long abortNanos) {
    private static final long SIGNALLED_NANOS = 2_000_000_000L;
    private static final long SIGNALLED_WITH_DATA_NANOS = 10_000_000_000L;

    /** The values of a table that holds {@link MountOptions#SESSION}. */
    public static WatchLimits of(OptionValues values) {
        return new WatchLimits(
                values.millis("slow_request") * 1_000_000L,
                values.millis("interrupt_after") * 1_000_000L,
                values.millis("abort_after") * 1_000_000L);
    }

    /** The shortest age at which anything may have to be done. */
    long shortestNanos() {
        return Math.min(Math.min(set(slowNanos), SIGNALLED_NANOS), Math.min(set(interruptNanos), set(abortNanos)));
    }

    /**
     * How long a request's call to Alluxio may take before it is interrupted; 0: for ever, as a listing may, for which the master
     * reads a directory of the under file system. Not for long when a signal ends it:
     * a program that is being killed ends only when its request is answered. What carries data gets more time, because
     * the program may live on; but only once, as a commit makes several calls, of which none will fare better.
     *
     * @param signalled does a signal of its program end it? See {@link #isEnded}
     * @param before was a call of this request interrupted already?
     */
    long interruptNanos(InFlightRequest request, boolean signalled, boolean before) {
        if (!signalled) {
            return request.unlimited() ? 0 : interruptNanos;
        }
        if (before) {
            return Math.min(SIGNALLED_NANOS, set(interruptNanos));
        }
        long limit = hasData(request) ? SIGNALLED_WITH_DATA_NANOS : SIGNALLED_NANOS;
        return Math.min(limit, set(interruptNanos));
    }

    /**
     * Returns whether a signal of its program ends a request. Timers and children send signals to programs that live on: those end neither
     * what takes as long as it takes, nor a write into a stream, whose file would be lost. A program in another PID namespace may
     * live, too: its data wait for their end.
     */
    static boolean isEnded(InFlightRequest request, IntFunction<CallerProcess.State> callers) {
        if (!request.callerInterrupted()) {
            return false;
        }
        if (!request.unlimited() && request.opcode() != Opcode.WRITE) {
            return true;
        }
        return switch (callers.apply(request.pid())) {
            case LIVES -> false;
            case KILLED -> true;
            case UNSEEN -> !hasData(request);
        };
    }

    private static boolean hasData(InFlightRequest request) {
        return switch (request.opcode()) {
            case WRITE, FLUSH, FSYNC, RELEASE -> true;
            default -> false;
        };
    }

    private static long set(long nanos) {
        return nanos == 0 ? Long.MAX_VALUE : nanos;
    }
}

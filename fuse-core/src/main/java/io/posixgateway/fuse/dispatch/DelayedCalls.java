package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests that a {@link RateLimit} delays, until their turn comes. They hold a slot of the transport, and no thread.
 *
 * <p>A program that is being killed ends when its request is answered, and the kernel does not say which signal it was: an interrupted
 * request waits {@value #INTERRUPTED_NANOS} ns longer at most, and takes no tokens then. So nobody gets EINTR from a limit, and
 * signals gain little.
 *
 * <p>Any thread. Whoever takes a request out of the table ends its delay, once.
 */
final class DelayedCalls {
    static final long INTERRUPTED_NANOS = 1_000_000_000L;

    private final TokenBuckets buckets;
    private final long maxCopyBytes;
    private final SessionMetrics metrics;
    private final HandoverPool.Later later;
    /** By {@link Call#unique}. Guarded by this. */
    private final Map<Long, Delayed> delayed = new HashMap<>();

    /** One request's wait. */
    private static final class Delayed {
        private final Call call;
        private final Turn turn;
        private final long dueNanos;

        Delayed(Call call, Turn turn, long dueNanos) {
            this.call = call;
            this.turn = turn;
            this.dueNanos = dueNanos;
        }
    }

    /** What becomes of a request when its delay is over. */
    @FunctionalInterface
    interface Turn {
        void comes(Call call);
    }

    DelayedCalls(RateLimit limit, SessionMetrics metrics, HandoverPool.Later later) {
        this.buckets = new TokenBuckets(limit, metrics.clock().nanos());
        this.maxCopyBytes = FileOperations.maxCopyBytes(limit);
        this.metrics = metrics;
        this.later = later;
    }

    /** Null where nothing is limited. */
    static @Nullable DelayedCalls of(RateLimit limit, SessionMetrics metrics, HandoverPool.Later later) {
        return limit.isSet() ? new DelayedCalls(limit, metrics, later) : null;
    }

    /** Takes the tokens of a request that has just begun: in how many nanoseconds its turn is; 0: now. */
    long reserve(Call call) {
        call.reservedBytes = 0;
        if (!isLimited(call.opcode) || !call.complete()) {
            return 0;
        }
        call.reservedBytes = bytesOf(call);
        return buckets.reserve(call.reservedBytes, metrics.clock().nanos());
    }

    /** It is executed: a read that brought less than it asked for, or nothing, pays for what it brought. */
    void executed(Call call, int result) {
        long unused = call.opcode == Opcode.READ ? call.reservedBytes - Math.max(result, 0) : 0;
        if (unused > 0) {
            buckets.giveBack(0, unused);
        }
    }

    /** What ends a session or brings it back to rest is not held up: others wait for that. */
    private static boolean isLimited(Opcode opcode) {
        return switch (opcode) {
            case INIT, DESTROY, RELEASE, RELEASEDIR -> false;
            default -> opcode.answered();
        };
    }

    private long bytesOf(Call call) {
        return switch (call.opcode) {
            case READ, WRITE -> Math.max(0, call.int32(Layouts.READ_IN_SIZE));
            case COPY_FILE_RANGE -> Math.max(0, Math.min(call.int64(Layouts.COPY_FILE_RANGE_IN_LEN), maxCopyBytes));
            default -> 0;
        };
    }

    /** From now on the limit holds it up. On its thread. */
    void begin(Call call) {
        call.delayedSinceNanos = metrics.clock().nanos();
        call.delayed = true;
        metrics.delayBegan();
    }

    /** Until now it did. On the thread that has the request. */
    void end(Call call) {
        long nanos = metrics.clock().nanos() - call.delayedSinceNanos;
        metrics.delayEnded(nanos);
        call.beganNanos += nanos; // its age is what the file system and the pool make it wait
        call.delayed = false;
    }

    /** Takes over a request that {@link #begin began} to wait; its turn comes on a thread that it must not hold up. */
    void add(Call call, long dueNanos, Turn turn) {
        Delayed one = new Delayed(call, turn, dueNanos);
        long unique = call.unique();
        synchronized (this) {
            delayed.put(unique, one);
        }
        later.run(() -> end(unique, one), dueNanos - metrics.clock().nanos());
        if (call.interrupted) {
            interrupt(unique);
        }
    }

    /** Its program got a signal. */
    void interrupt(long unique) {
        Delayed one;
        synchronized (this) {
            one = delayed.get(unique);
        }
        if (one != null && one.dueNanos - metrics.clock().nanos() > INTERRUPTED_NANOS) {
            later.run(() -> end(unique, one), INTERRUPTED_NANOS);
        }
    }

    private void end(long unique, Delayed one) {
        synchronized (this) {
            if (!delayed.remove(unique, one)) {
                return;
            }
        }
        end(one, one.turn);
    }

    private void end(Delayed one, Turn turn) {
        Call call = one.call;
        if (one.dueNanos - metrics.clock().nanos() > 0) {
            buckets.giveBack(1, call.reservedBytes);
            call.reservedBytes = 0;
        }
        end(call);
        turn.comes(call);
    }

    /** Ends all delays; the calling thread sees to the requests. */
    void endAll(Turn turn) {
        List<Delayed> all;
        synchronized (this) {
            all = List.copyOf(delayed.values());
            delayed.clear();
        }
        all.forEach(one -> end(one, turn));
    }
}

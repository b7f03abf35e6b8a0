package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests that a {@link RateLimit} delays, until their turn comes: first in first out at each of the two limits, that of requests
 * before that of bytes. They hold no thread and, where a transport can do without, no slot.
 *
 * <p>A program that is being killed ends when its request is answered, and the kernel does not say which signal it was: an interrupted
 * request waits {@value #INTERRUPTED_NANOS} ns longer at most, and takes no tokens then. So nobody gets EINTR from a limit, and
 * signals gain little.
 *
 * <p>Any thread. A timer runs for the next turn, and none for each request. Whoever takes a request out of its queue ends its delay,
 * once.
 */
final class DelayedCalls {
    static final long INTERRUPTED_NANOS = 1_000_000_000L;

    private final long maxCopyBytes;
    private final SessionMetrics metrics;
    private final BlockingPool.Later later;
    // Guarded by this.
    private final @Nullable LimitQueue requests;
    private final @Nullable LimitQueue bytes;
    /** Those that wait and are interrupted, and some whose delay is over; the first one waits no longer before the others. */
    private final Deque<DelayedCall> interrupted = new ArrayDeque<>();
    /** When the timers end that run, the next one first. A new one is for an earlier moment than all. */
    private final Deque<Long> timers = new ArrayDeque<>();

    /** What becomes of a request when its delay is over. */
    @FunctionalInterface
    interface Turn {
        void comes(Call call);
    }

    DelayedCalls(RateLimit limit, SessionMetrics metrics, BlockingPool.Later later) {
        long now = metrics.clock().nanos();
        this.requests = LimitQueue.of(limit.requestsPerSecond(), now);
        this.bytes = LimitQueue.of(limit.bytesPerSecond(), now);
        this.maxCopyBytes = FileOperations.maxCopyBytes(limit);
        this.metrics = metrics;
        this.later = later;
    }

    /** Null where nothing is limited. */
    static @Nullable DelayedCalls of(RateLimit limit, SessionMetrics metrics, BlockingPool.Later later) {
        return limit.isSet() ? new DelayedCalls(limit, metrics, later) : null;
    }

    /** Takes the tokens of a request that has just begun; false: it has to wait for them, so {@link #add} it. */
    boolean mayStart(Call call) {
        call.reservedBytes = 0;
        call.hasRequestToken = false;
        if (!isLimited(call.opcode) || !call.complete()) {
            return true;
        }
        long needed = bytes == null ? 0 : bytesOf(call);
        long now = metrics.clock().nanos();
        synchronized (this) {
            call.hasRequestToken = requests == null || requests.take(1, now);
            if (!call.hasRequestToken || (bytes != null && needed > 0 && !bytes.take(needed, now))) {
                return false;
            }
        }
        call.reservedBytes = needed;
        return true;
    }

    /** It is executed: a read that brought less than it asked for, or nothing, pays for what it brought. */
    void executed(Call call, int result) {
        long unused = call.opcode == Opcode.READ ? call.reservedBytes - Math.max(result, 0) : 0;
        if (unused > 0 && bytes != null) {
            synchronized (this) {
                bytes.giveBack(unused);
                setTimer();
            }
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

    /**
     * Takes over a request that {@link #mayStart may not start}; its turn comes on a thread that it must not hold up.
     *
     * @param holdsThread the turn is awaited by the request's thread
     * @throws RuntimeException or an error: it was not taken over
     */
    DelayedCall add(Call call, Turn turn, boolean holdsThread) {
        long needed = bytes == null ? 0 : bytesOf(call);
        DelayedCall one = new DelayedCall(call, needed, call.hasRequestToken, turn, holdsThread);
        call.delayedSinceNanos = metrics.clock().nanos();
        call.delayed = true;
        synchronized (this) {
            LimitQueue queue = call.hasRequestToken ? bytes : requests;
            if (queue != null) {
                queue.add(one);
            }
            metrics.delayBegan();
            try {
                setTimer();
                if (call.interrupted) {
                    interrupt(one.unique);
                }
            } catch (RuntimeException | Error e) {
                takeBack(one);
                throw e;
            }
        }
        return one;
    }

    private void takeBack(DelayedCall one) {
        if (requests == null || !requests.remove(one)) {
            Objects.requireNonNull(bytes).remove(one);
        }
        one.call.delayed = false;
        metrics.delayEnded(0);
    }

    /**
     * Lets a request that holds up its thread wait on without it, in the same place of its queue; its turn does not come meanwhile.
     *
     * @param moves takes it to where it waits; false: there is no room
     * @return false: it still holds up its thread, as there is no room, or its turn has come
     */
    synchronized boolean letGo(DelayedCall one, BooleanSupplier moves, Turn turn) {
        if (!isWaiting(one) || !moves.getAsBoolean()) {
            return false;
        }
        one.turn = turn;
        one.holdsThread = false;
        return true;
    }

    private boolean isWaiting(DelayedCall one) {
        return (requests != null && requests.contains(one)) || (bytes != null && bytes.contains(one));
    }

    /** Its program got a signal. */
    synchronized void interrupt(long unique) {
        DelayedCall one = requests == null ? null : requests.find(unique);
        if (one == null && bytes != null) {
            one = bytes.find(unique);
        }
        if (one != null && !one.interrupted) {
            one.interrupted = true;
            one.latestNanos = metrics.clock().nanos() + INTERRUPTED_NANOS;
            interrupted.add(one);
            setTimer();
        }
    }

    /** For the next turn, unless a timer ends before it. */
    private void setTimer() {
        long now = metrics.clock().nanos();
        long delay = Math.min(untilTurn(requests, now), untilTurn(bytes, now));
        if (!interrupted.isEmpty()) {
            delay = Math.min(delay, interrupted.peekFirst().latestNanos - now);
        }
        if (delay == Long.MAX_VALUE) {
            return;
        }
        long at = now + Math.max(0, delay);
        Long next = timers.peekFirst();
        if (next == null || at - next < 0) {
            timers.addFirst(at);
            boolean set = false;
            try {
                later.run(this::timerEnds, at - now);
                set = true;
            } finally {
                if (!set) {
                    timers.removeFirst();
                }
            }
        }
    }

    private static long untilTurn(@Nullable LimitQueue queue, long now) {
        return queue == null || queue.isEmpty() ? Long.MAX_VALUE : queue.turnNanos() - now;
    }

    private void timerEnds() {
        List<DelayedCall> started = new ArrayList<>();
        synchronized (this) {
            long now = metrics.clock().nanos();
            while (!timers.isEmpty() && timers.peekFirst() - now <= 0) {
                timers.removeFirst();
            }
            startRequests(now, started);
            startBytes(now, started);
            startInterrupted(now, started);
            setTimer();
        }
        for (DelayedCall one : started) {
            end(one, one.turn);
        }
    }

    private void startRequests(long now, List<DelayedCall> started) {
        for (DelayedCall one = poll(requests, now); one != null; one = poll(requests, now)) {
            one.hasRequestToken = true;
            if (bytes == null || one.bytes == 0 || bytes.take(one.bytes, now)) {
                one.call.reservedBytes = one.bytes;
                started.add(one);
            } else {
                bytes.add(one);
            }
        }
    }

    private void startBytes(long now, List<DelayedCall> started) {
        for (DelayedCall one = poll(bytes, now); one != null; one = poll(bytes, now)) {
            one.call.reservedBytes = one.bytes;
            started.add(one);
        }
    }

    private static @Nullable DelayedCall poll(@Nullable LimitQueue queue, long now) {
        return queue == null ? null : queue.poll(now);
    }

    private void startInterrupted(long now, List<DelayedCall> started) {
        while (!interrupted.isEmpty() && interrupted.peekFirst().latestNanos - now <= 0) {
            DelayedCall one = interrupted.removeFirst();
            if (requests != null && requests.remove(one)) {
                started.add(one);
            } else if (bytes != null && bytes.remove(one)) {
                giveBackRequest();
                started.add(one);
            }
        }
    }

    private void giveBackRequest() {
        if (requests != null) {
            requests.giveBack(1);
        }
    }

    /** What fails with one does not keep the others, which are in no queue any more. */
    @SuppressWarnings("CatchingUnchecked")
    private void end(DelayedCall one, Turn turn) {
        try {
            begin(one, turn);
        } catch (Throwable failure) {
            Failures.uncaught(failure);
        }
    }

    private void begin(DelayedCall one, Turn turn) {
        Call call = one.call;
        long nanos = metrics.clock().nanos() - call.delayedSinceNanos;
        metrics.delayEnded(nanos);
        call.beganNanos += nanos; // its age is what the file system and the pool make it wait
        call.delayed = false;
        turn.comes(call);
    }

    /** Ends all delays; the calling thread sees to the requests that hold up no other. */
    void endAll(Turn turn) {
        List<DelayedCall> all = new ArrayList<>();
        synchronized (this) {
            if (requests != null) {
                requests.drainTo(all);
            }
            if (bytes != null) {
                bytes.drainTo(all);
            }
            interrupted.clear();
        }
        all.forEach(one -> end(one, one.holdsThread ? one.turn : turn));
    }
}

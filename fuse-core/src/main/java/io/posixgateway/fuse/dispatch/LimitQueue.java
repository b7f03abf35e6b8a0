package io.posixgateway.fuse.dispatch;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A token bucket, as the moment until which all that was taken is paid for (the generic cell rate algorithm), and the requests that
 * wait for its tokens, first in first out. What is left unused for a second may be used at once. A request starts when what was taken
 * before it is paid for, however large it is itself.
 *
 * <p>Guarded by its {@link DelayedCalls}. Moments are those of one {@link io.posixgateway.fuse.time.Clock}, compared by their
 * differences.
 */
final class LimitQueue {
    private static final long SECOND = 1_000_000_000L;
    private static final long BURST_NANOS = SECOND;

    private final long tokensPerSecond;
    private long paidUntil;
    private final Map<Long, DelayedCall> waiting = new LinkedHashMap<>();

    LimitQueue(long tokensPerSecond, long now) {
        this.tokensPerSecond = tokensPerSecond;
        paidUntil = now - BURST_NANOS;
    }

    /** Null: nothing is limited. */
    static @Nullable LimitQueue of(long tokensPerSecond, long now) {
        return tokensPerSecond > 0 ? new LimitQueue(tokensPerSecond, now) : null;
    }

    /** Takes tokens, if nobody waits for them and all that was taken is paid for. */
    boolean take(long tokens, long now) {
        if (!waiting.isEmpty() || !isPaid(now)) {
            return false;
        }
        pay(tokens, now);
        return true;
    }

    private boolean isPaid(long now) {
        return paidUntil - now <= 0;
    }

    private void pay(long tokens, long now) {
        paidUntil = now + Math.max(paidUntil - now, -BURST_NANOS) + nanos(tokens);
    }

    /** Of 8 GiB at most, which no request exceeds. */
    private long nanos(long tokens) {
        return tokens * SECOND / tokensPerSecond;
    }

    /** What was taken and is not used. */
    void giveBack(long tokens) {
        paidUntil -= nanos(tokens);
    }

    void add(DelayedCall one) {
        waiting.put(one.unique, one);
    }

    @Nullable
    DelayedCall find(long unique) {
        return waiting.get(unique);
    }

    boolean contains(DelayedCall one) {
        return waiting.get(one.unique) == one;
    }

    /** Takes it out; false: it does not wait here. */
    boolean remove(DelayedCall one) {
        return waiting.remove(one.unique, one);
    }

    /** Takes out the first one, with its tokens, if its turn is now. */
    @Nullable
    DelayedCall poll(long now) {
        if (waiting.isEmpty() || !isPaid(now)) {
            return null;
        }
        Iterator<DelayedCall> all = waiting.values().iterator();
        DelayedCall first = all.next();
        all.remove();
        pay(tokensOf(first), now);
        return first;
    }

    private long tokensOf(DelayedCall one) {
        return one.hasRequestToken ? one.bytes : 1;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** The first one's turn; where nobody waits, that of one which would. */
    long turnNanos() {
        return paidUntil;
    }

    /** Takes out all. */
    void drainTo(List<DelayedCall> all) {
        all.addAll(waiting.values());
        waiting.clear();
    }
}

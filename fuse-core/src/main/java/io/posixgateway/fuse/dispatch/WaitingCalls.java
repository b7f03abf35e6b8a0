package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.RemoteCalls;
import java.util.HashMap;
import java.util.Map;

/**
 * The requests that may wait, findable by number ({@link io.posixgateway.fuse.spi.Request#unique}: without the resend bit), so that
 * an interrupt reaches them.
 *
 * <p>An interrupt may overtake its request on the way to the pool: the last ones that found nothing are remembered. Guarded
 * by its monitor; only requests that wait come here.
 */
final class WaitingCalls {
    private static final int REMEMBERED = 64;

    private final Map<Long, Call> byUnique = new HashMap<>();
    private final long[] missed = new long[REMEMBERED];
    private int next;
    /** No call that waits is answered any more. */
    private boolean left;

    synchronized void add(Call call) {
        byUnique.put(call.unique(), call);
        for (int i = 0; i < REMEMBERED; i++) {
            if (missed[i] == call.unique()) {
                missed[i] = 0;
                call.interrupted = true;
            }
        }
    }

    /**
     * Before the reply is sent: from then on the call serves another request.
     *
     * @return false: it is to be left unanswered
     */
    synchronized boolean remove(Call call) {
        byUnique.remove(call.unique());
        return !left;
    }

    /** From now on those that wait stay unanswered, whatever becomes of them. */
    synchronized void leaveAll() {
        left = true;
    }

    synchronized boolean areLeft() {
        return left;
    }

    /** Interrupts the remote call of this request if it is under way for so long. */
    synchronized boolean interruptRemote(long unique, long atLeastNanos) {
        Call call = byUnique.get(unique);
        RemoteCalls remote = call == null ? null : call.remote;
        return remote != null && remote.interrupt(atLeastNanos);
    }

    synchronized void interruptAll() {
        for (Call call : byUnique.values()) {
            call.interrupted = true;
        }
    }

    synchronized void interrupt(long unique) {
        Call call = byUnique.get(unique);
        if (call != null) {
            call.interrupted = true;
        } else {
            missed[next] = unique;
            next = (next + 1) % REMEMBERED;
        }
    }
}

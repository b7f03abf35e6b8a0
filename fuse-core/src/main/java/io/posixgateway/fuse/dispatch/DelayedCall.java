package io.posixgateway.fuse.dispatch;

/** One request's wait for its tokens: of the limit of requests first, then of that of bytes. Guarded by its {@link DelayedCalls}. */
final class DelayedCall {
    final Call call;
    final long unique;
    /** Tokens that it needs of the limit of bytes. */
    final long bytes;
    /** What becomes of it. */
    DelayedCalls.Turn turn;
    /** Does it hold up its thread, which then sees to it, whatever ends the delay? */
    boolean holdsThread;

    /** It passed the limit of requests, or there is none. */
    boolean hasRequestToken;

    /** When an interrupted one waits no longer; {@link #interrupted} says whether it counts. */
    long latestNanos;

    boolean interrupted;

    DelayedCall(Call call, long bytes, boolean hasRequestToken, DelayedCalls.Turn turn, boolean holdsThread) {
        this.call = call;
        this.unique = call.unique();
        this.bytes = bytes;
        this.hasRequestToken = hasRequestToken;
        this.turn = turn;
        this.holdsThread = holdsThread;
    }
}

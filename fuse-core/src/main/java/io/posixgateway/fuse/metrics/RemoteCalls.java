package io.posixgateway.fuse.metrics;

import io.posixgateway.fuse.time.Clock;

/**
 * The calls that a thread makes to the store behind a file system: how long they take together, and whether the one under
 * way is to be given up.
 *
 * <p>One per thread. {@link #begin} and {@link #end} are called on it, around each call that may wait for a network;
 * {@link #interrupt} and {@link #runningNanos} by any thread. A thread is interrupted inside such a call only, and its
 * interrupt flag is taken back at the call's end: what else it does (it may read a file that others share) never meets an
 * interrupt.
 */
public final class RemoteCalls {
    private static final ThreadLocal<RemoteCalls> OF_THREAD = ThreadLocal.withInitial(() -> {
        return new RemoteCalls(Thread.currentThread(), Clock.system());
    });

    private final Thread thread;
    private final Clock clock;

    // Of the thread itself.
    private String session = "";
    private long unique;
    private int caller;

    // Guarded by this.
    private int depth;
    private long beganNanos;
    private long totalNanos;
    private boolean interrupted;
    private int unlimited;

    RemoteCalls(Thread thread, Clock clock) {
        this.thread = thread;
        this.clock = clock;
    }

    /** Those of the calling thread. */
    public static RemoteCalls ofThread() {
        return OF_THREAD.get();
    }

    /**
     * What the thread works for from now on; on it.
     *
     * @param name of the session; empty: nothing
     * @param request the kernel's number of the request
     * @param pid of who asked; 0: not known
     */
    public void serve(String name, long request, int pid) {
        session = name;
        unique = request;
        caller = pid;
    }

    /** Was the program killed whose request the thread works for? False where that cannot be seen. On it. */
    public boolean callerKilled() {
        return CallerProcess.state(caller) == CallerProcess.State.KILLED;
    }

    /** What the thread works for, such as "vol-1 #17"; empty: no request. On it. */
    public String about() {
        return session.isEmpty() ? "" : session + " #" + unique;
    }

    /** A call begins; one inside another is part of it. */
    public synchronized void begin() {
        if (depth++ == 0) {
            beganNanos = clock.nanos();
        }
    }

    /**
     * The call ended.
     *
     * @return was it interrupted by {@link #interrupt}?
     */
    public synchronized boolean end() {
        if (--depth > 0) {
            return false;
        }
        totalNanos += clock.nanos() - beganNanos;
        boolean was = interrupted;
        if (was) {
            interrupted = false;
            Thread.interrupted();
        }
        return was;
    }

    /**
     * What the thread waits for from now on, inside a call, takes as long as it takes: no limit of time ends it, only a signal of
     * the program does. May be nested.
     */
    public synchronized void beginUnlimited() {
        unlimited++;
    }

    /** The limits of the call count anew from here. */
    public synchronized void endUnlimited() {
        if (--unlimited == 0 && depth > 0) {
            long now = clock.nanos();
            totalNanos += now - beganNanos;
            beganNanos = now;
        }
    }

    /** Is the call under way, if there is one, in a part that no limit ends? Any thread. */
    public synchronized boolean isUnlimited() {
        return unlimited > 0;
    }

    /** How long the calls took since this was asked before; on the thread itself. */
    public synchronized long takeNanos() {
        long taken = totalNanos;
        totalNanos = 0;
        return taken;
    }

    /** For how long the call under way is under way; 0: none is. */
    public synchronized long runningNanos() {
        return depth == 0 ? 0 : Math.max(1, clock.nanos() - beganNanos);
    }

    /** Interrupts the call under way if it has been for at least so long; false: it has not. */
    public synchronized boolean interrupt(long atLeastNanos) {
        if (depth == 0 || runningNanos() < atLeastNanos) {
            return false;
        }
        interrupted = true;
        thread.interrupt();
        return true;
    }
}

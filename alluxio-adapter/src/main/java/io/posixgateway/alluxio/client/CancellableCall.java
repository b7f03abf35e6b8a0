package io.posixgateway.alluxio.client;

import org.jspecify.annotations.Nullable;

/**
 * A call to workers that is given up when one of them does not answer any more: at once where there is another way, else when it has not
 * answered for long. Begun and ended on the thread that makes it; given up by any.
 *
 * <p>A call of ours is cancelled then; in a call of Alluxio's library the thread is interrupted.
 */
final class CancellableCall {
    // Guarded by this.
    private @Nullable Runnable cancellation;
    private boolean interrupts;
    private boolean movable;

    private volatile boolean givenUp;

    /**
     * A call begins that is given up by an interrupt of this thread.
     *
     * @param mayMove is there another way? If not, the worker is waited for, as it may go on
     */
    synchronized void begin(boolean mayMove) {
        cancellation = Thread.currentThread()::interrupt;
        interrupts = true;
        movable = mayMove;
    }

    /** As {@link #begin}, for a call that is given up by what {@link #cancelBy} says from then on. */
    synchronized void beginCancellable(boolean mayMove) {
        cancellation = () -> {};
        interrupts = false;
        movable = mayMove;
    }

    /**
     * What the call waits for from now on is ended by this; at once if the call was given up already. It does not wait. It is run while
     * this object is locked: nobody calls a method that locks this object while holding a lock that it takes.
     */
    synchronized void cancelBy(Runnable how) {
        if (cancellation == null) {
            return;
        }
        cancellation = how;
        if (givenUp) {
            how.run();
        }
    }

    /** Takes the interrupt back, if there was one: was the call given up? */
    synchronized boolean end() {
        cancellation = null;
        boolean was = givenUp;
        givenUp = false;
        if (was && interrupts) {
            Thread.interrupted();
        }
        return was;
    }

    /** True from the moment on in which it is given up. Takes no lock. */
    boolean isGivenUp() {
        return givenUp;
    }

    /** @param gone has the worker not answered for long? */
    synchronized void giveUp(boolean gone) {
        Runnable how = cancellation;
        if (how != null && (movable || gone) && !givenUp) {
            givenUp = true;
            how.run();
        }
    }
}

package io.posixgateway.alluxio.client;

import org.jspecify.annotations.Nullable;

/**
 * A call to workers that is given up, by an interrupt, when one of them does not answer any more: at once where there is another way, else
 * when it has not answered for long. Begun and ended on the thread that makes it; given up by any.
 */
final class WorkerCall {
    // Guarded by this.
    private @Nullable Thread thread;
    private boolean movable;
    private boolean givenUp;

    /** @param mayMove is there another way? If not, the worker is waited for, as it may go on */
    synchronized void begin(boolean mayMove) {
        thread = Thread.currentThread();
        movable = mayMove;
    }

    /** Takes the interrupt back, if there was one: was the call given up? */
    synchronized boolean end() {
        thread = null;
        boolean was = givenUp;
        givenUp = false;
        if (was) {
            Thread.interrupted();
        }
        return was;
    }

    /** @param gone has the worker not answered for long? */
    synchronized void giveUp(boolean gone) {
        Thread waiting = thread;
        if (waiting != null && (movable || gone) && !givenUp) {
            givenUp = true;
            waiting.interrupt();
        }
    }
}

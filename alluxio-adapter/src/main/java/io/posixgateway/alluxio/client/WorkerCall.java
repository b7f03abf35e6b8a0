package io.posixgateway.alluxio.client;

import org.jspecify.annotations.Nullable;

/**
 * A call to workers that is given up, by an interrupt, when one of them does not answer any more and there is another way.
 * Begun and ended on the thread that makes it; given up by any.
 */
final class WorkerCall {
    // Guarded by this.
    private @Nullable Thread thread;
    private boolean movable;
    private boolean givenUp;

    /** @param mayMove is there another way? If not, it is never given up */
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

    synchronized void giveUp() {
        Thread waiting = thread;
        if (waiting != null && movable && !givenUp) {
            givenUp = true;
            waiting.interrupt();
        }
    }
}

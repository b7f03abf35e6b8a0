package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A question that is in flight at most once: callers that come meanwhile wait for its answer instead of asking the same. One that
 * nobody answered fails those who came before it was asked; who came later has it asked once more. A caller whose own program was
 * killed, or waited too long, fails alone. Any thread.
 */
final class SharedRequest {
    /** Asks, and says where the answer makes the callers fail. */
    interface Asking {
        void run() throws StoreException;
    }

    private final AtomicReference<@Nullable Flight> inFlight = new AtomicReference<>();

    /** One request and its end. */
    private static final class Flight {
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile boolean answered;
        private volatile @Nullable StoreException failure;

        /** Waits for its end; false: it ended for a reason of its caller alone. */
        boolean awaitAnswer() throws StoreException {
            RemoteCalls remote = RemoteCalls.ofThread();
            remote.begin();
            boolean interrupted = false;
            boolean tooLong;
            try {
                ended.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                interrupted = true;
            } finally {
                tooLong = remote.end();
            }
            if (interrupted) {
                throw new StoreException(
                        tooLong ? Errno.ETIMEDOUT : Errno.EINTR, "Interrupted while waiting for Alluxio", null);
            }
            return answered;
        }

        /** Nobody answered, who may do so by now. */
        boolean hasNoAnswer() {
            StoreException why = failure;
            return why != null && why.isOutcomeUnknown();
        }

        void share() throws StoreException {
            StoreException shared = failure;
            if (shared != null) {
                throw shared;
            }
        }
    }

    /**
     * Asks, or waits for the answer to what is asked already.
     *
     * @param fromNowOn what was asked before now does not do
     * @param needed is it still to be asked, after one whose wait this was failed alone?
     * @throws StoreException as the question; or the wait was interrupted
     */
    void ask(boolean fromNowOn, BooleanSupplier needed, Asking question) throws StoreException {
        Flight before = inFlight.get();
        if (before != null) {
            boolean answered = before.awaitAnswer() && !before.hasNoAnswer();
            if (answered && !fromNowOn) {
                before.share();
                return;
            }
            if (!needed.getAsBoolean()) {
                return;
            }
        }
        do {
            Flight own = new Flight();
            Flight other = inFlight.compareAndExchange(null, own);
            if (other == null) {
                run(own, question);
                return;
            }
            if (other.awaitAnswer()) {
                other.share();
                return;
            }
        } while (needed.getAsBoolean());
    }

    private void run(Flight flight, Asking question) throws StoreException {
        try {
            question.run();
            flight.answered = true;
        } catch (StoreException e) {
            flight.failure = e;
            flight.answered = e.errno() != Errno.EINTR && e.errno() != Errno.ETIMEDOUT;
            throw e;
        } finally {
            inFlight.set(null);
            flight.ended.countDown();
        }
    }
}

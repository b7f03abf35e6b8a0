package io.posixgateway.alluxio.client;

import alluxio.wire.WorkerNetAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Which workers answer. Any thread.
 *
 * <p>A worker that hangs would take one thread after the other: each waits for many seconds, and while Alluxio's client waits
 * for a connection it holds locks that others need for theirs. So no more than {@value #MOST_UNANSWERED} calls go to a worker
 * that has not answered since the first of them began. Who comes later waits for the next answer, for a moment, and then reads
 * elsewhere if that is possible. A worker that was silent for long is asked by one reader now and then; any answer of it, to
 * whomever, makes it one like the others again.
 */
final class WorkerWatch {
    static final int MOST_UNANSWERED = 8;
    /** So long who comes later waits for an answer, and the worker counts as one that hangs when that many calls did. */
    static final long CROWD_NANOS = 250_000_000L;
    /** A single call without an answer for so long makes it one that hangs. */
    static final long SILENT_NANOS = 2_000_000_000L;
    /** Between two who try whether it answers again, at first and at last. */
    static final long FIRST_TRY_NANOS = 5_000_000_000L;

    static final long LAST_TRY_NANOS = 40_000_000_000L;

    static final long NOT_BEGUN = -1;

    private final LongSupplier nanoClock;
    private final ConcurrentMap<WorkerNetAddress, Worker> workers = new ConcurrentHashMap<>();

    WorkerWatch(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    long nanos() {
        return nanoClock.getAsLong();
    }

    Worker of(WorkerNetAddress address) {
        return workers.computeIfAbsent(address, key -> new Worker());
    }

    /** What is known of one. */
    final class Worker {
        // Guarded by this.
        /** Calls under way that began after the last answer. */
        private int unanswered;

        private boolean silent;
        /** Since the first call after the last answer; only when it is silent. */
        private long silentSince;
        /** How often it has answered. */
        private long answers;

        private long nextTry;
        private long tryAfter;

        /**
         * A call begins, whatever is known.
         *
         * @return to be given to {@link #ended}
         */
        synchronized long begin() {
            if (!silent) {
                silent = true;
                silentSince = nanoClock.getAsLong();
                tryAfter = FIRST_TRY_NANOS;
                nextTry = silentSince + tryAfter;
            }
            unanswered++;
            return answers;
        }

        /** A call was answered. */
        synchronized void answered() {
            answers++;
            unanswered = 0;
            silent = false;
            notifyAll();
        }

        /** A call ended, and whether that was this worker's answer is not known. */
        synchronized void ended(long began) {
            if (began == answers) {
                unanswered--;
                notifyAll();
            }
        }

        /** Does it seem to hang? */
        synchronized boolean hangs() {
            long nanos = silentNanos();
            return nanos >= SILENT_NANOS || (nanos >= CROWD_NANOS && unanswered >= MOST_UNANSWERED);
        }

        private long silentNanos() {
            return silent ? nanoClock.getAsLong() - silentSince : 0;
        }

        private boolean isFree() {
            return unanswered < MOST_UNANSWERED && !hangs();
        }

        /** Begins a call if that may be at once; else {@link #NOT_BEGUN}. */
        synchronized long tryBegin() {
            return isFree() ? begin() : NOT_BEGUN;
        }

        /**
         * Begins a call as soon as it may, if that is within a moment.
         *
         * @param elsewhere is there another place to read from? Then one that hangs is not waited for
         */
        synchronized long await(boolean elsewhere) {
            long since = nanoClock.getAsLong();
            while (!isFree()) {
                long now = nanoClock.getAsLong();
                if (elsewhere && hangs()) {
                    return mayTry(now) ? begin() : NOT_BEGUN;
                }
                if (now - since >= CROWD_NANOS) {
                    return NOT_BEGUN;
                }
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, Math.max(1_000_000, since + CROWD_NANOS - now));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt(); // ends the call that follows
                    return begin();
                }
            }
            return begin();
        }

        private boolean mayTry(long now) {
            if (now - nextTry < 0) {
                return false;
            }
            tryAfter = Math.min(2 * tryAfter, LAST_TRY_NANOS);
            nextTry = now + tryAfter;
            return true;
        }
    }
}

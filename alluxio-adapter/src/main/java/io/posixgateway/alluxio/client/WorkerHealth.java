package io.posixgateway.alluxio.client;

import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Which workers answer. Any thread.
 *
 * <p>A worker that hangs would take one thread after the other: each waits for many seconds, and while Alluxio's client waits
 * for a connection it holds locks that others need for theirs. So no more than {@value #MAX_UNANSWERED} calls go to a worker
 * that has not answered since the first of them began. Who comes later waits for the next answer, for a moment, and then reads
 * elsewhere if that is possible. A worker that was silent for long is asked by one reader now and then; any answer of it, to
 * whomever, makes it one like the others again. What a stream had fetched before is no answer, though it ends a call: while nobody
 * knows whether the worker lives, only what it sends counts.
 *
 * <p>Who already waits is looked after, too: when a call lasts, the worker is asked something that it can answer at once. One
 * that does not is lost: the calls that have another way are given up, and it is asked again, ever more rarely, until it
 * answers. So a worker that is merely slow, since its under file system is, keeps its calls. One that nobody waits for any more, since its
 * calls failed or were interrupted, is asked once, too.
 */
final class WorkerHealth {
    static final int MAX_UNANSWERED = 8;
    /** So long who comes later waits for an answer, and the worker counts as one that hangs when that many calls did. */
    static final long BUSY_NANOS = 250_000_000L;
    /** A single call without an answer for so long makes it one that hangs. */
    static final long SILENT_NANOS = 2_000_000_000L;
    /** After so long without an answer those give up, too, who have no other way. */
    static final long GONE_NANOS = 30_000_000_000L;
    /** Between two who try whether it answers again, at first and at last. */
    static final long FIRST_TRY_NANOS = 5_000_000_000L;

    static final long LAST_TRY_NANOS = 40_000_000_000L;

    /** A worker that is lost is asked so soon whether it is, and then after twice the time, and so on. */
    static final long FIRST_PROBE_NANOS = 250_000_000L;

    /** After so many questions without an answer nothing is known of it: whoever needs it finds out. */
    static final int MAX_PROBES = 60;

    private static final int MAX_DOUBLINGS = 8;

    static final long NOT_BEGUN = -1;

    private final Clock nanoClock;
    private final Probe probe;
    private final Later later;
    private final ConcurrentMap<WorkerNetAddress, Worker> workers = new ConcurrentHashMap<>();

    /** Asks a worker something that it can answer at once. */
    interface Probe {
        /** Does it answer within a moment? Waits. */
        boolean isAlive(WorkerNetAddress worker);

        /** Does Alluxio know it no more, as far as is known? Never waits. */
        default boolean isGone(WorkerNetAddress worker) {
            return false;
        }
    }

    /** Does something in a while, on a thread that may wait. */
    interface Later {
        /** @return takes the work back, unless it has begun */
        Runnable run(Runnable work, long delayNanos);
    }

    WorkerHealth(Clock nanoClock, Probe probe, Later later) {
        this.nanoClock = nanoClock;
        this.probe = probe;
        this.later = later;
    }

    Clock clock() {
        return nanoClock;
    }

    long nanos() {
        return nanoClock.nanos();
    }

    /** When another one comes, those that are gone are forgotten, unless a call or a question is under way. */
    Worker of(WorkerNetAddress address) {
        Worker known = workers.get(address);
        if (known == null) {
            workers.values().removeIf(worker -> worker.isIdle() && probe.isGone(worker.address));
            known = workers.computeIfAbsent(address, Worker::new);
        }
        return known;
    }

    /** Of so many something is known. */
    int size() {
        return workers.size();
    }

    /** What is known of one. */
    final class Worker {
        private final WorkerNetAddress address;

        // Guarded by this.
        /** Who waits for it, and since when. */
        private final Map<CancellableCall, Long> calls = new HashMap<>(4);
        /** {@link #look} will run, or runs. */
        private boolean looking;

        private long nextLook;
        /** Of the next look. */
        private Runnable takeBack = () -> {};

        private boolean suspected;
        /** It did not answer when it was asked. */
        private boolean lost;

        private int probes;

        /** Calls under way that began after the last answer. */
        private int unanswered;

        private boolean silent;
        /** Since the first call after the last answer; only when it is silent. */
        private long silentSince;
        /** How often it has answered, as it seemed. */
        private long answers;
        /** How often something surely came from it. */
        private long arrivals;
        /** How often it has answered a question that was asked as it was in doubt. */
        private long proofs;
        /** The next look is sooner than planned, since a call ended. */
        private boolean hurried;

        private long nextTry;
        private long tryAfter;

        private Worker(WorkerNetAddress address) {
            this.address = address;
        }

        /**
         * A call begins, whatever is known.
         *
         * @return to be given to {@link #ended}
         */
        synchronized long begin() {
            beSilent();
            unanswered++;
            return answers;
        }

        private void beSilent() {
            if (!silent) {
                silent = true;
                silentSince = nanoClock.nanos();
                tryAfter = FIRST_TRY_NANOS;
                nextTry = silentSince + tryAfter;
            }
        }

        /** Something came from it. */
        synchronized void answered() {
            arrivals++;
            renew();
        }

        /**
         * A call ended well, perhaps with what had been fetched before.
         *
         * @param began what {@link #begin} said
         */
        synchronized void mayHaveAnswered(long began) {
            if (!lost && !suspected) {
                renew();
                return;
            }
            ended(began);
            if (lost && nextLook - nanoClock.nanos() > SILENT_NANOS) {
                hurried = true;
                lookIn(SILENT_NANOS);
            }
        }

        private void renew() {
            answers++;
            unanswered = 0;
            silent = false;
            lost = false;
            notifyAll();
        }

        private synchronized long arrivals() {
            return arrivals;
        }

        /** How often it was in doubt and is no more: one that is noted with {@link #suspect} is over when this is higher. */
        synchronized long proofs() {
            return proofs;
        }

        /** It may be that it did not answer somebody: it is asked at once. */
        synchronized void suspect() {
            suspected = true;
            lookIn(0);
        }

        /** From now on it counts as one that hangs, until it answers. */
        private void beLost() {
            beSilent();
            if (silentNanos() < SILENT_NANOS) {
                silentSince = nanoClock.nanos() - SILENT_NANOS;
            }
            if (!lost) {
                lost = true;
                probes = 0;
            }
        }

        /** From now on this call waits for it; ends with {@link #leave}. */
        synchronized void enter(CancellableCall call) {
            calls.put(call, nanoClock.nanos());
            lookIn(SILENT_NANOS);
        }

        synchronized void leave(CancellableCall call) {
            calls.remove(call);
        }

        private synchronized boolean isIdle() {
            return calls.isEmpty() && !silent && !looking;
        }

        private void lookIn(long nanos) {
            long at = nanoClock.nanos() + nanos;
            if (!looking || at - nextLook < 0) {
                looking = true;
                nextLook = at;
                takeBack.run(); // of each worker one is planned, however many calls plan one
                takeBack = later.run(() -> look(at), nanos);
            }
        }

        /** Asks it, if that is to be known, and gives up who waits in vain. */
        private void look(long planned) {
            if (!isNextLook(planned)) {
                return;
            }
            boolean doubted = takeDoubt();
            long before = arrivals();
            boolean asked = doubted || isAnyOverdue();
            boolean answers = asked && probe.isAlive(address);
            List<CancellableCall> stuck = List.of();
            boolean gone;
            synchronized (this) {
                looking = false;
                boolean isAlive = !asked || answers || arrivals != before;
                if (!isAlive) {
                    beLost();
                    probes += hurried ? 0 : 1;
                    stuck = List.copyOf(calls.keySet());
                }
                hurried = false;
                settle(doubted && isAlive, answers);
                gone = lost && silentNanos() >= GONE_NANOS;
                planNext(isAlive);
            }
            stuck.forEach(call -> call.giveUp(gone));
        }

        /** @param cleared it was in doubt, and something came; which may have been on its way, unless it was the answer */
        private void settle(boolean cleared, boolean answers) {
            boolean forgotten = lost && probes == MAX_PROBES;
            if (cleared || forgotten) {
                renew();
            }
            if (forgotten || (cleared && answers && !suspected)) {
                proofs++;
            } else if (cleared && !answers) {
                suspected = true;
                lookIn(SILENT_NANOS);
            }
        }

        private void planNext(boolean isAlive) {
            if (looking) {
                return;
            }
            if (suspected && isAlive) {
                lookIn(0);
            } else if (lost) {
                long pause = Math.min(LAST_TRY_NANOS, FIRST_PROBE_NANOS << Math.min(probes, MAX_DOUBLINGS));
                long left = GONE_NANOS - silentNanos();
                lookIn(left > 0 ? Math.min(pause, left) : pause);
            } else if (!calls.isEmpty()) {
                lookIn(SILENT_NANOS);
            }
        }

        private synchronized boolean isNextLook(long planned) {
            return looking && planned == nextLook;
        }

        /** Is it to be asked? Who suspects it from now on is not told by the answer, which may have come before. */
        private synchronized boolean takeDoubt() {
            boolean doubted = lost || suspected || (silent && calls.isEmpty());
            suspected = false;
            return doubted;
        }

        private synchronized boolean isAnyOverdue() {
            long now = nanoClock.nanos();
            return calls.values().stream().anyMatch(since -> now - since >= SILENT_NANOS);
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
            return nanos >= SILENT_NANOS || (nanos >= BUSY_NANOS && unanswered >= MAX_UNANSWERED);
        }

        /** For how long it has not answered; 0: nobody waits for an answer. */
        synchronized long silentNanos() {
            return silent ? nanoClock.nanos() - silentSince : 0;
        }

        private boolean isFree() {
            return unanswered < MAX_UNANSWERED && !hangs();
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
            long since = nanoClock.nanos();
            while (!isFree()) {
                long now = nanoClock.nanos();
                if (elsewhere && hangs()) {
                    return mayTry(now) ? begin() : NOT_BEGUN;
                }
                if (now - since >= BUSY_NANOS) {
                    return NOT_BEGUN;
                }
                try {
                    nanoClock.waitOn(this, Math.max(1_000_000, since + BUSY_NANOS - now));
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

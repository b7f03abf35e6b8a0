package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifications that another Alluxio answers than before, or the same one after it was formatted or restored: file ids begin anew there, so
 * nothing that is known of the former counts. Any thread.
 *
 * <p>An Alluxio is not formatted and started in less than {@link #SILENCE_NANOS}, and not while it answers. So its cluster id is compared
 * where that may have happened: before a call when the last one was answered so long ago, or was not answered, and after a call that
 * took so long that it may have outlasted a restart. Calls that are made all the time cost nothing, and those that come at once after
 * a silence share one comparison.
 *
 * <p>Blocks come from workers, which may live on while their master is formatted, and then have other blocks under the same numbers. So they
 * are read as long as no other Alluxio can have begun: for {@link #SILENCE_NANOS} after the one before answered, or after nobody listened at
 * the address of the only master, if that followed as soon. Else reading waits for a comparison, and fails where that is not answered.
 */
final class ClusterWatch {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterWatch.class);

    static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** A call that took longer may have been sent again. */
    static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** So early reading compares, so that a master that is found to be absent then is so before another Alluxio can have begun. */
    private static final long COMPARED_NANOS = SILENCE_NANOS / 2;
    /** So long an open waits, after which blocks may be read without Alluxio. */
    private static final long OPEN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** So long a master is asked again that has no id at the moment. */
    static final long SETTLING_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** What a master of Alluxio 2 says that has read nothing of its journal, or nothing any more. */
    private static final String NO_ID = "INVALID_CLUSTER_ID";

    private static final String UNKNOWN =
            "Alluxio's master does not answer, and may have been formatted since it did last: a worker may have"
                    + " another file's blocks by now. Check the master; reading continues when it answers";

    private final Question question;
    private final Clock clock;
    private final SharedRequest comparison = new SharedRequest();
    private final AtomicBoolean looking = new AtomicBoolean();
    private volatile @Nullable String known;
    private volatile @Nullable Consumer<String> hears;
    /** When it was known last that no other Alluxio had begun. */
    private volatile long knownNanos;
    /** When the master answered last. */
    private volatile long answeredNanos;
    /** The last call was not answered. */
    private volatile boolean unanswered;
    /** And the last comparison found no master that answers. */
    private volatile boolean silent;
    /** When that was found out last. */
    private volatile long silenceNanos;
    /** So often another Alluxio answered. */
    private volatile int others;

    /** Asks the master for its cluster id. */
    interface Question {
        String clusterId() throws StoreException;
    }

    ClusterWatch(Question question, Clock clock) {
        this.question = question;
        this.clock = clock;
        this.knownNanos = clock.nanos();
        this.answeredNanos = knownNanos;
    }

    /**
     * The id in the answer of a master; empty: it has none. One that loses its lead, or begins, says something else in its place for a
     * moment.
     */
    static String idOf(String answer) {
        return answer.equals(NO_ID) ? "" : answer;
    }

    /** As {@link Store#watchCluster}. */
    void watch(String clusterId, Consumer<String> listener) {
        hears = listener;
        if (!clusterId.isEmpty()) {
            known = clusterId;
            unanswered = true; // compare first
            knownNanos = clock.nanos() - SILENCE_NANOS - 1;
        }
    }

    /**
     * Before something is asked of the master.
     *
     * @throws StoreException ESTALE: another Alluxio answers, which is asked from the next call on; EIO: none does
     */
    void before() throws StoreException {
        if (!isSure()) {
            comparison.ask(false, () -> !isSure(), this::compare);
        }
    }

    /** May it be told without asking that the Alluxio that answers is the one before? Never waits. */
    boolean isSure() {
        return !isWatching() || (!unanswered && isKnownFor(SILENCE_NANOS));
    }

    private boolean isWatching() {
        return known != null && hears != null;
    }

    /** True if no other Alluxio had begun so short a time ago. */
    private boolean isKnownFor(long nanos) {
        return clock.nanos() - knownNanos <= nanos;
    }

    /**
     * After the master answered.
     *
     * @throws StoreException ESTALE: perhaps another Alluxio than the one that was asked
     */
    void answered(long beganNanos) throws StoreException {
        long now = clock.nanos();
        if (now - beganNanos > LONG_NANOS && isWatching()) {
            try {
                comparison.ask(true, () -> true, this::compare);
            } catch (StoreException e) {
                if (e.errno() == Errno.ESTALE) {
                    throw e;
                }
                unanswered = true;
            }
        } else if (!unanswered) {
            knownNanos = now;
            answeredNanos = now;
        }
    }

    /** The master did not answer. */
    void failed(StoreException failure) {
        if (failure.isOutcomeUnknown()) {
            unanswered = true;
        }
    }

    /** As {@link Store#silentNanos}. */
    long silentNanos(long trustNanos, boolean mayWait) throws StoreException {
        if (unanswered && (!silent || clock.nanos() - silenceNanos > trustNanos)) {
            if (!mayWait) {
                return 0;
            }
            listen();
        }
        return silent ? Math.max(1, clock.nanos() - answeredNanos) : 0;
    }

    /** Whose call it was that failed, a worker's or that of a program which was killed, does not count: the master is asked. */
    private void listen() throws StoreException {
        long before = answeredNanos;
        silent = false;
        look(() -> unanswered);
        await(OPEN_NANOS, () -> looking.get() && unanswered);
        synchronized (this) {
            if (looking.get() && unanswered && answeredNanos == before) {
                heardNothing();
            }
        }
    }

    private synchronized void heardNothing() {
        silenceNanos = clock.nanos();
        silent = true;
    }

    /** The master said this. */
    void told(String clusterId) throws StoreException {
        if (isAnother(clusterId)) {
            throw stale();
        }
    }

    private static StoreException stale() {
        return new StoreException(
                Errno.ESTALE,
                "Another Alluxio cluster answers, or this one was formatted or restored: reopen files by name",
                null);
    }

    private synchronized boolean isAnother(String clusterId) {
        String before = known;
        boolean another = before != null && !clusterId.isEmpty() && !before.equals(clusterId);
        if (!clusterId.isEmpty()) {
            known = clusterId;
        }
        Consumer<String> listener = hears;
        if (another && listener != null) {
            others++;
            LOG.error(
                    "Alluxio was formatted or restored, or another cluster answers (cluster {}; it was {}): files"
                            + " open on this mount now fail with ESTALE; new opens by name work",
                    clusterId,
                    before);
            listener.accept(clusterId);
        }
        unanswered = false;
        silent = false;
        knownNanos = clock.nanos();
        answeredNanos = knownNanos;
        notifyAll();
        return another && listener != null;
    }

    private void compare() throws StoreException {
        String clusterId;
        try {
            clusterId = settledId();
        } catch (StoreException e) {
            if (e.isOutcomeUnknown()) {
                unanswered = true;
                if (e.errno() == Errno.EIO && !ErrnoTable.isRefused(e)) {
                    heardNothing();
                }
                throw e;
            }
            clusterId = ""; // it may not be asked
        }
        told(clusterId);
    }

    /**
     * The id, from a master that may begin at this moment, or lose its lead: what it says then tells nothing of whose its files are.
     *
     * @throws StoreException as {@link Question#clusterId}, or none had one in time
     */
    private String settledId() throws StoreException {
        long beganNanos = clock.nanos();
        try {
            for (String id = question.clusterId(); ; id = question.clusterId()) {
                if (!id.isEmpty()) {
                    return id;
                }
                if (clock.nanos() - beganNanos >= SETTLING_NANOS) {
                    throw StoreException.silence(
                            "Alluxio's master does not know its cluster id: it is starting, or does not lead", null);
                }
                clock.sleep(PAUSE_NANOS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted while waiting for Alluxio's master", e);
        }
    }

    /** Nobody listens at the address of the only master. */
    synchronized void absent() {
        if (isKnownFor(SILENCE_NANOS)) { // else another Alluxio may have begun, and ended
            knownNanos = clock.nanos();
            notifyAll();
        }
    }

    /** True if blocks are those of the Alluxio before. Never waits: where that is not known, it is found out meanwhile. */
    boolean mayRead() {
        if (!isWatching() || isKnownFor(COMPARED_NANOS)) {
            return true;
        }
        look(() -> !isKnownFor(COMPARED_NANOS));
        return isKnownFor(SILENCE_NANOS);
    }

    /** Compares on a thread of its own. */
    private void look(BooleanSupplier needed) {
        if (looking.compareAndSet(false, true)) {
            new UnpinnedThread(clock.background(() -> lookNow(needed)), "cluster-watch").start();
        }
    }

    private void lookNow(BooleanSupplier needed) {
        try {
            comparison.ask(false, needed, this::compare);
        } catch (StoreException e) {
            LOG.debug("The cluster id could not be compared: {}", e.getMessage());
        } finally {
            synchronized (this) {
                looking.set(false);
                notifyAll();
            }
        }
    }

    /**
     * Before blocks are read, which needs no master. Waits until it is known whose they are.
     *
     * @throws StoreException ESTALE: another Alluxio answers by now; EIO: none does; EINTR: the thread was interrupted, which it stays
     */
    void beforeRead() throws StoreException {
        int before = others;
        awaitComparison(Long.MAX_VALUE);
        if (others != before) {
            throw stale();
        }
        if (isWatching() && !isKnownFor(SILENCE_NANOS)) {
            throw new StoreException(Errno.EIO, UNKNOWN, null);
        }
    }

    /**
     * Waits until {@link #mayRead} returns true, or no more is to be found out, or for half a second.
     *
     * @throws StoreException EINTR: the thread was interrupted, which it stays
     */
    void beforeOpen() throws StoreException {
        awaitComparison(OPEN_NANOS);
    }

    private void awaitComparison(long limitNanos) throws StoreException {
        mayRead();
        await(limitNanos, () -> looking.get() && !isKnownFor(SILENCE_NANOS));
    }

    private void await(long limitNanos, BooleanSupplier waits) throws StoreException {
        long beganNanos = clock.nanos();
        synchronized (this) {
            try {
                for (long left = limitNanos; left > 0 && waits.getAsBoolean(); ) {
                    clock.waitOn(this, Math.min(left, SILENCE_NANOS));
                    left = limitNanos - (clock.nanos() - beganNanos);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreException(Errno.EINTR, "Interrupted while waiting for Alluxio's master", e);
            }
        }
    }
}

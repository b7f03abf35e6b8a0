package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
 */
final class ClusterWatch {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterWatch.class);

    static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** A call that took longer may have been sent again. */
    static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** So long reading waits for a comparison: it goes on while the master is away. */
    private static final long READ_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** So long after a comparison that was not answered reading waits for none. */
    private static final long AWAY_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** What a master of Alluxio 2 says that has read nothing of its journal, or nothing any more. */
    private static final String NO_ID = "INVALID_CLUSTER_ID";

    private final Question question;
    private final Clock clock;
    private final SharedRequest comparison = new SharedRequest();
    private final AtomicBoolean looking = new AtomicBoolean();
    private volatile @Nullable String known;
    private volatile @Nullable Consumer<String> hears;
    private volatile long answeredNanos;
    /** The last call was not answered. */
    private volatile boolean unanswered;
    /** When a comparison was not answered last, if one was not. */
    private volatile long awayNanos;

    private volatile boolean away;

    /** Asks the master for its cluster id. */
    interface Question {
        String clusterId() throws StoreException;
    }

    ClusterWatch(Question question, Clock clock) {
        this.question = question;
        this.clock = clock;
        this.answeredNanos = clock.nanos();
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
        return known == null || hears == null || !(unanswered || clock.nanos() - answeredNanos > SILENCE_NANOS);
    }

    /**
     * After the master answered.
     *
     * @throws StoreException ESTALE: perhaps another Alluxio than the one that was asked
     */
    void answered(long beganNanos) throws StoreException {
        long now = clock.nanos();
        if (now - beganNanos > LONG_NANOS && known != null && hears != null) {
            try {
                comparison.ask(true, () -> true, this::compare);
            } catch (StoreException e) {
                if (e.errno() == Errno.ESTALE) {
                    throw e;
                }
                unanswered = true;
            }
        } else if (!unanswered) {
            answeredNanos = now;
        }
    }

    /** The master did not answer. */
    void failed(StoreException failure) {
        if (failure.isOutcomeUnknown()) {
            unanswered = true;
        }
    }

    /** The master said this. */
    void told(String clusterId) throws StoreException {
        if (isAnother(clusterId)) {
            throw new StoreException(
                    Errno.ESTALE,
                    "Another Alluxio cluster answers, or this one was formatted or restored: reopen files by name",
                    null);
        }
    }

    private synchronized boolean isAnother(String clusterId) {
        String before = known;
        boolean another = before != null && !clusterId.isEmpty() && !before.equals(clusterId);
        if (!clusterId.isEmpty()) {
            known = clusterId;
        }
        Consumer<String> listener = hears;
        if (another && listener != null) {
            LOG.error(
                    "Alluxio was formatted or restored, or another cluster answers (cluster {}; it was {}): files"
                            + " open on this mount now fail with ESTALE; new opens by name work",
                    clusterId,
                    before);
            listener.accept(clusterId);
        }
        away = false;
        unanswered = false;
        answeredNanos = clock.nanos();
        return another && listener != null;
    }

    private void compare() throws StoreException {
        String clusterId;
        try {
            clusterId = question.clusterId();
        } catch (StoreException e) {
            if (e.isOutcomeUnknown()) {
                unanswered = true;
                awayNanos = clock.nanos();
                away = true;
                throw e;
            }
            clusterId = ""; // it may not be asked
        }
        told(clusterId);
    }

    /**
     * Before blocks are read, which needs no master: true if they may be those of the Alluxio before. Never waits: where that is not
     * known, it is found out meanwhile. While the master is away that takes long each time, and they are read: one that comes back
     * answers before it knows a worker, and so before there are other blocks.
     */
    boolean mayRead() {
        if (isSure()) {
            return true;
        }
        boolean wasAway = away;
        boolean asks = !wasAway || clock.nanos() - awayNanos >= AWAY_NANOS;
        if (asks && looking.compareAndSet(false, true)) {
            new UnpinnedThread(clock.background(this::look), "cluster-watch").start();
        }
        return wasAway;
    }

    private void look() {
        try {
            comparison.ask(false, () -> !isSure(), this::compare);
        } catch (StoreException e) {
            LOG.debug("The cluster id could not be compared: {}", e.getMessage());
        } finally {
            synchronized (this) {
                looking.set(false);
                notifyAll();
            }
        }
    }

    /** As {@link #mayRead}; waits for a moment until it is known. */
    void beforeRead() {
        if (mayRead()) {
            return;
        }
        long end = clock.nanos() + READ_WAIT_NANOS;
        synchronized (this) {
            try {
                for (long left = READ_WAIT_NANOS; looking.get() && left > 0; left = end - clock.nanos()) {
                    clock.waitOn(this, left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

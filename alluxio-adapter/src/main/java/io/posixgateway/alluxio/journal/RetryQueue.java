package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Retries what a failure, or an earlier process, left to be resolved in Alluxio, until it is done or the volume closes, with exponential
 * backoff. The first failure of a task is logged, and when it is done after one.
 *
 * <p>Any thread. Each task has a daemon thread of its own until it is done, so that one that waits for the copy of an object delays no
 * other. The end of the queue ends a pause at once, but no attempt in flight: an interrupt would close the spool files it uses.
 */
public final class RetryQueue {
    private static final Logger LOG = LoggerFactory.getLogger(RetryQueue.class);
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** A pause is shorter by up to a quarter, so that the mounts of a cluster do not return to its master in step. */
    private static final int JITTER_PART = 4;
    /** Spreads the last bits of the clock, which differ from host to host: as 2^64 divided by the golden ratio. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final Clock clock;
    /** By name, until it is done. Guarded by this. */
    private final Map<String, Entry> entries = new HashMap<>();

    private volatile boolean closed;

    /** What is attempted until it is done. */
    @FunctionalInterface
    public interface Task {
        /**
         * Attempts it once. Waits.
         *
         * @return false: it is to be attempted again
         * @throws StoreException the same, because Alluxio does not answer
         */
        boolean isDone() throws StoreException;
    }

    public RetryQueue(Clock clock) {
        this.clock = clock;
    }

    /** Attempts it until it is done, at once for the first time. One of this name that is in the queue is attempted once more instead. */
    public void start(String name, Task task) {
        add(name, task, 0);
    }

    /** As {@link #start}, the first time after a pause: it was attempted just now. */
    public void retry(String name, Task task) {
        add(name, task, MIN_PAUSE_NANOS);
    }

    private synchronized void add(String name, Task task, long pauseNanos) {
        Entry queued = entries.get(name);
        if (queued != null) {
            queued.again = true;
        } else if (!closed) {
            Entry entry = new Entry(name, task, pauseNanos);
            new UnpinnedThread(clock.background(entry::run), name).start();
            entries.put(name, entry); // it cannot end before, and is not there if the process gets no more threads
        }
    }

    /** False: it was added again meanwhile. */
    private synchronized boolean removed(Entry entry) {
        boolean over = !entry.again || closed;
        entry.again = false;
        return over && entries.remove(entry.name, entry);
    }

    private synchronized List<Entry> close() {
        closed = true;
        return List.copyOf(entries.values());
    }

    /**
     * Nothing is attempted from now on. Waits for attempts in flight, at most so long.
     *
     * @return false: some go on
     */
    public boolean close(long limitNanos) throws InterruptedException {
        List<Entry> all = close();
        all.forEach(Entry::wake);
        long endNanos = clock.nanos() + limitNanos;
        boolean ended = true;
        for (Entry entry : all) {
            ended &= clock.await(entry.ended, endNanos - clock.nanos());
        }
        return ended;
    }

    /** One task, and the loop of its thread. */
    private final class Entry {
        private final String name;
        private final Task task;
        private final CountDownLatch ended = new CountDownLatch(1);
        private final long beganNanos = clock.nanos();
        private long pauseNanos;
        private boolean failed;
        private boolean broke;
        /** Guarded by the queue. */
        private boolean again;

        private Entry(String name, Task task, long pauseNanos) {
            this.name = name;
            this.task = task;
            this.pauseNanos = pauseNanos;
        }

        private void run() {
            try {
                while (paused() && !(isDone() && removed(this))) {
                    pauseNanos = Math.min(MAX_PAUSE_NANOS, Math.max(MIN_PAUSE_NANOS, 2 * pauseNanos));
                }
            } finally {
                ended.countDown();
            }
        }

        private boolean isDone() {
            try {
                boolean done = task.isDone();
                if (done && (failed || broke)) {
                    long seconds = TimeUnit.NANOSECONDS.toSeconds(clock.nanos() - beganNanos);
                    LOG.info("Retrying {} succeeded after {} s", name, seconds);
                }
                return done;
            } catch (StoreException e) {
                if (!failed) {
                    LOG.info("Retrying {} until Alluxio answers: {}", name, e.getMessage());
                }
                failed = true;
            } catch (RuntimeException | Error e) {
                if (!broke) {
                    LOG.error("{} failed unexpectedly, and is retried until it succeeds", name, e);
                }
                broke = true;
            }
            return false;
        }

        /** False: the queue is closed. */
        private synchronized boolean paused() {
            long jitterNanos = Math.floorMod(clock.nanos() * SPREAD, pauseNanos / JITTER_PART + 1);
            long endNanos = clock.nanos() + pauseNanos - jitterNanos;
            try {
                for (long left = endNanos - clock.nanos(); !closed && left > 0; left = endNanos - clock.nanos()) {
                    clock.waitOn(this, left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            return !closed;
        }

        private synchronized void wake() {
            notifyAll();
        }
    }
}

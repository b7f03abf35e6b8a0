package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.time.Supervised;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads on which requests may wait: at most as many as the session allows, made when none is idle, ended after a minute
 * without work. One that has waited for a second no longer counts, so that a server that is slow or hangs does not hold up
 * what others would answer; there are never more than {@value #MAX_TIMES} times as many as the session allows, nor more
 * than {@link ExtraThreads} has for all sessions.
 *
 * <p>The queue has no bound of its own: what waits in it is a request that a slot of the transport holds, or memory for parked ones;
 * both are bounded.
 */
class BlockingPool {
    private static final long IDLE_SECONDS = 60;
    static final long STUCK_NANOS = 1_000_000_000L;
    static final int MAX_TIMES = 8;
    /** Of all pools. Its thread is made beforehand and stays: delays end by it, also while the process gets no more threads. */
    private static final ScheduledThreadPoolExecutor RELIEF = relief();

    private final int threads;
    private final SessionMetrics metrics;
    private final Later later;
    private final AtomicInteger made = new AtomicInteger();
    private final Set<Worker> alive = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean watched = new AtomicBoolean();
    private final ExtraThreads shared;
    /** Threads beyond those of the session. Guarded by this. */
    private int extra;

    private final IdleFirst queue = new IdleFirst();
    private final ThreadPoolExecutor executor;

    /** Does something in a while, on a thread that is not the pool's. */
    @FunctionalInterface
    interface Later {
        void run(Runnable work, long delayNanos);
    }

    /** On a thread that all pools share. */
    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for it
    static Later later() {
        return (work, delayNanos) -> RELIEF.schedule(() -> runLater(work), delayNanos, TimeUnit.NANOSECONDS);
    }

    /** The executor would tell nobody what failed. */
    @SuppressWarnings("CatchingUnchecked")
    private static void runLater(Runnable work) {
        try {
            work.run();
        } catch (Throwable failure) {
            Failures.uncaught(failure);
        }
    }

    /** @param later looks after threads that are stuck */
    BlockingPool(int threads, SessionMetrics metrics, Later later) {
        this(threads, metrics, later, ExtraThreads.OF_PROCESS);
    }

    /** @param shared with other pools */
    BlockingPool(int threads, SessionMetrics metrics, Later later, ExtraThreads shared) {
        this.threads = threads;
        this.shared = shared;
        this.metrics = metrics;
        this.later = later;
        executor = new Timed(threads, queue, work -> newThread(work), (work, full) -> queue(work));
    }

    /** One that takes work, this piece first. */
    Thread newThread(Runnable work) {
        return new Worker(work);
    }

    private static ScheduledThreadPoolExecutor relief() {
        ScheduledThreadPoolExecutor relief =
                new ScheduledThreadPoolExecutor(1, task -> new UnpinnedThread(task, "fuse-pool-relief"));
        relief.prestartCoreThread();
        return relief;
    }

    /** Takes work at once only when a thread waits for it; else the executor makes one, as long as it may. */
    private static final class IdleFirst extends LinkedTransferQueue<Runnable> {
        private static final long serialVersionUID = 1;

        @Override
        public boolean offer(Runnable work) {
            return tryTransfer(work);
        }
    }

    /** A thread, and since when it is at its present work; 0: it has none. */
    private final class Worker extends UnpinnedThread {
        private volatile long sinceNanos;

        Worker(Runnable work) {
            super(work, "fuse-pool-" + made.incrementAndGet());
        }

        @Override
        public void run() {
            alive.add(this);
            metrics.workerStarted();
            try {
                super.run();
            } finally {
                metrics.workerEnded();
                alive.remove(this);
            }
        }
    }

    /** Notes when work begins and ends. */
    private final class Timed extends ThreadPoolExecutor {
        Timed(int threads, IdleFirst queue, ThreadFactory factory, RejectedExecutionHandler full) {
            super(0, threads, IDLE_SECONDS, TimeUnit.SECONDS, queue, factory, full);
        }

        @Override
        protected void beforeExecute(Thread thread, Runnable work) {
            if (thread instanceof Worker worker) {
                worker.sinceNanos = metrics.clock().nanos() | 1;
            }
        }

        @Override
        protected void afterExecute(Runnable work, Throwable failure) {
            if (Thread.currentThread() instanceof Worker worker) {
                worker.sinceNanos = 0;
            }
        }
    }

    /** No thread is idle, and there are as many as there may be. */
    private void queue(Runnable work) {
        if (executor.isShutdown()) {
            throw new RejectedExecutionException("The pool is closed");
        }
        queue.put(work);
        if (executor.isShutdown() && queue.remove(work)) {
            throw new RejectedExecutionException("The pool is closed");
        }
        watch();
    }

    /** Throws nothing: what is in the queue is the pool's. If this fails, what comes next into the queue tries it again. */
    private void watch() {
        if (watched.compareAndSet(false, true)) {
            try {
                later.run(this::relieve, STUCK_NANOS / 4);
            } catch (RuntimeException | Error e) {
                watched.set(false);
                Supervised.failed("Looking after the threads of requests", e);
            }
        }
    }

    /**
     * Makes threads in the place of those that are stuck, as long as there is work for them. The work stays in the queue: what was
     * taken out when the pool is closed would find no thread any more.
     */
    private void relieve() {
        watched.set(false);
        int most = threads + extra(Math.min(threads * (MAX_TIMES - 1), stuck()));
        executor.setMaximumPoolSize(most);
        addThreads(most);
        if ((most > threads || !queue.isEmpty()) && !executor.isTerminated()) {
            watch();
        }
    }

    private synchronized int extra(int wanted) {
        extra = shared.change(extra, wanted);
        return extra;
    }

    /** The executor makes core threads for what is queued, a closed one too; without a core they end when they are idle. */
    private void addThreads(int most) {
        int wanted = Math.min(most, executor.getPoolSize() + queue.size());
        if (wanted > executor.getPoolSize()) {
            executor.setCorePoolSize(wanted);
            executor.setCorePoolSize(0);
        }
    }

    /** So many threads there may be now. */
    int most() {
        return executor.getMaximumPoolSize();
    }

    /** Threads made so far. */
    int made() {
        return made.get();
    }

    private int stuck() {
        long now = metrics.clock().nanos();
        int count = 0;
        for (Worker worker : alive) {
            long since = worker.sinceNanos;
            count += since != 0 && now - since > STUCK_NANOS ? 1 : 0;
        }
        return count;
    }

    /** Runs it on a thread of the pool; false: the pool is closed, or the process gets no more threads. */
    boolean execute(Runnable work) {
        try {
            executor.execute(work);
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        } catch (OutOfMemoryError noThread) {
            Failures.uncaught(noThread);
            return false;
        }
    }

    /** Takes nothing new and waits, for a bounded time, until what was taken is done; false on time-out. */
    boolean finish(long seconds) {
        executor.shutdown();
        try {
            if (!executor.awaitTermination(seconds, TimeUnit.SECONDS)) {
                return false;
            }
            for (Thread thread : alive) {
                thread.join(TimeUnit.SECONDS.toMillis(seconds));
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

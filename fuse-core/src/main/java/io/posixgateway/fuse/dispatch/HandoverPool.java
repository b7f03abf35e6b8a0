package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.SessionMetrics;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads on which requests may wait: at most as many as the session allows, made when none is idle, ended after a minute
 * without work.
 *
 * <p>The queue has no bound of its own: what waits in it holds a slot of the transport, and those are bounded.
 */
final class HandoverPool {
    private static final long IDLE_SECONDS = 60;

    private final SessionMetrics metrics;
    private final AtomicInteger made = new AtomicInteger();
    private final Set<Thread> alive = ConcurrentHashMap.newKeySet();
    private final ThreadPoolExecutor executor;

    HandoverPool(int threads, SessionMetrics metrics) {
        this.metrics = metrics;
        executor = new ThreadPoolExecutor(
                0, threads, IDLE_SECONDS, TimeUnit.SECONDS, new IdleFirst(), this::thread, HandoverPool::queue);
    }

    /** Takes work at once only when a thread waits for it; else the executor makes one, as long as it may. */
    private static final class IdleFirst extends LinkedTransferQueue<Runnable> {
        private static final long serialVersionUID = 1;

        @Override
        public boolean offer(Runnable work) {
            return tryTransfer(work);
        }
    }

    /** No thread is idle, and there are as many as there may be. */
    private static void queue(Runnable work, ThreadPoolExecutor executor) {
        if (!executor.isShutdown() && executor.getQueue() instanceof IdleFirst queue) {
            queue.put(work);
            if (!executor.isShutdown() || !queue.remove(work)) {
                return;
            }
        }
        throw new RejectedExecutionException("The pool is closed");
    }

    private Thread thread(Runnable work) {
        Thread thread = new Thread(
                () -> {
                    alive.add(Thread.currentThread());
                    metrics.workerStarted();
                    try {
                        work.run();
                    } finally {
                        metrics.workerEnded();
                        alive.remove(Thread.currentThread());
                    }
                },
                "fuse-pool-" + made.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    /** Runs it on a thread of the pool; false: the pool is closed. */
    boolean execute(Runnable work) {
        try {
            executor.execute(work);
            return true;
        } catch (RejectedExecutionException closed) {
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

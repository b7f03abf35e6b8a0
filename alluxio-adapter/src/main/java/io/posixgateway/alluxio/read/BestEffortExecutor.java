package io.posixgateway.alluxio.read;

import io.posixgateway.fuse.jni.UnpinnedThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Bounded best-effort executor; rejects work when busy. Any thread. */
final class BestEffortExecutor implements AutoCloseable {
    private final int most;
    private final AtomicInteger busy = new AtomicInteger();
    private final ThreadPoolExecutor threads;

    BestEffortExecutor(int most, String name) {
        this.most = most;
        threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                10,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> new UnpinnedThread(task, name),
                new ThreadPoolExecutor.AbortPolicy());
    }

    /** Is there one for more work? A hint. */
    boolean areFree() {
        return busy.get() < most;
    }

    /** Does the work on another thread; false: all are busy, and it is not done. */
    boolean help(Runnable work) {
        if (busy.incrementAndGet() > most || threads.isShutdown()) {
            busy.decrementAndGet();
            return false;
        }
        try {
            threads.execute(() -> {
                try {
                    work.run();
                } finally {
                    busy.decrementAndGet();
                }
            });
            return true;
        } catch (RejectedExecutionException | OutOfMemoryError e) { // closed meanwhile, or there are no more threads
            busy.decrementAndGet();
            return false;
        }
    }

    /** What is under way goes on. */
    @Override
    public void close() {
        threads.shutdown();
    }
}

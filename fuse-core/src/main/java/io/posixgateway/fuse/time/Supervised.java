package io.posixgateway.fuse.time;

import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work of which nobody would notice that it is done no more: what it throws unexpectedly is logged, and ends neither its thread nor what
 * follows. A want of memory goes to the thread's handler of uncaught exceptions as well, which may end the process. Any thread.
 */
public final class Supervised {
    private static final Logger LOG = LoggerFactory.getLogger(Supervised.class);

    private Supervised() {}

    /** @param what is done, as the log begins a sentence: "Checking volume a" */
    public static void run(String what, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            failed(what, e);
        }
    }

    /** For a thread of its own: the work is done after each pause until the thread is interrupted. */
    public static Runnable periodically(Clock clock, long pauseNanos, String what, Runnable work) {
        return () -> {
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    clock.sleep(pauseNanos);
                    run(what, work);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
    }

    /** On a daemon thread of its own. */
    public static Thread start(String name, String what, Runnable work) {
        Thread thread = new Thread(() -> run(what, work), name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Does all at the same time, each on a thread of its own, and waits for that, but not longer than so; false: some goes on. */
    public static boolean together(String name, Collection<Runnable> all, Clock clock, long limitNanos) {
        CountDownLatch open = new CountDownLatch(all.size());
        for (Runnable work : all) {
            start(name, name, () -> {
                try {
                    work.run();
                } finally {
                    open.countDown();
                }
            });
        }
        try {
            return clock.await(open, limitNanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** As {@link #run} does with what was thrown. */
    public static void failed(String what, Throwable failure) {
        LOG.error("{} failed unexpectedly", what, failure);
        if (failure instanceof OutOfMemoryError) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        }
    }
}

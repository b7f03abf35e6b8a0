package io.posixgateway.alluxio.write;

import io.posixgateway.fuse.time.Clock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread of its own that does something again and again while there is something to do. Any thread. */
final class PeriodicThread {
    private static final Logger LOG = LoggerFactory.getLogger(PeriodicThread.class);

    private final Clock clock;
    private final String name;
    private final long pauseNanos;
    private final BooleanSupplier hasWork;
    private final Runnable work;
    private final Runnable last;
    // Guarded by this.
    private @Nullable Thread thread;
    private volatile boolean closed;

    /**
     * @param hasWork asked after each pause; without, the thread ends until the next start
     * @param last what a thread does that ends by the close
     */
    PeriodicThread(Clock clock, String name, long pauseNanos, BooleanSupplier hasWork, Runnable work, Runnable last) {
        this.clock = clock;
        this.name = name;
        this.pauseNanos = pauseNanos;
        this.hasWork = hasWork;
        this.work = work;
        this.last = last;
    }

    /** There may be something to do from now on. */
    synchronized void start() {
        if (thread == null && !closed) {
            Thread started = new Thread(clock.background(this::run), name);
            started.setDaemon(true);
            started.start();
            thread = started;
        }
    }

    /** For good, once its work is done. Returns the thread; null: there was none. */
    synchronized @Nullable Thread close() {
        closed = true;
        notifyAll();
        return thread;
    }

    private void run() {
        while (goesOn()) {
            runSafely();
        }
        if (closed) {
            last.run();
        }
    }

    private void runSafely() {
        try {
            work.run();
        } catch (RuntimeException | Error e) { // nobody would notice that the thread is no more
            LOG.error("{} failed unexpectedly; it will be run again", name, e);
        }
    }

    private synchronized boolean goesOn() {
        long end = clock.nanos() + pauseNanos;
        try {
            for (long left = pauseNanos; !closed && left > 0; left = end - clock.nanos()) {
                clock.waitOn(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        boolean any =
                !closed && hasWork.getAsBoolean() && !Thread.currentThread().isInterrupted();
        if (!any) {
            thread = null;
        }
        return any;
    }
}

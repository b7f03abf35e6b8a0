package io.posixgateway.alluxio.simulation;

import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.fuse.conformance.Stacks;
import io.posixgateway.fuse.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The time of one mount, whose background threads run one at a time, in the order in which their work was given, and only while the
 * simulation, or a request that waits for them, lets them: in {@link #run}.
 *
 * <p>A thread has its turn until it waits by this clock, or ends. What sleeps while it may hold locks, which is whatever but the loops of a
 * thread's own, makes the time pass in place of sleeping.
 */
final class Turns implements Clock {
    private static final long LIMIT_MILLIS = 60_000;
    /** A thread pool starts what it was given within so long, unless its threads wait, or it dropped it: then it gets a turn later. */
    private static final long START_MILLIS = 5_000;

    private static final long AGAIN_MILLIS = 50;
    private static final long LATER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ManualClock time;
    private final List<Task> tasks = new ArrayList<>();
    private final Map<Thread, Task> own = new ConcurrentHashMap<>();
    private volatile boolean released;

    Turns(ManualClock time) {
        this.time = time;
    }

    /** The work of one background thread. Guarded by this clock's monitor. */
    private static final class Task {
        /** So long it waits; it is ready once that is over. */
        private long untilNanos;

        private boolean waits;
        private boolean hasTurn;
        private boolean started;
        private boolean late;
        private @Nullable Object monitor;
    }

    @Override
    public Runnable background(Runnable work) {
        Task task = new Task();
        synchronized (this) {
            tasks.add(task);
        }
        return () -> {
            own.put(Thread.currentThread(), task);
            awaitFirstTurn(task);
            try {
                work.run();
            } finally {
                own.remove(Thread.currentThread());
                end(task);
            }
        };
    }

    private synchronized void awaitFirstTurn(Task task) {
        task.started = true;
        notifyAll();
        try {
            while (!task.hasTurn && !released) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void end(Task task) {
        tasks.remove(task);
        task.hasTurn = false;
        notifyAll();
    }

    /** Lets background threads run until each waits for a later time. By the thread that has the foreground. */
    void run() {
        for (Task next = ready(); next != null; next = ready()) {
            give(next);
        }
    }

    private synchronized @Nullable Task ready() {
        long now = time.nanos();
        return tasks.stream()
                .filter(task -> !task.waits || now - task.untilNanos >= 0)
                .findFirst()
                .orElse(null);
    }

    /** The time at which the next one is ready; {@link Long#MAX_VALUE}: none waits. */
    synchronized long nextNanos() {
        return tasks.stream()
                .filter(task -> task.waits)
                .mapToLong(task -> task.untilNanos)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private void give(Task task) {
        Object monitor;
        synchronized (this) {
            task.waits = false;
            task.hasTurn = true;
            monitor = task.monitor;
            notifyAll();
        }
        wake(monitor);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS);
        synchronized (this) {
            if (!isStarted(task)) {
                return;
            }
            while (task.hasTurn) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0) {
                    throw new AssertionError("a background thread neither ends nor waits: " + Stacks.all());
                }
                try {
                    wait(left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    /** False: it has no thread yet, and its turn is over. */
    private synchronized boolean isStarted(Task task) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(task.late ? AGAIN_MILLIS : START_MILLIS);
        long left = deadline - System.nanoTime();
        try {
            for (; !task.started && left > 0; left = deadline - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        if (!task.started) {
            task.late = true;
            task.hasTurn = false;
            task.waits = true;
            task.untilNanos = time.nanos() + LATER_NANOS;
        }
        return task.started;
    }

    @SuppressWarnings("NakedNotify") // what it waits for is its turn
    private static void wake(@Nullable Object monitor) {
        if (monitor != null) {
            synchronized (monitor) {
                monitor.notifyAll();
            }
        }
    }

    /** From now on all run as they like, and no wait is longer than a moment: the mount ends. */
    void release() {
        List<Task> all;
        synchronized (this) {
            released = true;
            all = List.copyOf(tasks);
            notifyAll();
        }
        all.forEach(task -> wake(task.monitor));
    }

    @Override
    public long nanos() {
        return time.nanos();
    }

    @Override
    public Instant instant() {
        return time.instant();
    }

    @Override
    @SuppressWarnings("WaitNotInLoop") // the caller's
    public void waitOn(Object monitor, long nanos) throws InterruptedException {
        Task task = own.get(Thread.currentThread());
        if (released) {
            monitor.wait(1);
        } else if (task != null) {
            park(task, monitor, nanos);
        } else if (ready() != null) {
            letRun(monitor);
        } else {
            time.advance(Duration.ofNanos(nanos)); // it waits for what nobody does
        }
    }

    /** The caller holds the monitor, which is free meanwhile. */
    private void letRun(Object monitor) throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread helper = new Thread(
                () -> {
                    try {
                        run();
                    } finally {
                        synchronized (monitor) {
                            done.set(true);
                            monitor.notifyAll();
                        }
                    }
                },
                "turns");
        helper.start();
        while (!done.get()) {
            monitor.wait();
        }
    }

    /** The caller holds the monitor. */
    private void park(Task task, Object monitor, long nanos) throws InterruptedException {
        synchronized (this) {
            task.untilNanos = time.nanos() + nanos;
            task.waits = true;
            task.monitor = monitor;
            task.hasTurn = false;
            notifyAll();
        }
        while (!hasTurn(task) && !released) {
            monitor.wait();
            notified(task);
        }
        synchronized (this) {
            task.monitor = null;
        }
    }

    private synchronized boolean hasTurn(Task task) {
        return task.hasTurn;
    }

    /** By whom it waited for, if it was not given its turn: it is to look again. */
    private synchronized void notified(Task task) {
        if (!task.hasTurn) {
            task.untilNanos = time.nanos();
        }
    }

    @Override
    public boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
        if (released) {
            return latch.await(1, TimeUnit.MILLISECONDS);
        }
        long end = time.nanos() + nanos;
        while (own.get(Thread.currentThread()) == null) {
            run();
            if (latch.getCount() == 0) {
                return true;
            }
            long left = end - time.nanos();
            if (left <= 0) {
                return false;
            }
            long next = nextNanos();
            long step = next == Long.MAX_VALUE ? left : Math.max(1, next - time.nanos());
            time.advance(Duration.ofNanos(Math.min(left, step)));
        }
        throw new AssertionError("a background thread waits for another");
    }

    @Override
    public void sleep(long nanos) throws InterruptedException {
        Task task = own.get(Thread.currentThread());
        if (released) {
            Thread.sleep(1);
        } else if (task == null || mayHoldLocks()) {
            time.advance(Duration.ofNanos(nanos));
        } else {
            Object bed = new Object();
            synchronized (bed) {
                park(task, bed, nanos);
            }
        }
    }

    /** The loops of a thread's own sleep by {@link Clock#pause}, which holds none. */
    private static boolean mayHoldLocks() {
        return !StackWalker.getInstance().walk(frames -> frames.skip(2)
                .findFirst()
                .map(frame -> frame.getMethodName().equals("pause"))
                .orElse(false));
    }
}

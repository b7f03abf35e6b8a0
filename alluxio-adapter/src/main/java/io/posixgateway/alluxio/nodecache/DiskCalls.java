package io.posixgateway.alluxio.nodecache;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Calls of a disk that may hang. Any thread.
 *
 * <p>A call that somebody waits for is made by one of a few threads, and he waits for {@link #ANSWER_NANOS} at most: the thread of a
 * call without an answer stays with it, and the disk is suspended, see {@link Outage}, until all such calls were answered. Meanwhile none
 * is begun. What nobody waits for is made by the thread that asks, and suspends the disk when it takes very long.
 *
 * <pre>
 *   queued ──► running ──► answered          overdue: its caller has left with Suspended
 *      └──────────┴──────► overdue ──► answered, and discarded
 * </pre>
 */
final class DiskCalls {
    static final long ANSWER_NANOS = 2_000_000_000L;
    /** A change with its sync, of a disk that is busy. */
    static final long CHANGE_NANOS = 30_000_000_000L;

    static final int MAX_THREADS = 8;
    private static final int BUFFER_BYTES = 1 << 20;

    private final Outage outage;
    private final Clock clock;
    private final ThreadPoolExecutor threads;
    /** As many as there were reads at a time. */
    private final ConcurrentLinkedQueue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();

    /** What nobody waits for, and is made now. */
    private final AtomicReference<@Nullable Change> change = new AtomicReference<>();

    DiskCalls(Outage outage, Clock clock) {
        this(outage, clock, MAX_THREADS);
    }

    /** @param most so many calls are made at a time */
    DiskCalls(Outage outage, Clock clock, int most) {
        this.outage = outage;
        this.clock = clock;
        threads = new ThreadPoolExecutor(
                most,
                most,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> new UnpinnedThread(task, "data-cache-disk"));
        threads.allowCoreThreadTimeOut(true);
    }

    /** A call of the disk. */
    interface Work<T> {
        T run() throws IOException;
    }

    /** Does the disk not answer? Never waits. */
    boolean isSuspended() {
        Change now = change.get();
        if (now != null && clock.nanos() - now.endNanos >= 0 && now.isOverdueFirst()) {
            outage.suspended();
        }
        return outage.isSuspended();
    }

    /**
     * Makes a call, and waits for its answer, but not for long.
     *
     * @param late gets an answer that comes when nobody waits for it any more
     * @throws Suspended there is none now
     */
    <T> T answered(Work<T> work, Consumer<T> late) throws IOException {
        if (isSuspended()) {
            throw new Suspended();
        }
        Call<T> call = new Call<>(work, late);
        try {
            threads.execute(call);
        } catch (OutOfMemoryError noThread) {
            throw new Suspended();
        }
        try {
            if (!clock.await(call.done, ANSWER_NANOS) && call.leave(true)) {
                throw new Suspended();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (call.leave(false)) {
                throw new Suspended();
            }
        }
        return call.answer();
    }

    /** Does what nobody waits for on one of the threads, one day. */
    void later(Runnable work) {
        threads.execute(work);
    }

    /** Makes a call on this thread, which nobody waits for; one at a time. */
    <T> T unawaited(long limitNanos, Work<T> work) throws IOException {
        Change now = new Change(clock.nanos() + limitNanos);
        change.set(now);
        try {
            return work.run();
        } finally {
            change.set(null);
            if (!now.isOverdueFirst()) {
                outage.resumed();
            }
        }
    }

    /**
     * Memory for a read, to be given back.
     *
     * @throws IOException there is none, as a call of the system says it
     */
    ByteBuffer takeBuffer() throws IOException {
        ByteBuffer buffer = buffers.poll();
        try {
            return buffer == null ? ByteBuffer.allocateDirect(BUFFER_BYTES) : buffer.clear();
        } catch (OutOfMemoryError e) {
            throw new IOException(Native.errorText(-Errno.ENOMEM), e);
        }
    }

    void giveBuffer(ByteBuffer buffer) {
        buffers.add(buffer);
    }

    /** The disk does not answer. It says nothing of what it was asked. */
    static final class Suspended extends IOException {
        private static final long serialVersionUID = 1;

        Suspended() {
            super("the disk does not answer");
        }
    }

    private static final class Change {
        private final long endNanos;
        private boolean settled;

        Change(long endNanos) {
            this.endNanos = endNanos;
        }

        /** True once: for who found it overdue, or for who ended it before. */
        synchronized boolean isOverdueFirst() {
            boolean first = !settled;
            settled = true;
            return first;
        }
    }

    private final class Call<T> implements Runnable {
        private final CountDownLatch done = new CountDownLatch(1);
        private final Work<T> work;
        private final Consumer<T> late;
        // Guarded by this.
        private boolean left;
        private boolean overdue;
        private @Nullable T result;
        private @Nullable Throwable failure;

        Call(Work<T> work, Consumer<T> late) {
            this.work = work;
            this.late = late;
        }

        /** Nobody waits any more; false: it was answered just now. */
        synchronized boolean leave(boolean isOverdue) {
            if (done.getCount() == 0) {
                return false;
            }
            left = true;
            if (isOverdue) {
                overdue = true;
                outage.suspended();
            }
            return true;
        }

        @Override
        public void run() {
            T found = null;
            Throwable thrown = null;
            try {
                found = isWanted() ? work.run() : null;
            } catch (IOException | RuntimeException | Error e) {
                thrown = e;
            }
            if (isLate(found, thrown) && found != null) {
                late.accept(found);
            }
        }

        private synchronized boolean isWanted() {
            return !left;
        }

        private synchronized boolean isLate(@Nullable T found, @Nullable Throwable thrown) {
            result = found;
            failure = thrown;
            done.countDown();
            if (overdue) {
                outage.resumed();
            }
            return left;
        }

        synchronized T answer() throws IOException {
            if (failure instanceof IOException e) {
                throw e;
            }
            if (failure != null || result == null) {
                throw new IllegalStateException("a call of the data cache's disk failed", failure);
            }
            return result;
        }
    }
}

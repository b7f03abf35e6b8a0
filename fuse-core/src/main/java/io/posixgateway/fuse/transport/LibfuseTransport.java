package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Libfuse;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.metrics.SessionMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Messages over /dev/fuse, received by libfuse 2.9's threads, which it makes and ends by its own policy; each calls up into
 * Java with one cached method, is attached once and detached when it ends.
 */
public final class LibfuseTransport implements Transport {
    /** libfuse makes a thread whenever none is idle; beyond this many they wait. */
    private static final int MAX_LANES = 256;

    private static final int HANDOVER_SLOTS = 64;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final int fd;
    private final SessionMetrics metrics;
    private final MessageSlots slots;
    private final @Nullable DeviceWorker[] lanes = new DeviceWorker[MAX_LANES];
    private final Deque<Integer> freeLanes = new ArrayDeque<>();
    private final CountDownLatch ready = new CountDownLatch(1);
    private final CountDownLatch running = new CountDownLatch(1);
    private volatile long handle;
    /** No thread receives any more. */
    private boolean stopped;

    private boolean closed;
    /** Once closed: nothing is in use any more. */
    private boolean unused;

    /** @param fd of a mounted connection; borrowed */
    public LibfuseTransport(int fd, TransportConfig sizes, SessionMetrics metrics) {
        this.fd = fd;
        this.metrics = metrics;
        slots = new MessageSlots(MAX_LANES + HANDOVER_SLOTS, sizes.maxWriteBytes(), metrics.clock());
        for (int i = 0; i < MAX_LANES; i++) {
            freeLanes.add(i);
        }
        Native.installWake();
    }

    @Override
    public String name() {
        return "libfuse";
    }

    @Override
    public void start(RequestHandler handler) {
        handle = Libfuse.open(fd, new Lanes(handler), slots.geometry());
        if (handle < 0) {
            throw new IllegalStateException("libfuse: " + Native.errorText(handle));
        }
        Thread thread = new Thread(this::run, "pgw-libfuse-loop");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            Libfuse.run(handle);
        } finally {
            running.countDown();
        }
    }

    @Override
    public void awaitReady(long timeoutNanos) throws IOException, InterruptedException {
        if (!ready.await(timeoutNanos, TimeUnit.NANOSECONDS)) {
            throw new IOException("the kernel did not start the session in time");
        }
    }

    @Override
    public String geometry() {
        return "threads by demand " + slots.describe();
    }

    @Override
    public int notify(ByteBuffer message, int bytes) {
        return Native.write(fd, message, bytes);
    }

    @Override
    public boolean ended() {
        return running.getCount() == 0;
    }

    @Override
    public boolean await(long timeoutNanos) throws InterruptedException {
        return running.await(timeoutNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public synchronized void stop() {
        if (!stopped) {
            stopped = handle <= 0 || Closing.wait("libfuse's threads", this::stop);
        }
    }

    @Override
    public synchronized boolean close() {
        if (closed) {
            return unused;
        }
        closed = true;
        stop();
        unused = stopped && Closing.wait("offloaded requests", slots::awaitAnswered);
        if (unused) {
            if (handle > 0) {
                Libfuse.close(handle);
            }
            slots.unmap();
        }
        return unused;
    }

    private boolean stop(long timeoutNanos) throws InterruptedException {
        long end = metrics.clock().nanos() + timeoutNanos;
        while (!running.await(PAUSE_NANOS, TimeUnit.NANOSECONDS)) {
            if (metrics.clock().nanos() - end >= 0) {
                return false;
            }
            Libfuse.stop(handle);
        }
        return true;
    }

    /** What libfuse's threads call. */
    private final class Lanes implements Libfuse.Target {
        private final RequestHandler handler;

        Lanes(RequestHandler handler) {
            this.handler = handler;
        }

        @Override
        public long enter() {
            synchronized (freeLanes) {
                MessageSlot slot = freeLanes.isEmpty() ? null : slots.take();
                if (slot == null) {
                    return -1;
                }
                int lane = freeLanes.pop();
                lanes[lane] = new DeviceWorker(fd, slot);
                metrics.workerStarted();
                return ((long) lane << 32) | slot.index();
            }
        }

        @Override
        public int handle(int number, int bytes) {
            DeviceWorker lane = lanes[number];
            if (lane == null) {
                throw new IllegalStateException("no lane " + number);
            }
            MessageSlot slot = lane.current;
            slot.begin(lane, bytes);
            boolean init = slot.isInit();
            handler.handleAndGoOn(slot);
            if (init) {
                lane.flush();
                ready.countDown();
            }
            int next = (lane.current.index() << 1) | (lane.replyPending ? 1 : 0);
            lane.replyPending = false;
            return next;
        }

        @Override
        public void leave(int number) {
            synchronized (freeLanes) {
                DeviceWorker lane = lanes[number];
                if (lane != null) {
                    slots.give(lane.current);
                }
                lanes[number] = null;
                freeLanes.push(number);
                metrics.workerEnded();
            }
        }
    }
}

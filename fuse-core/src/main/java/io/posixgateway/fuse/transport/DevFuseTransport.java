package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.metrics.SessionMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Messages over /dev/fuse, received by a fixed number of Java's threads.
 *
 * <p>A request belongs to the descriptor that it was read from: when that one is closed, by whoever has it last, the kernel ends
 * the request with ECONNABORTED. Where the connection ends with this process, each thread has a descriptor of its own. That of a
 * kept connection is shared with its keeper, so requests read from it outlive this process, for the next one to ask for again; a
 * kernel that cannot send them again must not have any there, and they are read from a clone that nobody else has.
 */
public final class DevFuseTransport implements Transport {
    /** Requests that can wait beside those that the threads hold. */
    private static final int HANDOVER_SLOTS = 64;

    private final int fd;
    /** Owned. */
    private final List<Integer> clones;

    private final List<Integer> descriptors = new ArrayList<>();
    private final MessageSlots slots;
    private final DeviceReaders readers;
    private final CountDownLatch ready;
    /** No thread receives any more. */
    private boolean stopped;

    private boolean closed;
    /** Once closed: nothing is in use any more. */
    private boolean unused;

    /**
     * @param clones threads receive from them and from fd by turns; the transport's from here on, though this throws
     * @param oneOnly null: from all of them
     */
    private DevFuseTransport(
            int fd,
            List<Integer> clones,
            @Nullable Integer oneOnly,
            boolean negotiated,
            TransportConfig sizes,
            SessionMetrics metrics) {
        this.fd = fd;
        this.clones = clones;
        ready = new CountDownLatch(negotiated ? 0 : 1);
        for (int i = 0; i < sizes.threads(); i++) {
            int own = i == 0 || i > clones.size() ? fd : clones.get(i - 1);
            descriptors.add(oneOnly == null ? own : oneOnly);
        }
        try {
            slots = new MessageSlots(sizes.threads() + HANDOVER_SLOTS, sizes.maxWriteBytes(), metrics.clock());
        } catch (OutOfMemoryError e) {
            clones.forEach(Native::close);
            throw e;
        }
        readers = new DeviceReaders("pgw-devfuse", descriptors, slots, metrics, slot -> ready.countDown());
    }

    /**
     * Of a connection that ends with this process.
     *
     * @param fd of a mounted connection; borrowed
     */
    public static DevFuseTransport own(int fd, TransportConfig sizes, SessionMetrics metrics) {
        List<Integer> clones = new ArrayList<>();
        for (int i = 1; i < sizes.threads(); i++) {
            int clone = Native.cloneDevice(fd);
            if (clone >= 0) {
                clones.add(clone);
            }
        }
        return new DevFuseTransport(fd, clones, null, false, sizes, metrics);
    }

    /**
     * Of a connection that a keeper holds, too.
     *
     * @param fd the keeper's; borrowed
     * @param clone to receive from, which nobody else has and which is the transport's from here on, though this throws; -1:
     *     receive from fd, as the kernel sends again what this process will not answer
     * @param negotiated INIT was answered by an earlier process
     */
    public static DevFuseTransport kept(
            int fd, int clone, boolean negotiated, TransportConfig sizes, SessionMetrics metrics) {
        List<Integer> clones = clone < 0 ? List.of() : List.of(clone);
        DevFuseTransport transport =
                new DevFuseTransport(fd, clones, clone < 0 ? fd : clone, negotiated, sizes, metrics);
        transport.slots.touch();
        return transport;
    }

    @Override
    public String name() {
        return "devfuse";
    }

    @Override
    public void start(RequestHandler handler) {
        readers.start(handler);
    }

    @Override
    public void awaitReady(long timeoutNanos) throws IOException, InterruptedException {
        if (!ready.await(timeoutNanos, TimeUnit.NANOSECONDS)) {
            throw new IOException("the kernel did not start the session in time");
        }
    }

    @Override
    public String geometry() {
        return "threads " + descriptors.size() + " " + slots.describe();
    }

    @Override
    public int notify(ByteBuffer message, int bytes) {
        return Native.write(fd, message, bytes);
    }

    @Override
    public boolean ended() {
        return readers.ended();
    }

    @Override
    public boolean await(long timeoutNanos) throws InterruptedException {
        return readers.await(timeoutNanos);
    }

    @Override
    public synchronized void stop() {
        if (!stopped) {
            stopped = Closing.wait("receiving threads", readers::stop);
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
            clones.forEach(Native::close);
            slots.unmap();
        } else {
            clones.forEach(Native::retire);
        }
        return unused;
    }
}

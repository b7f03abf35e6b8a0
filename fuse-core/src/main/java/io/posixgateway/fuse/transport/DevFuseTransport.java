package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.metrics.SessionMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Messages over /dev/fuse, received by a fixed number of Java's threads, each with a descriptor of its own where it may. */
public final class DevFuseTransport implements Transport {
    /** Requests that can wait beside those that the threads hold. */
    private static final int HANDOVER_SLOTS = 64;

    private final int fd;
    private final List<Integer> clones = new ArrayList<>();
    private final List<Integer> descriptors = new ArrayList<>();
    private final MessageSlots slots;
    private final DeviceReaders readers;
    private final CountDownLatch ready;
    /** No thread receives any more. */
    private boolean stopped;

    private boolean closed;

    /**
     * @param fd of a mounted connection; borrowed
     * @param kept the connection outlives this process: no cloned descriptors, whose requests would die with them
     * @param negotiated INIT was answered by an earlier process
     */
    public DevFuseTransport(int fd, boolean kept, boolean negotiated, Sizes sizes, SessionMetrics metrics) {
        this.fd = fd;
        ready = new CountDownLatch(negotiated ? 0 : 1);
        descriptors.add(fd);
        for (int i = 1; i < sizes.threads(); i++) {
            descriptors.add(kept ? fd : cloneOrSame());
        }
        slots = new MessageSlots(sizes.threads() + HANDOVER_SLOTS, sizes.maxWriteBytes(), metrics.clock());
        readers = new DeviceReaders("pgw-devfuse", descriptors, slots, metrics, slot -> ready.countDown());
    }

    private int cloneOrSame() {
        int clone = Native.cloneDevice(fd);
        if (clone < 0) {
            return fd;
        }
        clones.add(clone);
        return clone;
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
            throw new IOException("the kernel did not begin the session in time");
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
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        stop();
        if (stopped && Closing.wait("requests handed over", slots::awaitAnswered)) {
            clones.forEach(Native::close);
            slots.unmap();
        }
    }
}

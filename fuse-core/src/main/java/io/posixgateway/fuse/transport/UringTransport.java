package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.metrics.SessionMetrics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Messages over io_uring: a queue and a thread on it per possible CPU, and one thread more that takes from /dev/fuse what
 * still travels there (INIT, FORGET, INTERRUPT).
 *
 * <p>The queues come into being when INIT has been answered with the kernel's consent, or at once where an earlier process did
 * that; the kernel holds requests back until all of them are registered.
 */
public final class UringTransport implements Transport {
    /** FORGET and INTERRUPT are never handed over; INIT may be. */
    private static final int DEVICE_SLOTS = 2;

    private static final int INIT_OUT_FLAGS2 = 32;
    private static final int FLAGS2_OVER_IO_URING = 1 << 9;

    private final int fd;
    private final TransportConfig sizes;
    private final SessionMetrics metrics;
    private final int queueCount = Uring.queues();
    private final int payloadBytes;
    private final RingMemory memory;
    private final AddedEntries added;
    private final MessageSlots slots;
    private final DeviceReaders readers;
    private final List<UringQueue> queues = new ArrayList<>();
    private final CountDownLatch ready = new CountDownLatch(queueCount);
    private final CountDownLatch running = new CountDownLatch(queueCount);
    private volatile @Nullable String failure;
    private volatile Consumer<String> whenBroken = reason -> {};
    private @Nullable RequestHandler handler;
    /** No thread receives from the device any more. */
    private boolean stopped;

    private boolean closed;
    /** Once closed: nothing is in use any more. */
    private boolean unused;

    /**
     * @param fd of a mounted connection; borrowed
     * @param memory for the entries, of {@link #memoryBytes} bytes; null: from this process
     */
    public UringTransport(int fd, TransportConfig sizes, SessionMetrics metrics, @Nullable RingMemory memory) {
        this.fd = fd;
        this.sizes = sizes;
        this.metrics = metrics;
        this.memory = memory == null ? RingMemory.own(memoryBytes(sizes)) : memory;
        payloadBytes = payloadBytes(sizes);
        added = new AddedEntries(Uring.HEADER_BYTES + payloadBytes, ParkedMemory.OF_PROCESS);
        slots = new MessageSlots(DEVICE_SLOTS, sizes.maxWriteBytes(), metrics.clock());
        readers = new DeviceReaders("pgw-uring-device", List.of(fd), slots, metrics, this::initAnswered);
    }

    private static int payloadBytes(TransportConfig sizes) {
        return Math.max(sizes.maxWriteBytes(), Uring.MIN_PAYLOAD_BYTES);
    }

    private static long queueBytes(TransportConfig sizes) {
        return (long) sizes.queueDepth() * (Uring.HEADER_BYTES + payloadBytes(sizes));
    }

    /** For the entries of all queues. */
    public static long memoryBytes(TransportConfig sizes) {
        return Uring.queues() * queueBytes(sizes);
    }

    boolean kept() {
        return memory.kept();
    }

    /** Did an earlier process serve these entries? */
    boolean taken() {
        return memory.taken();
    }

    /** See {@link RingMemory#files}. */
    long[] files() {
        return memory.files().get();
    }

    /** As {@link Uring#open} wants it. */
    int keptNumber() {
        return !memory.kept() ? 0 : memory.taken() ? 2 : 1;
    }

    int fd() {
        return fd;
    }

    TransportConfig sizes() {
        return sizes;
    }

    int payloadBytes() {
        return payloadBytes;
    }

    AddedEntries added() {
        return added;
    }

    @Override
    public String name() {
        return "uring";
    }

    @Override
    public void start(RequestHandler requestHandler) {
        handler = requestHandler;
        readers.start(requestHandler);
        if (memory.taken()) {
            startQueues();
        }
    }

    /** On the device thread: the reply is still in the slot. */
    private void initAnswered(MessageSlot slot) {
        int flags2 = slot.reply().getInt(MessageSlot.REPLY_AT + INIT_OUT_FLAGS2);
        if ((flags2 & FLAGS2_OVER_IO_URING) == 0) {
            fail("the kernel did not offer io_uring for this connection");
            return;
        }
        if (!memory.taken()) {
            startQueues();
        }
    }

    private void startQueues() {
        synchronized (queues) {
            for (int i = 0; i < queueCount && handler != null; i++) {
                UringQueue queue = new UringQueue(
                        this, Ring.KERNEL, i, memory.address() + i * queueBytes(sizes), handler, metrics);
                queues.add(queue);
                Thread thread = new Thread(queue, "pgw-uring-" + i);
                thread.setDaemon(true);
                thread.start();
            }
        }
    }

    void queueReady() {
        ready.countDown();
    }

    void queueFailed(int number, String reason) {
        fail("io_uring queue " + number + ": " + reason);
    }

    /** A queue ends though the connection lives: nobody would answer what comes from its CPU, so the connection is to end, too. */
    void queueBroke(int number, String reason) {
        whenBroken.accept("io_uring queue " + number + ": " + reason);
        Closing.wait("the thread of the device", readers::stop);
    }

    @Override
    public void whenBroken(Consumer<String> told) {
        whenBroken = told;
    }

    void queueEnded() {
        running.countDown();
    }

    private void fail(String reason) {
        failure = reason;
        while (ready.getCount() > 0) {
            ready.countDown();
        }
    }

    @Override
    public void awaitReady(long timeoutNanos) throws IOException, InterruptedException {
        boolean done = ready.await(timeoutNanos, TimeUnit.NANOSECONDS);
        String reason = failure;
        if (reason != null) {
            throw new IOException(reason);
        }
        if (!done) {
            throw new IOException("the kernel did not start the session in time");
        }
    }

    @Override
    public String geometry() {
        return "queues " + queueCount + " depth " + sizes.queueDepth() + " memory " + (memoryBytes(sizes) >> 20)
                + " MiB" + " sched_idle " + standBack();
    }

    private String standBack() {
        if (!sizes.standBack()) {
            return "off(switched off)";
        }
        return Uring.canStandBack() ? "on" : "off(needs CAP_SYS_NICE)";
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

    /** The queues' threads go on until what is handed over has come back to them. */
    @Override
    public synchronized void stop() {
        if (!stopped) {
            stopped = Closing.wait("the thread of the device", readers::stop);
            synchronized (queues) {
                queues.forEach(UringQueue::stop);
            }
        }
    }

    @Override
    public synchronized boolean close() {
        if (closed) {
            return unused;
        }
        closed = true;
        stop();
        boolean idle = stopped;
        idle &= queues.isEmpty() || Closing.wait("queue threads", this::awaitQueues);
        idle &= Closing.wait("offloaded requests", timeout -> each(UringQueue::answered, timeout));
        if (idle && memory.kept()) {
            idle = Closing.wait("threads of queues", timeout -> each(UringQueue::closed, timeout));
        }
        if (idle) {
            slots.unmap();
            memory.unmap();
            added.unmap();
        }
        unused = idle;
        return unused;
    }

    private boolean awaitQueues(long timeoutNanos) throws InterruptedException {
        return running.await(timeoutNanos, TimeUnit.NANOSECONDS);
    }

    private boolean each(Predicate<UringQueue> condition, long timeoutNanos) {
        long end = metrics.clock().nanos() + timeoutNanos;
        while (!queues.stream().allMatch(condition)) {
            if (metrics.clock().nanos() - end >= 0) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        return true;
    }
}

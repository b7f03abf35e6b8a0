package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * One kernel queue and the thread that serves it.
 *
 * <p>Everything belongs to that thread but the {@link FinishedExchanges}. Who pushes onto an empty list wakes the thread; that it
 * takes the list only after a wake-up or before it waits again makes sure that none is left lying.
 */
final class UringQueue implements Runnable {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final UringTransport transport;
    private final Ring kernel;
    private final int number;
    private final int depth;
    private final int spinMicros;
    private final long[] geometry;
    private final ByteBuffer box;
    private final UringExchange[] exchanges;
    private final RequestHandler handler;
    private final SessionMetrics metrics;
    private final FinishedExchanges finished = new FinishedExchanges();
    private final AtomicInteger outstanding = new AtomicInteger();
    private final Object ringLock = new Object();

    /** 0: none. Set by the queue's thread; closed by it, or after it where the session is kept. All under ringLock. */
    private long ring;

    /** The queue's thread, as the kernel knows it. */
    private volatile int thread;

    private int commits;
    private volatile boolean stopping;

    /** @param address of the queue's slots */
    UringQueue(
            UringTransport transport,
            Ring kernel,
            int number,
            long address,
            RequestHandler handler,
            SessionMetrics metrics) {
        this.transport = transport;
        this.kernel = kernel;
        this.number = number;
        this.handler = handler;
        this.metrics = metrics;
        TransportConfig sizes = transport.sizes();
        depth = sizes.queueDepth();
        spinMicros = sizes.spinMicros();
        int payloadBytes = transport.payloadBytes();
        geometry = new long[] {
            transport.fd(), number, depth, address, payloadBytes, sizes.standBack() ? 1 : 0, transport.keptNumber()
        };
        box = ByteBuffer.allocateDirect(2 * depth * Integer.BYTES).order(ByteOrder.nativeOrder());
        exchanges = new UringExchange[depth];
        int stride = Uring.HEADER_BYTES + payloadBytes;
        for (int slot = 0; slot < depth; slot++) {
            ByteBuffer memory = Native.buffer(address + (long) slot * stride, stride);
            exchanges[slot] = new UringExchange(this, slot, memory.order(ByteOrder.nativeOrder()));
        }
    }

    @Override
    public void run() {
        thread = Native.currentThread();
        metrics.workerStarted();
        try {
            long opened = open();
            if (opened < 0) {
                transport.queueFailed(number, Native.errorText(opened));
                return;
            }
            synchronized (ringLock) {
                ring = opened;
            }
            transport.queueReady();
            if (transport.taken()) {
                QueueKick.send(transport.fd(), transport.files(), depth, metrics.clock());
            }
            serve();
        } finally {
            end();
            metrics.workerEnded();
            transport.queueEnded();
        }
    }

    /** An earlier process may have ended before the kernel had its answer to INIT, which then comes again. */
    private long open() {
        long opened = kernel.open(geometry, box);
        while (opened == -Errno.EAGAIN && transport.taken() && !stopping) {
            LockSupport.parkNanos(PAUSE_NANOS);
            opened = kernel.open(geometry, box);
        }
        return opened;
    }

    private void end() {
        synchronized (ringLock) {
            if (ring != 0) {
                kernel.flush(ring, commits);
                if (!transport.kept()) {
                    closeRing();
                }
            }
        }
    }

    private void serve() {
        while (!(stopping && outstanding.get() == 0)) {
            int ready = kernel.enter(ring, commits, spinMicros);
            commits = 0; // the ring has them, whether the kernel took them or not
            if (ready < 0 && endsQueue(ready)) {
                return;
            }
            for (int i = 0; i < ready; i++) {
                handler.handleAndGoOn(exchanges[box.getInt(i * Integer.BYTES)]);
            }
            takeFinished();
        }
    }

    /** Tells the end of the connection from what passes by, and both from what should not happen: that ends the connection. */
    private boolean endsQueue(int result) {
        switch (result) {
            case -Errno.EINTR -> {
                return false;
            }
            case -Errno.EAGAIN, -Errno.EBUSY, -Errno.ENOMEM -> {
                LockSupport.parkNanos(PAUSE_NANOS);
                return false;
            }
            case -Errno.ENOTCONN -> {
                return true;
            }
            default -> {
                transport.queueBroke(number, Native.errorText(result));
                return true;
            }
        }
    }

    private void takeFinished() {
        UringExchange exchange = finished.takeAll();
        while (exchange != null) {
            UringExchange following = exchange.next;
            exchange.next = null;
            outstanding.decrementAndGet();
            commit(exchange);
            exchange = following;
        }
    }

    /** On the queue's thread: the reply goes with the next entering of the kernel. */
    void commit(UringExchange exchange) {
        box.putInt((depth + commits) * Integer.BYTES, exchange.slot());
        commits++;
    }

    /** On the queue's thread. */
    void handedOver() {
        outstanding.incrementAndGet();
    }

    /** On any thread: one that was handed over stays unanswered. */
    void left() {
        outstanding.decrementAndGet();
        wake();
    }

    /** On any thread: gives back an exchange with its reply. */
    int finished(UringExchange exchange) {
        return !finished.push(exchange) || wake() ? 0 : -Errno.ENOTCONN;
    }

    /** Gets the thread out of the kernel; false: it has ended. */
    boolean wake() {
        synchronized (ringLock) {
            if (ring == 0) {
                return false;
            }
            kernel.wake(ring);
            return true;
        }
    }

    /** Ends the thread once what is handed over has come back. */
    void stop() {
        stopping = true;
        wake();
    }

    /** After the queue's thread, where the session is kept; false: the kernel still knows that thread. */
    boolean closed() {
        if (Files.exists(Path.of("/proc/self/task", Integer.toString(thread)))) {
            return false;
        }
        synchronized (ringLock) {
            closeRing();
        }
        return true;
    }

    private void closeRing() {
        if (ring != 0) {
            kernel.close(ring);
            ring = 0;
        }
    }

    /** Exchanges still with other threads. Exact once the thread has ended. */
    boolean answered() {
        takeFinished();
        return outstanding.get() == 0;
    }
}

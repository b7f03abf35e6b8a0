package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One kernel queue and the thread that serves it.
 *
 * <p>Everything belongs to that thread but the {@link FinishedExchanges}. Who pushes onto an empty list wakes the thread; that it
 * takes the list only after a wake-up or before it waits again makes sure that none is left lying.
 *
 * <p>A request keeps its entry until it is answered. So when most entries wait, more are added, and what need not wait finds one.
 */
final class UringQueue implements Runnable {
    /** Entries that there may be of a queue, if not more at first. */
    private static final int MAX_ENTRIES = 1024;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final UringTransport transport;
    private final Ring kernel;
    private final int number;
    private final int depth;
    private final int most;
    private final int spinMicros;
    private final int strideBytes;
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
    /** So many are there by now. */
    private int entries;

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
        most = transport.kept() ? depth : Math.max(depth, MAX_ENTRIES);
        int payloadBytes = transport.payloadBytes();
        strideBytes = Uring.HEADER_BYTES + payloadBytes;
        geometry = new long[] {
            transport.fd(),
            number,
            depth,
            address,
            payloadBytes,
            sizes.standBack() ? 1 : 0,
            transport.keptNumber(),
            most
        };
        box = ByteBuffer.allocateDirect(2 * most * Integer.BYTES).order(ByteOrder.nativeOrder());
        exchanges = new UringExchange[most];
        addExchanges(address, null);
    }

    private void addExchanges(long address, @Nullable AddedEntries added) {
        for (int i = 0; i < depth; i++, entries++) {
            exchanges[entries] = new UringExchange(this, entries, address + (long) i * strideBytes, strideBytes, added);
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
                UringExchange exchange = exchanges[box.getInt(i * Integer.BYTES)];
                exchange.arrived();
                handler.handleAndGoOn(exchange);
            }
            takeFinished();
            if (entries - outstanding.get() <= depth / 2) {
                grow();
            }
        }
    }

    /** Most entries wait: adds as many as there were at first, if there may be more. */
    private void grow() {
        AddedEntries added = transport.added();
        long address = entries + depth > most ? -1 : added.map(depth);
        if (address < 0) {
            return;
        }
        boolean none = entries <= outstanding.get() + commits;
        long[] files = none ? files() : new long[0];
        addExchanges(address, added);
        kernel.grow(ring, address, depth);
        if (files.length > 0) { // requests may wait in the kernel, which looks there only when one is answered
            QueueKick.send(transport.fd(), files, depth, metrics.clock());
        }
    }

    /** Files that requests which wait are about. */
    private long[] files() {
        return Arrays.stream(exchanges, 0, entries)
                .mapToLong(UringExchange::file)
                .filter(file -> file != 0)
                .distinct()
                .limit(depth)
                .toArray();
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
        exchange.goes();
        box.putInt((most + commits) * Integer.BYTES, exchange.slot());
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

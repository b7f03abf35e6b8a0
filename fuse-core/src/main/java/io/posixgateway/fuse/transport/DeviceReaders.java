package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that receive from /dev/fuse, handle, and send the reply together with the next receive.
 *
 * <p>They end when the connection does, or when they are stopped: a flag, and a signal that gets a blocked one out of its
 * system call.
 */
final class DeviceReaders {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceReaders.class);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final String name;
    private final MessageSlots slots;
    private final SessionMetrics metrics;
    private final InitListener initListener;
    private final List<Reader> readers = new ArrayList<>();
    private final CountDownLatch running;
    private volatile boolean started;
    private volatile boolean stopping;

    /** Hears that INIT was answered; the reply still lies in the slot. On the thread that took it. */
    @FunctionalInterface
    interface InitListener {
        void answered(MessageSlot slot);
    }

    /** @param fds one thread each; borrowed */
    DeviceReaders(
            String name, List<Integer> fds, MessageSlots slots, SessionMetrics metrics, InitListener initListener) {
        this.name = name;
        this.slots = slots;
        this.metrics = metrics;
        this.initListener = initListener;
        for (int fd : fds) {
            MessageSlot slot = slots.take();
            if (slot == null) {
                throw new IllegalArgumentException("fewer slots than threads");
            }
            readers.add(new Reader(new DeviceWorker(fd, slot)));
        }
        running = new CountDownLatch(readers.size());
        Native.installWake();
    }

    void start(RequestHandler handler) {
        started = true;
        for (int i = 0; i < readers.size(); i++) {
            Reader reader = readers.get(i);
            Thread thread = new Thread(() -> reader.run(handler), name + "-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    boolean ended() {
        return running.getCount() == 0;
    }

    boolean await(long timeoutNanos) throws InterruptedException {
        return running.await(timeoutNanos, TimeUnit.NANOSECONDS);
    }

    /** Ends the threads, if they were started; false: one of them is still busy with a request when the time is over. */
    boolean stop(long timeoutNanos) throws InterruptedException {
        stopping = true;
        if (!started) {
            return true;
        }
        long end = metrics.clock().nanos() + timeoutNanos;
        do {
            readers.forEach(Reader::wake);
            if (running.await(PAUSE_NANOS, TimeUnit.NANOSECONDS)) {
                return true;
            }
        } while (metrics.clock().nanos() - end < 0);
        return false;
    }

    private final class Reader {
        private final DeviceWorker lane;
        /** 0: not running. */
        private volatile int thread;

        Reader(DeviceWorker lane) {
            this.lane = lane;
        }

        void wake() {
            int number = thread;
            if (number != 0) {
                Native.wakeThread(number);
            }
        }

        void run(RequestHandler handler) {
            thread = Native.currentThread();
            metrics.workerStarted();
            try {
                serve(handler);
            } finally {
                thread = 0;
                slots.give(lane.current);
                metrics.workerEnded();
                running.countDown();
            }
        }

        private void serve(RequestHandler handler) {
            while (!stopping) {
                int bytes = lane.receive();
                if (bytes >= Exchange.HEADER_BYTES) {
                    handle(handler, bytes);
                } else if (endsConnection(bytes)) {
                    return;
                }
            }
            lane.flush();
        }

        private void handle(RequestHandler handler, int bytes) {
            MessageSlot slot = lane.current;
            slot.begin(lane, bytes);
            boolean init = slot.isInit();
            handler.handleAndGoOn(slot);
            if (init) {
                lane.flush();
                initListener.answered(slot);
            }
        }
    }

    /** Tells the end of the connection from a wake-up and from what should not happen; the last is logged. */
    private boolean endsConnection(int result) {
        if (result == -Errno.ENODEV || result == -Errno.ECONNABORTED || result == -Errno.EBADF) {
            return true;
        }
        if (result <= -Native.WRITE_FAILED) {
            int error = result + Native.WRITE_FAILED;
            LOG.warn("{}: the kernel rejected a reply: {}", name, Native.errorText(error));
            return error == -Errno.ENODEV || error == -Errno.ECONNABORTED;
        }
        if (result != -Errno.EINTR && result < 0) {
            LOG.warn("{}: receiving failed, retrying: {}", name, Native.errorText(result));
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return false;
    }
}

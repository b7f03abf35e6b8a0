package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.fuse.dispatch.RequestRecord;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.time.Supervised;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one volume, told to whoever wants them: a file, and readers that follow. While nobody does, a request costs
 * nothing for it.
 *
 * <p>The thread that answers a request puts a record into a bounded queue per reader and goes on; when a reader is too slow,
 * records are dropped and counted. A file that cannot be written is tried again for as long as it is wanted. Switching is guarded by this.
 */
public final class AccessLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);
    private static final int QUEUE = 16 << 10;
    private static final int MAX_FOLLOWERS = 8;
    private static final long PAUSE_MILLIS = 100;

    private final FuseSession session;
    private final Path file;
    private final List<AccessQueue> queues = new CopyOnWriteArrayList<>();
    private final AtomicLong droppedBefore = new AtomicLong();
    private @Nullable Writer writer;

    /** @param file where lines go when that is switched on; its folder is made then */
    AccessLog(FuseSession session, Path file) {
        this.session = session;
        this.file = file;
    }

    private synchronized void add(AccessQueue queue) {
        queues.add(queue);
        session.listen(this::tell);
    }

    private synchronized void remove(AccessQueue queue) {
        if (queues.remove(queue)) {
            droppedBefore.addAndGet(queue.dropped());
        }
        if (queues.isEmpty()) {
            session.listen(null);
        }
    }

    private void tell(RequestRecord record) {
        for (AccessQueue queue : queues) {
            queue.offer(record);
        }
    }

    /** A reader of all requests from now on; to be closed. */
    public synchronized Follower follow() throws ServiceException {
        if (queues.size() >= MAX_FOLLOWERS) {
            throw new ServiceException(
                    Kind.PRECONDITION,
                    MAX_FOLLOWERS + " readers already follow this volume's access log; stop one of them");
        }
        Follower follower = new Follower();
        add(follower.queue);
        return follower;
    }

    /** Somebody who follows. One thread. */
    public final class Follower implements AutoCloseable {
        private final AccessQueue queue = new AccessQueue(QUEUE);

        private Follower() {}

        /** Lines that there are now, so many at most. */
        public List<String> lines(int most) {
            List<String> lines = new ArrayList<>();
            RequestRecord record = queue.poll();
            while (record != null) {
                lines.add(AccessLine.of(record));
                record = lines.size() < most ? queue.poll() : null;
            }
            return lines;
        }

        /** Lines lost, as this reader was too slow. */
        public long dropped() {
            return queue.dropped();
        }

        @Override
        public void close() {
            remove(queue);
        }
    }

    /**
     * Writes lines to the file from now on, or no more. Repeating it changes nothing.
     *
     * @return the file
     */
    public synchronized Path toFile(boolean on) throws ServiceException {
        Writer now = writer;
        if (on && now == null) {
            try {
                Path folder = file.toAbsolutePath().getParent();
                if (folder != null) {
                    Files.createDirectories(folder);
                }
                writer = new Writer();
            } catch (IOException e) {
                throw new ServiceException(
                        Kind.PRECONDITION,
                        "the access log " + file + " cannot be written (" + e
                                + "); make its folder writable, or give another: --log-file of mount, --access-logs"
                                + " of serve",
                        e);
            }
        } else if (!on && now != null) {
            writer = null;
            now.end();
        }
        return file;
    }

    /** Lines lost so far. */
    public long dropped() {
        return droppedBefore.get()
                + queues.stream().mapToLong(AccessQueue::dropped).sum();
    }

    @Override
    public void close() {
        session.listen(null);
        try {
            toFile(false);
        } catch (ServiceException e) {
            LOG.debug("Closing the access log failed: {}", e.getMessage());
        }
    }

    /** Writes to the file, on a thread of its own. */
    private final class Writer implements Runnable {
        private final AccessQueue queue = new AccessQueue(QUEUE);
        private final AccessLogFile out = new AccessLogFile(file, queue);
        private volatile boolean ending;

        Writer() throws IOException {
            Thread thread = new Thread(this, "access-log");
            thread.setDaemon(true);
            thread.start();
            add(queue);
        }

        void end() {
            remove(queue);
            ending = true;
        }

        @Override
        public void run() {
            try {
                while (!ending) {
                    Supervised.run("Writing the access log", out::drain);
                    Thread.sleep(PAUSE_MILLIS);
                }
                out.drain();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                droppedBefore.addAndGet(out.close());
            }
        }
    }
}

package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has Alluxio compare a path, and all below it, with the under file system, one directory after the other.
 *
 * <p>One directory is one call to the master, which takes minutes for a large one. So the calls are made by a thread of their own, and
 * whoever waits hears every second how far it is, and is asked whether he still waits.
 */
public final class Sync {
    private static final long TELL_NANOS = 1_000_000_000L;
    private static final int PAGE = 1000;
    private static final Logger LOG = LoggerFactory.getLogger(Sync.class);

    private final Store store;
    private final Clock clock;
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile boolean wanted = true;
    private volatile State state;

    // Of the thread that compares, until it is over.
    private long directories;
    private long entries;
    private long failed;
    private String failure = "";
    private @Nullable StoreException end;

    /**
     * How far it is.
     *
     * @param path that is being compared, in Alluxio
     * @param beganNanos when that was begun
     * @param failed directories that Alluxio refused
     * @param failure the first of those, with the reason
     */
    public record State(String path, long beganNanos, long directories, long entries, long failed, String failure) {}

    /** Whoever waits. */
    @FunctionalInterface
    public interface Listener {
        /**
         * About every second, and at the end.
         *
         * @param pathSeconds for which the path is being compared
         * @return false: nobody waits any more
         */
        boolean compared(State state, long pathSeconds);
    }

    Sync(Store store, Clock clock) {
        this.store = store;
        this.clock = clock;
        this.state = new State("", clock.nanos(), 0, 0, 0, "");
    }

    /**
     * Returns when all is compared, or nobody waits any more. Once.
     *
     * @param path in Alluxio
     * @throws ServiceException Alluxio does not answer, or there is no such path
     */
    void run(String path, Listener listener) throws ServiceException {
        Thread thread = new Thread(() -> compareAll(path), "sync");
        thread.setDaemon(true);
        thread.start();
        try {
            while (!clock.await(over, TELL_NANOS)) {
                if (!tell(listener)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServiceException(Kind.ABORTED, "interrupted", e);
        } finally {
            wanted = false;
            thread.interrupt();
        }
        tell(listener);
        StoreException failure = end;
        if (failure != null) {
            throw new ServiceException(
                    FileSystemFactory.kindOf(failure),
                    state.path + " could not be compared: " + failure.getMessage(),
                    failure);
        }
    }

    private boolean tell(Listener listener) {
        State now = state;
        return listener.compared(now, (clock.nanos() - now.beganNanos) / 1_000_000_000L);
    }

    private void compareAll(String top) {
        try {
            begin(top);
            if (store.compared(top).directory()) {
                compareTree(top);
            } else {
                entries = 1;
            }
        } catch (StoreException e) {
            end = e;
        } catch (RuntimeException e) {
            LOG.error("Comparing {} with the under file system failed", top, e);
            end = new StoreException(Errno.EIO, String.valueOf(e), e);
        } finally {
            begin(state.path);
            over.countDown();
        }
    }

    private void begin(String path) {
        state = new State(path, clock.nanos(), directories, entries, failed, failure);
    }

    private void compareTree(String top) throws StoreException {
        Deque<String> open = new ArrayDeque<>();
        open.add(top);
        while (wanted && !open.isEmpty()) {
            String path = open.removeLast();
            begin(path);
            try {
                compareDirectory(path, open);
            } catch (StoreException e) {
                if (path.equals(top) || e.isOutcomeUnknown()) {
                    throw e;
                }
                refused(path, e);
            }
        }
    }

    private void refused(String path, StoreException e) {
        if (e.errno() == Errno.ENOENT) {
            return; // removed meanwhile
        }
        failed++;
        failure = failure.isEmpty() ? path + ": " + e.getMessage() : failure;
    }

    private void compareDirectory(String path, Deque<String> below) throws StoreException {
        Store.Page page = store.listCompared(path, PAGE).truncateAtStableCursor();
        directories++;
        while (wanted) {
            for (FileStatus entry : page.entries()) {
                entries++;
                if (entry.directory()) {
                    below.add((path.equals("/") ? "" : path) + "/" + entry.name());
                }
            }
            if (!page.more() || page.entries().isEmpty()) {
                return;
            }
            String last = page.entries().get(page.entries().size() - 1).name();
            page = store.list(path, last, PAGE).truncateAtStableCursor();
        }
    }
}

package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.Supervised;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the worker from time to time which of its blocks were read as files: it does not see that, and makes room by deleting
 * what was not used for longest. Any thread; has one of its own.
 *
 * <p>Each block is a call to the worker, one after the other. So it is told for about a second at a time, and of those that
 * are left then before others.
 */
final class LruReporter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LruReporter.class);
    private static final long PAUSE_NANOS = 5_000_000_000L;
    private static final long MAX_NANOS = 1_000_000_000L;
    /** So many are told before it is asked how long that took. */
    private static final int TOGETHER = 32;

    private final BlockFiles blocks;
    private final Workers workers;
    private final Clock clock;
    private final Runnable afterwards;
    // For the one thread that tells.
    private List<Long> used = List.of();
    /** The worker heard of those before this one. */
    private int next;

    // Guarded by this.
    private @Nullable Thread thread;

    /** Those on this host. */
    interface Workers {
        /** Hear that these blocks were read; how many of them they have. Waits. */
        int use(List<Long> read) throws StoreException;
    }

    /** @param afterwards what else is to be done with block files as often; on the thread that tells */
    LruReporter(BlockFiles blocks, Workers workers, Clock clock, Runnable afterwards) {
        this.blocks = blocks;
        this.workers = workers;
        this.clock = clock;
        this.afterwards = afterwards;
    }

    /** There are block files here. Again and again. */
    synchronized void start() {
        if (thread == null) {
            Runnable work = Supervised.periodically(clock, PAUSE_NANOS, "Looking after block files", this::look);
            Thread started = new UnpinnedThread(work, "used-blocks");
            started.start();
            thread = started;
        }
    }

    private void look() {
        Supervised.run("Reporting which blocks are in use", this::tell);
        afterwards.run();
    }

    /** For about a second. A worker that does not answer is left alone, and does not hear of what was read so far. */
    void tell() {
        long begun = clock.nanos();
        if (next == used.size()) {
            used = blocks.takeUsed();
            next = 0;
        }
        try {
            while (next < used.size() && clock.nanos() - begun < MAX_NANOS) {
                List<Long> some = used.subList(next, Math.min(next + TOGETHER, used.size()));
                next += some.size(); // also past those over which this fails
                blocks.told(workers.use(some));
            }
        } catch (StoreException e) {
            LOG.debug("The use of blocks cannot be reported to the worker: {}", e.getMessage());
            next = used.size();
        }
    }

    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}

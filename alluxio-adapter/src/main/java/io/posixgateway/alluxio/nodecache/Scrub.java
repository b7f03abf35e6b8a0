package io.posixgateway.alluxio.nodecache;

import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the pieces of a cache with their CRCs, and has those dropped that differ: at first those that an earlier process wrote, then all
 * of them, each {@link #PERIOD_NANOS}. It leaves the disk alone for {@link #PAUSES} times as long as each piece took. A thread of its own,
 * from {@link #start} to {@link #close}.
 */
final class Scrub implements AutoCloseable {
    static final long PERIOD_NANOS = 24 * 3_600_000_000_000L;
    /** While the disk does not answer, or fails: else each piece would be dropped that it fails to read. */
    private static final long OUTAGE_NANOS = 30_000_000_000L;

    private static final int PAUSES = 9;

    private static final Logger LOG = LoggerFactory.getLogger(Scrub.class);

    private final NodeCache cache;
    private final FolderDisk reads;
    private final Clock clock;
    /** On its thread. */
    private boolean reported;
    /** Guarded by this. */
    private boolean closed;

    /** @param reads see {@link NodeCache#scrub} */
    Scrub(NodeCache cache, FolderDisk reads, Clock clock) {
        this.cache = cache;
        this.reads = reads;
        this.clock = clock;
    }

    void start() {
        new UnpinnedThread(clock.background(this::run), "data-cache-scrub").start();
    }

    private void run() {
        try {
            pass(piece -> !piece.verified);
            while (isOpenAfter(PERIOD_NANOS)) {
                pass(piece -> true);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void pass(Predicate<Piece> wanted) throws InterruptedException {
        boolean open = true;
        for (Piece piece : cache.pieces()) {
            while (open && !cache.mayKeep()) {
                open = isOpenAfter(OUTAGE_NANOS);
            }
            if (open && wanted.test(piece)) {
                long beganNanos = clock.nanos();
                scrub(piece);
                open = isOpenAfter(PAUSES * (clock.nanos() - beganNanos));
            }
        }
    }

    /** What fails in another way than disks do, such as a want of memory, is for this piece alone. */
    private void scrub(Piece piece) {
        try {
            cache.scrub(piece, reads);
        } catch (RuntimeException | Error e) {
            if (!reported) {
                reported = true;
                LOG.warn("A piece of the data cache could not be compared with its checksum: {}", piece.name(), e);
            }
        }
    }

    private synchronized boolean isOpenAfter(long nanos) throws InterruptedException {
        long beganNanos = clock.nanos();
        for (long left = nanos; left > 0 && !closed; left = nanos - (clock.nanos() - beganNanos)) {
            clock.waitOn(this, left);
        }
        return !closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.FileSink;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.recovery.DraftRecord;
import io.posixgateway.fuse.time.Clock;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names at which a worker may still write. Any thread.
 *
 * <p>A worker that stops while a new file is sent to it takes up again what it was sent when it goes on, though nobody waits
 * for it any more: it writes the file in the under file system, or removes what is there. So what was published at that name
 * meanwhile, through another worker, is not safe before the first one has answered again.
 */
final class LateWrites {
    private static final Logger LOG = LoggerFactory.getLogger(LateWrites.class);
    /** So long after its answer a worker is done with what it had been sent before. */
    static final long DONE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** A worker that does not answer for so long will not. */
    static final long GONE_NANOS = TimeUnit.HOURS.toNanos(1);

    private final Clock nanoClock;
    private final Queue<Doubt> doubts = new ConcurrentLinkedQueue<>();

    LateWrites(Clock nanoClock) {
        this.nanoClock = nanoClock;
    }

    private static final class Doubt {
        private final String path;
        private final @Nullable FileSink sink;
        private final long sinceNanos;
        // Guarded by this.
        private boolean answered;
        private long answeredNanos;

        Doubt(String path, @Nullable FileSink sink, long sinceNanos) {
            this.path = path;
            this.sink = sink;
            this.sinceNanos = sinceNanos;
        }

        synchronized boolean isOver(long now) {
            if (!answered && sink != null && sink.isOver()) {
                answered = true;
                answeredNanos = now;
            }
            return answered ? now - answeredNanos >= DONE_NANOS : now - sinceNanos >= GONE_NANOS;
        }
    }

    /** Writing this draft there failed, and what became of it is not known. */
    void note(Draft draft, String path, FileSink sink) {
        if (sink.isOver()) {
            return;
        }
        doubts.add(new Doubt(path, sink, nanoClock.nanos()));
        try {
            draft.record.put(DraftRecord.DOUBTFUL, 0);
        } catch (StoreException e) {
            LOG.warn("The next process will not know that {} is in doubt: {}", path, e.getMessage());
        }
    }

    /** An earlier process was in doubt so long ago: of which worker, nobody knows any more. */
    void inherit(String path, long ageNanos) {
        doubts.add(new Doubt(path, null, nanoClock.nanos() - ageNanos));
    }

    /** Is what is published there not safe yet? */
    boolean concern(String path) {
        if (doubts.isEmpty()) {
            return false;
        }
        long now = nanoClock.nanos();
        doubts.removeIf(doubt -> doubt.isOver(now));
        return doubts.stream().anyMatch(doubt -> doubt.path.equals(path));
    }
}

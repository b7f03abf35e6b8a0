package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.journal.StaleWriteLog;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.time.Clock;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names at which a worker may still write. Any thread.
 *
 * <p>A worker that stops while a new file is sent to it takes up again what it was sent when it goes on, though nobody waits
 * for it any more: it writes the file in the under file system, or removes what is there. So what was committed at that name
 * meanwhile, through another worker, is not safe before the first one has answered again, in the next process neither: the journal has
 * the name, as the record of the file may be gone by then. And where the file has another name by then,
 * or none, that name comes back: {@link #pollOver} says where to look. What other clients put there meanwhile {@link GuardedFiles} copies.
 */
public final class StaleWorkerWrites {
    private static final Logger LOG = LoggerFactory.getLogger(StaleWorkerWrites.class);
    /** So long after its answer a worker is done with what it had been sent before. */
    static final long DONE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** A worker that does not answer for so long will not. */
    static final long GONE_NANOS = TimeUnit.HOURS.toNanos(1);
    /** Longer content is not looked for again: to read it takes too long while somebody waits. */
    private static final long MAX_SOUGHT_BYTES = 1 << 30;

    private final Clock nanoClock;
    private final StaleWriteLog log;
    private final Queue<Doubt> doubts = new ConcurrentLinkedQueue<>();
    private final Queue<Sent> over = new ConcurrentLinkedQueue<>();
    private volatile Runnable noted = () -> {};

    public StaleWorkerWrites(Clock nanoClock, StaleWriteLog log) {
        this.nanoClock = nanoClock;
        this.log = log;
    }

    /** From now on this runs when there is something more to look at. */
    void whenNoted(Runnable listener) {
        noted = listener;
    }

    /**
     * What a worker was sent.
     *
     * @param inode of the file that it is
     * @param digest of all of it, see {@link ContentDigest}
     */
    record Sent(Inode inode, String path, long lengthBytes, String digest) {
        private boolean isOfAnother(String takenPath, Inode by) {
            return path.equals(takenPath) && inode != by;
        }
    }

    private static final class Doubt {
        private final String path;
        private final @Nullable StoreWriter sink;
        private final long sinceNanos;
        // Guarded by the list's monitor.
        private @Nullable Sent sent;
        // Guarded by this.
        private boolean answered;
        private long answeredNanos;

        Doubt(String path, @Nullable StoreWriter sink, @Nullable Sent sent, long sinceNanos) {
            this.path = path;
            this.sink = sink;
            this.sent = sent;
            this.sinceNanos = sinceNanos;
        }

        synchronized boolean isResolved(long now) {
            if (!answered && sink != null && sink.isQuiescent()) {
                answered = true;
                answeredNanos = now;
            }
            return answered ? now - answeredNanos >= DONE_NANOS : now - sinceNanos >= GONE_NANOS;
        }
    }

    /** Writing this dirty file there failed, and what became of it is not known. */
    void note(DirtyFile dirtyFile, String path, StoreWriter sink) {
        if (sink.isQuiescent()) {
            return;
        }
        add(new Doubt(path, sink, sent(dirtyFile, path), nanoClock.nanos()));
        try {
            dirtyFile.record.mark(Phase.UNSTABLE);
        } catch (StoreException e) {
            LOG.warn("The next process will not know that {} may still be undone: {}", path, e.getMessage());
        }
    }

    private void add(Doubt doubt) {
        synchronized (this) {
            doubts.add(doubt);
            log.add(new StaleWriteLog.Target(doubt.path, nanoClock.epochMillis()));
        }
        noted.run();
    }

    /** Null: nobody would recognise it. */
    private static @Nullable Sent sent(DirtyFile dirtyFile, String path) {
        long bytes = dirtyFile.spool.lengthBytes();
        try {
            return bytes == 0 || bytes > MAX_SOUGHT_BYTES
                    ? null
                    : new Sent(dirtyFile.inode, path, bytes, ContentDigest.of(dirtyFile.spool::read, bytes));
        } catch (StoreException e) {
            LOG.warn("A reappearance of {} will not be noticed: {}", path, e.getMessage());
            return null;
        }
    }

    /** Takes over those of earlier processes. Before the first upload. */
    void inherit() {
        List<StaleWriteLog.Target> left = log.inherit();
        left.forEach(target -> inherit(target.path(), target.sinceMillis()));
        if (!left.isEmpty()) {
            noted.run();
        }
    }

    /** An earlier process was in doubt then: of which worker, nobody knows any more. */
    void inherit(String path, long sinceMillis) {
        long ageMillis = Math.max(0, nanoClock.epochMillis() - sinceMillis); // a clock may have been set back since
        doubts.add(new Doubt(path, null, null, nanoClock.nanos() - TimeUnit.MILLISECONDS.toNanos(ageMillis)));
    }

    /** Is what is committed there not safe yet? */
    boolean concern(String path) {
        if (doubts.isEmpty()) {
            return false;
        }
        settle();
        return doubts.stream().anyMatch(doubt -> doubt.path.equals(path));
    }

    /** Those at which it is not. */
    Set<String> paths() {
        settle();
        return doubts.stream().map(doubt -> doubt.path).collect(Collectors.toSet());
    }

    private synchronized void settle() {
        long now = nanoClock.nanos();
        for (Doubt doubt : List.copyOf(doubts)) {
            Sent sent = doubt.sent;
            if (doubt.isResolved(now) && doubts.remove(doubt)) {
                forget(doubt.path);
                if (sent != null) {
                    over.add(sent);
                }
            }
        }
    }

    private void forget(String path) {
        if (doubts.stream().noneMatch(doubt -> doubt.path.equals(path))) {
            log.remove(path);
        }
    }

    /** This file was committed there: what is there from now on is no other one's, whatever it looks like. */
    synchronized void committed(String path, Inode inode) {
        for (Doubt doubt : doubts) {
            Sent sent = doubt.sent;
            if (sent != null && sent.isOfAnother(path, inode)) {
                doubt.sent = null;
            }
        }
        over.removeIf(sent -> sent.isOfAnother(path, inode));
    }

    /** What a worker was sent that is done with it by now; once each; null: nothing. */
    @Nullable
    Sent pollOver() {
        settle();
        return over.poll();
    }

    /** This one is to be looked at once more. */
    void again(Sent sent) {
        over.add(sent);
    }

    /** Is there nothing more to look at, now or later? */
    synchronized boolean isEmpty() {
        return doubts.isEmpty() && over.isEmpty();
    }
}

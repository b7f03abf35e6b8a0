package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.meta.NodeIds;
import io.posixgateway.alluxio.meta.PathLocks;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Content that was committed where {@link StaleWorkerWrites} may undo it: it stays in the spool, and is committed once more when that
 * can no longer happen, unless the file has another content by then, whether or not it is still open. On a kept volume its record stays,
 * too, and the next process goes on. Any thread; has one of its own while there is some.
 */
final class RecommitQueue implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RecommitQueue.class);
    private static final String GONE =
            "it is gone from Alluxio: either another client deleted it, or a worker that stopped responding removed"
                    + " it later";
    private static final String LOADED =
            "its file now has content that no gateway wrote: either another client of Alluxio did, or a worker that stopped"
                    + " responding, later";
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** After a commit that failed. */
    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** So long its end waits for a commit. */
    private static final long FINISH_MILLIS = 5000;

    private final Commits commits;
    private final Metadata metadata;
    private final StaleWorkerWrites late;
    private final RevivedNames revived;
    private final GuardedFiles guarded;
    private final Queue<Kept> all = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;
    private volatile boolean leaves;
    private final PeriodicThread looker;
    /** For the thread that looks. */
    private long openNotBeforeNanos;

    /** One of them, whose record says as which file it was committed, and where. For the thread that looks. */
    private static final class Kept {
        private final Spool spool;
        private final DirtyFileRecord record;
        private long notBeforeNanos;
        private volatile boolean deleted;
        /** What it was when it was found to be lost, until it is uploaded again; null: it was not. */
        private @Nullable Attr undone;

        private Kept(Spool spool, DirtyFileRecord record, long notBeforeNanos) {
            this.spool = spool;
            this.record = record;
            this.notBeforeNanos = notBeforeNanos;
        }
    }

    RecommitQueue(Commits commits, Metadata metadata, Committer committer) {
        this.commits = commits;
        this.metadata = metadata;
        this.late = committer.late;
        this.revived = new RevivedNames(commits.store, metadata, committer.replacer);
        this.guarded = new GuardedFiles(commits.store, commits.folder, committer);
        this.openNotBeforeNanos = metadata.nowNanos();
        this.looker = new PeriodicThread(
                metadata.clock(),
                "published-in-doubt",
                LOOK_NANOS,
                () -> !(all.isEmpty() && late.isEmpty() && guarded.isEmpty() && open().isEmpty()),
                this::look,
                this::end);
        late.whenNoted(looker::start);
    }

    /** Takes over the spool and the record of a dirty file that was committed; false: they are not to be kept. */
    boolean keep(DirtyFile dirtyFile) {
        DirtyFileRecord record = dirtyFile.record;
        try {
            record.unopened();
        } catch (StoreException e) {
            LOG.warn(
                    "The next process will not know about {}: {}",
                    record.content().path(),
                    e.getMessage());
        }
        return keep(dirtyFile.spool, record);
    }

    /** Of an earlier process, perhaps of a version that noted it nowhere else: it was in doubt then. */
    void inherit(DirtyFileRecord record) throws StoreException {
        late.inherit(record.content().path(), record.storedMillis());
    }

    /** As {@link #keep(DirtyFile)}, of an earlier process. */
    synchronized boolean keep(Spool spool, DirtyFileRecord record) {
        String path = record.content().path();
        if (closed) {
            spool.close(true);
            return true;
        }
        LOG.info(
                "{} stays in {}, because a worker that stopped responding may still undo its upload",
                path,
                spool.file());
        all.add(new Kept(spool, record, metadata.nowNanos()));
        looker.start();
        return true;
    }

    /** There is an open file that is not safe yet. */
    void watch() {
        looker.start();
    }

    /** This mount took the file's name: nobody misses the content. */
    void deleted(long node) {
        all.stream().filter(kept -> kept.record.content().node() == node).forEach(kept -> kept.deleted = true);
    }

    /** Those of foreign nodes are not committed again. */
    void setAside(NodeIds ids, String why) {
        all.removeIf(kept -> ids.isForeign(kept.record.content().node()) && isSetAside(kept, why));
    }

    private boolean isSetAside(Kept kept, String why) {
        kept.spool.close(true);
        try {
            commits.folder.setAside(kept.spool, kept.record.content().path(), why);
        } catch (StoreException e) {
            LOG.error("{} stays where it is, because {}: {}", kept.spool.file(), why, e.getMessage());
        }
        return true;
    }

    private void look() {
        guarded.look(late.paths(), this::holds);
        if (metadata.nowNanos() - openNotBeforeNanos >= 0) {
            open().forEach(this::againIfOpen);
        }
        all.removeIf(this::isDoneOrKept);
        lookForRevived();
    }

    /** Is there, in the spool, what this file was committed with? */
    private boolean holds(long fileId) {
        return all.stream().anyMatch(kept -> kept.record.content().fileId() == fileId)
                || commits.unstable().stream().anyMatch(dirtyFile -> dirtyFile.inode.fileId() == fileId);
    }

    /** Those that are not safe, or may be all that is left of a file. */
    private List<DirtyFile> open() {
        List<DirtyFile> open = new ArrayList<>(commits.unstable());
        open.addAll(commits.overwriting());
        return open;
    }

    private void againIfOpen(DirtyFile dirtyFile) {
        PathLocks.Work<DirtyFile> work = () -> {
            commits.againIfOpen(dirtyFile);
            commits.finishOverwriting(dirtyFile);
            return dirtyFile;
        };
        try {
            metadata.pathLocks().shared(dirtyFile.inode, work);
        } catch (StoreException | RuntimeException | Error e) { // one that fails, in whatever way, stops no other
            openNotBeforeNanos = metadata.nowNanos() + AGAIN_NANOS;
            LOG.warn("{}, which is open, could not be uploaded again yet: {}", dirtyFile.path(), e.toString());
        }
    }

    /** One that fails in a way that nobody expects stops no other. */
    private boolean isDoneOrKept(Kept kept) {
        try {
            return isDone(kept);
        } catch (RuntimeException | Error e) {
            LOG.error(
                    "Whether {} is safe cannot be determined yet",
                    kept.record.content().path(),
                    e);
            kept.notBeforeNanos = metadata.nowNanos() + AGAIN_NANOS;
            return false;
        }
    }

    private void lookForRevived() {
        for (StaleWorkerWrites.Sent sent = late.pollOver(); sent != null && !closed; sent = late.pollOver()) {
            if (!revived.isSettled(sent)) {
                late.again(sent);
                return;
            }
        }
    }

    private boolean isDone(Kept kept) {
        DirtyFileRecord.Content committed = kept.record.content();
        long now = metadata.nowNanos();
        if (closed || now - kept.notBeforeNanos < 0 || isForeign(kept)) {
            return false;
        }
        try {
            if (kept.undone != null || late.concern(committed.path())) {
                return isSafeAgain(kept);
            }
            Inode inode = metadata.locations().ofFile(committed.node(), committed.fileId());
            if (inode == null) {
                return isGone(kept);
            }
            if (commits.has(inode)) {
                return false;
            }
            Attr attr = metadata.refresh(inode);
            return isStill(kept, inode, attr) ? committed(kept, inode, attr) : isReplaced(kept, attr);
        } catch (StoreException e) {
            kept.notBeforeNanos = now + AGAIN_NANOS;
            return isGone(kept, e);
        }
    }

    private boolean isGone(Kept kept, StoreException failure) {
        boolean gone = failure.errno() == Errno.ENOENT || failure.errno() == Errno.ESTALE;
        return gone && !isForeign(kept) && isGone(kept);
    }

    /**
     * A worker may still write there for long: where it has deleted the object already, of which Alluxio still knows, others get it back
     * now, and not only then. Its record says from then on that it may be lost, as the comparison makes Alluxio forget it.
     *
     * @return is it safe now?
     */
    private boolean isSafeAgain(Kept kept) {
        kept.notBeforeNanos = metadata.nowNanos() + AGAIN_NANOS;
        DirtyFileRecord.Content committed = kept.record.content();
        try {
            Inode inode = metadata.locations().ofFile(committed.node(), committed.fileId());
            return inode != null
                    && !commits.has(inode)
                    && metadata.pathLocks().shared(inode, () -> uploadedIfUndone(kept, inode));
        } catch (StoreException e) {
            LOG.warn("{} may be lost, and could not be uploaded again yet: {}", committed.path(), e.getMessage());
            return false;
        }
    }

    /** Is it safe now? */
    private boolean uploadedIfUndone(Kept kept, Inode inode) throws StoreException {
        String path = kept.record.content().path();
        if (kept.undone == null) {
            Attr attr = metadata.refresh(inode);
            if (!isStill(kept, inode, attr) || !isDeletedFromStore(path, inode)) {
                return false;
            }
            kept.undone = attr;
            kept.record.overwriting(attr.raw().id(), path);
            kept.record.mark(Phase.SPOOLED);
        }
        if (kept.deleted || Existing.orNull(() -> commits.store.status(path)) != null) {
            kept.undone = null;
            return isGone(kept);
        }
        boolean safe = commits.again(dirtyFile(kept, inode, kept.undone, DirtyState.Spooled.CHANGED));
        if (!kept.record.isMarked(Phase.SPOOLED)) {
            kept.undone = null;
            LOG.warn("{} was deleted from its store, by a worker it seems, and was uploaded again", path);
        }
        return safe;
    }

    private boolean isDeletedFromStore(String path, Inode inode) throws StoreException {
        return commits.store.copiesOnRename(path)
                && path.equals(metadata.pathOf(inode))
                && Existing.orNull(() -> commits.store.compared(path)) == null;
    }

    /** Its file is no more: this mount deleted it, or another client replaced it; if not, the content may be all that is left. */
    private boolean isGone(Kept kept) {
        try {
            String path = kept.record.content().path();
            FileStatus there = Existing.orNull(() -> commits.store.status(path));
            boolean needless = kept.deleted || !isLast(kept) || (there != null && RevivedNames.isOfGateway(there));
            return needless ? dropped(kept) : isSetAside(kept, there == null ? GONE : LOADED);
        } catch (StoreException e) {
            return false;
        }
    }

    private boolean isForeign(Kept kept) {
        return metadata.locations().isForeign(kept.record.content().node());
    }

    /** Another has the name now: by a late write of a worker, over what was the last here, or as it should. */
    private boolean isReplaced(Kept kept, Attr attr) {
        boolean late = isReloaded(kept, attr) && isLast(kept);
        return late ? isSetAside(kept, LOADED) : dropped(kept);
    }

    /** Once more; false: it has to be done another time. */
    private boolean committed(Kept kept, Inode inode, Attr attr) {
        kept.notBeforeNanos = metadata.nowNanos() + AGAIN_NANOS;
        DirtyState state = new DirtyState.Unstable(kept.record.content().path(), false);
        DirtyFile dirtyFile = dirtyFile(kept, inode, attr, state);
        try {
            boolean safe = metadata.pathLocks().shared(dirtyFile.inode, () -> commits.again(dirtyFile));
            if (safe) {
                LOG.info("{} was uploaded again", dirtyFile.record.content().path());
            }
            return safe;
        } catch (StoreException e) {
            LOG.error("A file could not be uploaded again yet: {}", e.getMessage());
            return false;
        }
    }

    private DirtyFile dirtyFile(Kept kept, Inode inode, Attr attr, DirtyState state) {
        return new DirtyFile(inode, kept.spool, kept.record, attr, metadata.clock(), state);
    }

    /** Has the file the content that was committed, and a name? */
    private boolean isStill(Kept kept, Inode inode, Attr attr) throws StoreException {
        return attr.raw().id() == kept.record.content().fileId()
                && attr.raw().lengthBytes() == kept.spool.lengthBytes()
                && !inode.unlinked()
                && !TempNames.isOf(metadata.pathOf(inode));
    }

    /** Was nothing of its node uploaded here since then? */
    private boolean isLast(Kept kept) {
        long node = kept.record.content().node();
        return all.stream()
                        .filter(other -> other.record.content().node() == node)
                        .reduce(kept, (before, after) -> after)
                == kept;
    }

    private static boolean isReloaded(Kept kept, Attr attr) {
        return attr.raw().id() != kept.record.content().fileId() && !RevivedNames.isOfGateway(attr.raw());
    }

    private static boolean dropped(Kept kept) {
        LOG.info("{} has new content, or is gone", kept.record.content().path());
        DirtyFile.remove(kept.spool, kept.record, false);
        return true;
    }

    /** What is still in doubt is left to the next process, where there will be one. */
    void leave() {
        leaves = true;
        close();
    }

    /** What is still in doubt stays as it was committed, and its content and record here. Waits for a commit under way, but not for long. */
    @Override
    public void close() {
        Thread looking;
        synchronized (this) {
            closed = true;
            looking = looker.close();
        }
        if (looking == null) {
            end();
            return;
        }
        try {
            looking.join(FINISH_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void end() {
        guarded.close();
        for (Kept kept = all.poll(); kept != null; kept = all.poll()) {
            if (!leaves && kept.record.isStored()) {
                LOG.warn(
                        "A worker that stopped responding may still undo the upload of {}: its content stays in {}"
                                + " for the volume's next mount on this host",
                        kept.record.content().path(),
                        kept.spool.file());
            }
            if (leaves || kept.record.isStored()) {
                kept.spool.close(true);
            } else {
                isSetAside(
                        kept,
                        "a worker that stopped responding may still undo its upload, and this mount ends"
                                + " before that is known");
            }
        }
    }
}

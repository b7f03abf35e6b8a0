package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.meta.NodeIds;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Commits dirty files, and ends them. Under their locks, but for what takes these itself; waits. */
final class Commits {
    private static final Logger LOG = LoggerFactory.getLogger(Commits.class);

    final Store store;
    final SpoolFolder folder;
    final RecommitQueue recommits;
    private final Metadata metadata;
    private final Committer committer;
    private final StreamingUploads streams;
    private final LongMap<DirtyFile> dirtyFiles;

    Commits(
            Store store,
            Metadata metadata,
            SpoolFolder folder,
            Committer committer,
            StreamingUploads streams,
            LongMap<DirtyFile> dirtyFiles) {
        this.store = store;
        this.metadata = metadata;
        this.folder = folder;
        this.committer = committer;
        this.streams = streams;
        this.dirtyFiles = dirtyFiles;
        this.recommits = new RecommitQueue(this, metadata, committer);
    }

    boolean has(Inode inode) {
        return dirtyFiles.get(inode.node()) != null;
    }

    /**
     * A failure is told again to everyone who asks, until a commit succeeds.
     *
     * @param evenUntouched also a new file that nobody wrote to
     */
    void commit(DirtyFile dirtyFile, boolean evenUntouched, Waiter waiter) throws StoreException {
        if (dirtyFile.inode.unlinked() || (dirtyFile.isUntouched() && !evenUntouched)) {
            return;
        }
        dirtyFile.checkLost();
        try {
            if (dirtyFile.state() instanceof StreamingUpload upload) {
                completeStream(dirtyFile, upload);
                return;
            }
            upload(dirtyFile, waiter);
        } catch (StoreException e) {
            dirtyFile.failed = e.errno() != Errno.EINTR;
            giveUpIncomplete(dirtyFile);
            if (isOverwriting(dirtyFile)) {
                recommits.watch();
            }
            logFailure(dirtyFile, e);
            throw e;
        }
    }

    private static void logFailure(DirtyFile dirtyFile, StoreException failure) {
        switch (dirtyFile.state().phase()) {
            case LOST -> {} // the log has it
            case STREAMING ->
                LOG.warn(
                        "{} is not complete yet; the next fsync or close completes it: {}",
                        dirtyFile.path(),
                        failure.getMessage());
            case CLOSED ->
                LOG.error(
                        "{} is in Alluxio, but its mode may be another one in the under file system: {}",
                        dirtyFile.path(),
                        failure.getMessage());
            default ->
                LOG.error("Upload failed; the content stays in {}: {}", dirtyFile.spool.file(), failure.getMessage());
        }
    }

    /** The file stays, as others may have it open: what an earlier process made in its place is in everyone's way. */
    private void giveUpIncomplete(DirtyFile dirtyFile) {
        if (dirtyFile.state() == DirtyState.Spooled.INCOMPLETE) {
            committer.nameReservations.remove(
                    dirtyFile.path(), dirtyFile.attr.raw().id(), true);
            dirtyFile.become(DirtyState.Spooled.HERE_ONLY);
        }
    }

    /**
     * Before the content changes: where it is what a worker that stopped may undo, it is copied. Waits.
     *
     * @throws StoreException ENOSPC: there is no room for both, and nothing is changed
     */
    void keepSynced(DirtyFile dirtyFile) throws StoreException {
        if (!dirtyFile.isUndoable()) {
            return;
        }
        SyncedCopy copy = SyncedCopy.of(dirtyFile, folder);
        try {
            // First: a node that loses its power would take what is written next for what was synced.
            dirtyFile.record.written();
            dirtyFile.record.force();
        } catch (StoreException | RuntimeException e) {
            SyncedCopy.remove(copy);
            throw e;
        }
        dirtyFile.synced = copy;
    }

    /** What a worker has undone since it was committed is committed anew. */
    private void upload(DirtyFile dirtyFile, Waiter waiter) throws StoreException {
        try {
            committer.commit(dirtyFile, waiter);
        } catch (StoreException e) {
            if (e.errno() != Errno.ESTALE || !(dirtyFile.state() instanceof DirtyState.Unstable unstable)) {
                throw e;
            }
            dirtyFile.become(unstable.written());
            committer.commit(dirtyFile, waiter);
        }
        dirtyFile.committed();
        if (dirtyFile.is(Phase.UNSTABLE)) {
            recommits.watch();
        }
    }

    private void completeStream(DirtyFile dirtyFile, StreamingUpload upload) throws StoreException {
        streams.complete(dirtyFile, upload, (path, there) -> {
            committer.attributes.merge(dirtyFile, there);
            committer.attributes.sendBefore(dirtyFile, path);
        });
        dirtyFile.inode.wrote();
        end(dirtyFile, false);
        committer.attributes.send(dirtyFile);
        dirtyFile.inode.invalidateAttr(metadata.generation().changed());
    }

    /**
     * No handle can write any more, unless somebody has opened it for writing meanwhile. 0.
     *
     * @param unseen may others have it open all the same? Then what cannot be committed stays: they are to hear of it
     */
    int finishUnlessOpen(DirtyFile dirtyFile, boolean unseen) throws StoreException {
        boolean open = dirtyFile.inode.writers() > 0;
        if (unseen && !open) {
            commit(dirtyFile, true, Waiter.PATIENT);
        }
        return open || dirtyFile.is(Phase.CLOSED) ? 0 : finish(dirtyFile);
    }

    /** Commits and ends it, unless it is one that ends by a discard; 0. */
    int finish(DirtyFile dirtyFile) throws StoreException {
        Inode inode = dirtyFile.inode;
        if (inode.unlinked()) {
            return 0;
        }
        boolean keep = true;
        try {
            commit(dirtyFile, true, Waiter.PATIENT);
            keep = false;
        } catch (StoreException e) {
            streams.loseUnfinished(dirtyFile, e);
            throw e;
        } finally {
            boolean lost = dirtyFile.is(Phase.LOST);
            boolean stays = keep && stays(dirtyFile);
            if (lost || dirtyFile.isIncomplete()) { // also what could not be removed then
                committer.nameReservations.remove(
                        dirtyFile.path(), dirtyFile.attr.raw().id(), true);
            }
            if (stays) {
                LOG.error("{} is being replaced in place, and its old content may be lost", dirtyFile.path());
            } else if (keep || !dirtyFile.is(Phase.UNSTABLE) || !recommits.keep(dirtyFile)) {
                end(dirtyFile, keep && !lost);
            } else {
                closeIfDone(dirtyFile);
            }
            if (keep) {
                metadata.doubt(inode);
            }
        }
        return 0;
    }

    /** Is it, now that nobody has it open, still to be written over what was there, by this process or the next? */
    private boolean stays(DirtyFile dirtyFile) {
        if (!isOverwriting(dirtyFile)) {
            return false;
        }
        try {
            dirtyFile.record.unopened();
        } catch (StoreException e) {
            LOG.warn("The next process will take {} for one that is open: {}", dirtyFile.path(), e.getMessage());
        }
        return true;
    }

    private static boolean isOverwriting(DirtyFile dirtyFile) {
        return dirtyFile.record.isOverwriting() && dirtyFile.is(Phase.SPOOLED);
    }

    /** Those whose content may be all that is left of them, as an upload over what was there failed. */
    List<DirtyFile> overwriting() {
        return dirtyFiles.all().stream().filter(Commits::isOverwriting).toList();
    }

    /** Tries it again of one of those, unless somebody else works on it. */
    void finishOverwriting(DirtyFile dirtyFile) throws StoreException {
        if (!dirtyFile.lock.tryLock()) {
            return;
        }
        try {
            if (!isOverwriting(dirtyFile)) {
                return;
            }
            if (dirtyFile.inode.writers() == 0 && isOfOthers(dirtyFile)) {
                setAside(dirtyFile, "its file has new content in Alluxio");
            } else {
                commit(dirtyFile, true, Waiter.PATIENT);
                finishUnlessOpen(dirtyFile, false);
            }
        } finally {
            dirtyFile.unlock();
        }
    }

    /** Has another client written what is there since? Its close was acknowledged, and the last one here was not. */
    private boolean isOfOthers(DirtyFile dirtyFile) throws StoreException {
        FileStatus there = Existing.orNull(() -> store.status(metadata.pathOf(dirtyFile.inode)));
        return there != null && there.id() != dirtyFile.inode.fileId() && RevivedNames.isOfGateway(there);
    }

    int end(DirtyFile dirtyFile, boolean keepSpool) {
        if (closeIfDone(dirtyFile)) {
            DirtyFile.remove(dirtyFile.spool, dirtyFile.record, keepSpool);
        }
        return 0;
    }

    /** The dirty file is none any more; its spool stays. False: it was none. */
    private boolean closeIfDone(DirtyFile dirtyFile) {
        if (dirtyFile.is(Phase.CLOSED)) {
            return false;
        }
        DirtyState last = dirtyFile.state();
        Attr left = dirtyFile.left();
        dirtyFile.become(DirtyState.Plain.CLOSED);
        if (last instanceof StreamingUpload upload) {
            upload.sink.cancel();
        }
        committer.nameReservations.ended(dirtyFile.creation);
        giveSynced(dirtyFile);
        // First, so that nobody who finds no dirty file finds what was seen before its commit.
        dirtyFile.inode.invalidateAttr(left, metadata.generation().changed());
        if (dirtyFiles.get(dirtyFile.inode.node()) == dirtyFile) {
            dirtyFiles.remove(dirtyFile.inode.node());
        }
        return true;
    }

    /** What was synced outlives a dirty file that ends without another commit. */
    private void giveSynced(DirtyFile dirtyFile) {
        SyncedCopy copy = dirtyFile.synced;
        dirtyFile.synced = null;
        if (copy != null) {
            recommits.keep(copy.spool(), copy.record());
        }
    }

    /**
     * What was committed before is committed once more, while nothing moves. Nobody has it open for that; who finds the dirty file meanwhile
     * waits for its end.
     *
     * @return is it safe now? If not, its spool and record stay, for another time
     */
    boolean again(DirtyFile dirtyFile) throws StoreException {
        dirtyFile.lock.lock();
        try {
            boolean changed = dirtyFile.inode.fileId() != dirtyFile.attr.raw().id();
            if (changed || dirtyFiles.putIfAbsent(dirtyFile.inode.node(), dirtyFile) != null) {
                return false;
            }
            committer.commit(dirtyFile, Waiter.PATIENT);
            dirtyFile.committed();
            if (dirtyFile.is(Phase.COMMITTED)) {
                end(dirtyFile, false);
            }
            return dirtyFile.is(Phase.CLOSED);
        } finally {
            closeIfDone(dirtyFile);
            dirtyFile.unlock();
        }
    }

    /** Those that are open, and that a worker may still undo, or may have undone. */
    List<DirtyFile> unstable() {
        return dirtyFiles.all().stream()
                .filter(dirtyFile -> dirtyFile.is(Phase.UNSTABLE) && !dirtyFile.isOvertaken())
                .toList();
    }

    /** As {@link #again}, of one of those; nothing, while somebody else works on it, or a worker may still write. */
    void againIfOpen(DirtyFile dirtyFile) throws StoreException {
        if (!dirtyFile.lock.tryLock()) {
            return;
        }
        try {
            boolean due = dirtyFile.state() instanceof DirtyState.Unstable unstable
                    && !committer.late.concern(unstable.path())
                    && !dirtyFile.inode.unlinked();
            if (due) {
                committer.commit(dirtyFile, Waiter.PATIENT);
                dirtyFile.committed();
                LOG.info("{}, which is open, is safe now, or has new content", dirtyFile.path());
            }
        } finally {
            dirtyFile.unlock();
        }
    }

    /** Leaves it to the next process, as it is. */
    void leave(DirtyFile dirtyFile) {
        dirtyFile.lock.lock();
        try {
            completeStream(dirtyFile);
            if (!dirtyFile.is(Phase.CLOSED)) {
                dirtyFile.become(DirtyState.Plain.CLOSED);
                dirtyFiles.remove(dirtyFile.inode.node());
                giveSynced(dirtyFile);
                dirtyFile.leave();
            }
        } catch (RuntimeException | Error e) { // one that fails, in whatever way, stops no other
            LOG.error("{} is left to the next process as its record says", dirtyFile.path(), e);
        } finally {
            dirtyFile.unlock();
        }
    }

    /** No other process can go on with a stream: what was written is completed, and what follows goes to a spool. */
    private void completeStream(DirtyFile dirtyFile) {
        try {
            if (dirtyFile.is(Phase.STREAMING)) {
                commit(dirtyFile, true, Waiter.PATIENT);
            }
        } catch (StoreException e) {
            streams.loseUnfinished(dirtyFile, e);
        }
    }

    /** Ends those of files of another Alluxio than the one that answers: uploaded there, they would be in another file's place. */
    void setForeignAside(NodeIds ids, String why) {
        for (DirtyFile dirtyFile : dirtyFiles.all()) {
            if (ids.isForeign(dirtyFile.inode.node())) {
                setAside(dirtyFile, why);
            }
        }
        recommits.setAside(ids, why);
    }

    private void setAside(DirtyFile dirtyFile, String why) {
        dirtyFile.lock.lock();
        try {
            if (!dirtyFile.holdsContent()) {
                end(dirtyFile, false);
            } else if (closeIfDone(dirtyFile)) {
                dirtyFile.spool.close(true);
                folder.setAside(dirtyFile.spool, dirtyFile.path(), why);
            }
        } catch (StoreException e) {
            LOG.error("{} stays where it is, because {}: {}", dirtyFile.spool.file(), why, e.getMessage());
        } finally {
            dirtyFile.unlock();
        }
    }
}

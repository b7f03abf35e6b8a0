package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.cache.Metadata;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.LongTable;
import io.posixgateway.alluxio.inode.NodeIds;
import io.posixgateway.alluxio.recovery.Phase;
import io.posixgateway.fuse.spi.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Commits drafts, and ends them. Under their locks, but for what takes these itself; waits. */
final class Commits {
    private static final Logger LOG = LoggerFactory.getLogger(Commits.class);

    final Store store;
    final SpoolFolder folder;
    final Doubtful doubtful;
    private final Metadata metadata;
    private final Publisher publisher;
    private final Streams streams;
    private final LongTable<Draft> drafts;

    Commits(
            Store store,
            Metadata metadata,
            SpoolFolder folder,
            Publisher publisher,
            Streams streams,
            LongTable<Draft> drafts) {
        this.store = store;
        this.metadata = metadata;
        this.folder = folder;
        this.publisher = publisher;
        this.streams = streams;
        this.drafts = drafts;
        this.doubtful = new Doubtful(this, metadata, publisher);
    }

    boolean has(Inode inode) {
        return drafts.get(inode.node()) != null;
    }

    /**
     * A failure is told again to everyone who asks, until a commit succeeds.
     *
     * @param evenUntouched also a new file that nobody wrote to
     */
    void commit(Draft draft, boolean evenUntouched, Waiter waiter) throws StoreException {
        if (draft.inode.unlinked() || (draft.isUntouched() && !evenUntouched)) {
            return;
        }
        draft.checkLost();
        try {
            if (draft.state() instanceof StreamingUpload upload) {
                completeStream(draft, upload);
                return;
            }
            if (draft.state() instanceof DirtyState.Unstable unstable && !publisher.late.concern(unstable.path())) {
                draft.become(unstable.written());
            }
            publisher.publish(draft, waiter);
            draft.published();
        } catch (StoreException e) {
            draft.failed = e.errno() != Errno.EINTR;
            LOG.error("Upload failed; the content stays in {}: {}", draft.spool.file(), e.getMessage());
            throw e;
        }
    }

    private void completeStream(Draft draft, StreamingUpload upload) throws StoreException {
        streams.complete(draft, upload, path -> publisher.attributes.sendTime(draft, path));
        draft.inode.wrote();
        end(draft, false);
        publisher.attributes.send(draft);
        draft.inode.forgetFacts(metadata.generation().changed());
    }

    /**
     * No handle can write any more, unless somebody has opened it for writing meanwhile. 0.
     *
     * @param unseen may others have it open all the same? Then what cannot be committed stays: they are to hear of it
     */
    int finishUnlessOpen(Draft draft, boolean unseen) throws StoreException {
        boolean open = draft.inode.writers() > 0;
        if (unseen && !open) {
            commit(draft, true, Waiter.PATIENT);
        }
        return open || draft.is(Phase.CLOSED) ? 0 : finish(draft);
    }

    /** Commits and ends it, unless it is one that ends by a discard; 0. */
    int finish(Draft draft) throws StoreException {
        Inode inode = draft.inode;
        if (inode.unlinked()) {
            return 0;
        }
        boolean keep = true;
        try {
            commit(draft, true, Waiter.PATIENT);
            keep = false;
        } finally {
            boolean lost = draft.is(Phase.LOST);
            if (lost || draft.isIncomplete()) {
                publisher.reservations.remove(draft.path(), draft.facts.raw().id());
            }
            if (keep || !draft.is(Phase.UNSTABLE) || !doubtful.keep(draft)) {
                end(draft, keep && !lost);
            } else {
                retire(draft);
            }
            if (keep) {
                metadata.doubt(inode);
            }
        }
        return 0;
    }

    int end(Draft draft, boolean keepSpool) {
        if (retire(draft)) {
            Draft.remove(draft.spool, draft.record, keepSpool);
        }
        return 0;
    }

    /** The draft is none any more; its spool stays. False: it was none. */
    private boolean retire(Draft draft) {
        if (draft.is(Phase.CLOSED)) {
            return false;
        }
        DirtyState last = draft.state();
        Facts left = draft.left();
        draft.become(DirtyState.Plain.CLOSED);
        if (last instanceof StreamingUpload upload) {
            upload.sink.cancel();
        }
        publisher.reservations.ended(draft.creation);
        // First, so that nobody who finds no draft finds what was seen before its publication.
        draft.inode.forgetFacts(left, metadata.generation().changed());
        if (drafts.get(draft.inode.node()) == draft) {
            drafts.remove(draft.inode.node());
        }
        return true;
    }

    /**
     * What was committed before is committed once more, while nothing moves. Nobody has it open for that; who finds the draft meanwhile
     * waits for its end.
     *
     * @return is it safe now? If not, its spool and record stay, for another time
     */
    boolean again(Draft draft) throws StoreException {
        draft.lock.lock();
        try {
            boolean changed = draft.inode.fileId() != draft.facts.raw().id();
            if (changed || drafts.putIfAbsent(draft.inode.node(), draft) != null) {
                return false;
            }
            draft.become(DirtyState.Spooled.AGAIN);
            commit(draft, true, Waiter.PATIENT);
            if (draft.is(Phase.COMMITTED)) {
                end(draft, false);
            }
            return draft.is(Phase.CLOSED);
        } finally {
            retire(draft);
            draft.unlock();
        }
    }

    /** Leaves it to the next process, as it is. */
    void leave(Draft draft) {
        draft.lock.lock();
        try {
            completeStream(draft);
            if (!draft.is(Phase.CLOSED)) {
                draft.become(DirtyState.Plain.CLOSED);
                drafts.remove(draft.inode.node());
                draft.leave();
            }
        } catch (RuntimeException | Error e) { // one that fails, in whatever way, stops no other
            LOG.error("{} is left to the next process as its record says", draft.path(), e);
        } finally {
            draft.unlock();
        }
    }

    /** No other process can go on with a stream: what was written is completed, and what follows goes to a spool. */
    private void completeStream(Draft draft) {
        try {
            if (draft.is(Phase.STREAMING)) {
                commit(draft, true, Waiter.PATIENT);
            }
        } catch (StoreException e) {
            LOG.error("A file is lost that was being streamed to Alluxio: {}", e.getMessage());
        }
    }

    /** Ends those of files of another Alluxio than the one that answers: uploaded there, they would be in another file's place. */
    void setForeignAside(NodeIds ids, String why) {
        for (Draft draft : drafts.all()) {
            if (ids.isForeign(draft.inode.node())) {
                setAside(draft, why);
            }
        }
        doubtful.setAside(ids, why);
    }

    private void setAside(Draft draft, String why) {
        draft.lock.lock();
        try {
            if (!draft.holdsContent()) {
                end(draft, false);
            } else if (retire(draft)) {
                draft.spool.close(true);
                folder.setAside(draft.spool, draft.path(), why);
            }
        } catch (StoreException e) {
            LOG.error("{} stays where it is, because {}: {}", draft.spool.file(), why, e.getMessage());
        } finally {
            draft.unlock();
        }
    }
}

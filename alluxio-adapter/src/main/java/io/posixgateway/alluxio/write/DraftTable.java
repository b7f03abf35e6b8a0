package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.LongTable;
import io.posixgateway.alluxio.recovery.Phase;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.FileSystem;
import org.jspecify.annotations.Nullable;

/** The drafts by node, and what is asked of one without changing it. Any thread. */
class DraftTable {
    final LongTable<Draft> drafts = new LongTable<>();

    /** The node is not being changed: ask elsewhere. */
    public static final int NO_DRAFT = -1_000_000;

    /** What an operation on a file that is being changed meets. */
    public enum State {
        /** The node is not being changed: ask elsewhere. */
        NONE,
        /** Nobody works on it. */
        IDLE,
        /** Work on it is under way, such as its publication: what is shown was so before. */
        BUSY
    }

    /** Shows a draft's attributes, unless there is none. Never waits. */
    public State show(Inode inode, Attributes attributes) {
        Draft draft = drafts.get(inode.node());
        if (draft == null) {
            return State.NONE;
        }
        draft.show(attributes);
        boolean busy = draft.lock.isLocked();
        return draft.is(Phase.CLOSED) ? State.NONE : busy ? State.BUSY : State.IDLE;
    }

    /** Could what was written not be published, so that it is gone with its last writer? Never waits; a hint. */
    public boolean hasFailed(Inode inode) {
        Draft draft = drafts.get(inode.node());
        return draft != null && draft.failed;
    }

    /** Is the node being changed? Never waits. */
    public boolean has(Inode inode) {
        return has(inode.node());
    }

    public boolean has(long node) {
        return drafts.get(node) != null;
    }

    /** Was it written in an earlier process, whose programs may not be done, seen here or not? Never waits. */
    public boolean isInherited(Inode inode) {
        Draft draft = drafts.get(inode.node());
        return draft != null && draft.inherited;
    }

    /** Is it a new file that Alluxio knows nothing of? Never waits. */
    public boolean isHereOnly(Inode inode) {
        Draft draft = drafts.get(inode.node());
        return draft != null && draft.isHereOnly();
    }

    /** How many files are being changed. */
    public int size() {
        return drafts.size();
    }

    /** The length of the content, or NO_DRAFT. Never waits. */
    public long length(Inode inode) {
        Draft draft = drafts.get(inode.node());
        return draft == null || draft.is(Phase.CLOSED) ? NO_DRAFT : draft.shownBytes();
    }

    /** The facts of a file that is being changed, but for its length and time; null: it is not. Never waits. */
    public @Nullable Facts facts(Inode inode) {
        Draft draft = drafts.get(inode.node());
        return draft == null || draft.is(Phase.CLOSED) ? null : draft.shownFacts();
    }

    /** One that an earlier process left. */
    void adopt(Draft draft) {
        drafts.put(draft.inode.node(), draft);
    }

    /** Work on a draft under its lock. */
    interface Work {
        int on(Draft draft) throws StoreException;
    }

    /** What the work answers; WOULD_WAIT; or NO_DRAFT when the node is not being changed. EINTR while it waits for the lock. */
    final int with(Inode inode, boolean mayWait, Work work) throws StoreException {
        Draft draft = drafts.get(inode.node());
        if (draft == null) {
            return NO_DRAFT;
        }
        if (!mayWait) {
            return draft.lock.tryLock() ? locked(draft, work) : FileSystem.WOULD_WAIT;
        }
        draft.await();
        return locked(draft, work);
    }

    /** As {@link #with} that waits, but nothing interrupts the wait: what is done at the end of a handle is done. */
    final int surely(Inode inode, Work work) throws StoreException {
        Draft draft = drafts.get(inode.node());
        if (draft == null) {
            return NO_DRAFT;
        }
        draft.lock.lock();
        return locked(draft, work);
    }

    private static int locked(Draft draft, Work work) throws StoreException {
        try {
            return draft.is(Phase.CLOSED) ? NO_DRAFT : work.on(draft);
        } finally {
            draft.unlock();
        }
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.FileSystem;
import org.jspecify.annotations.Nullable;

/** The dirty files by node, and what is asked of one without changing it. Any thread. */
class DirtyFileTable {
    final LongMap<DirtyFile> dirtyFiles = new LongMap<>();

    /** The node is not being changed: ask elsewhere. */
    public static final int NO_DIRTY_FILE = -1_000_000;

    /** What an operation on a file that is being changed meets. */
    public enum State {
        /** The node is not being changed: ask elsewhere. */
        NONE,
        /** Nobody works on it. */
        IDLE,
        /** Work on it is under way, such as its commit: what is shown was so before. */
        BUSY
    }

    /** Shows a dirty file's attributes, unless there is none. Never waits. */
    public State show(Inode inode, Attributes attributes) {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        if (dirtyFile == null) {
            return State.NONE;
        }
        dirtyFile.show(attributes);
        boolean busy = dirtyFile.lock.isLocked();
        return dirtyFile.is(Phase.CLOSED) ? State.NONE : busy ? State.BUSY : State.IDLE;
    }

    /** Could what was written not be committed, so that it is gone with its last writer? Never waits; a hint. */
    public boolean hasFailed(Inode inode) {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        return dirtyFile != null && dirtyFile.failed;
    }

    /** Is the node being changed? Never waits. */
    public boolean has(Inode inode) {
        return has(inode.node());
    }

    public boolean has(long node) {
        return dirtyFiles.get(node) != null;
    }

    /** Was it written in an earlier process, whose programs may not be done, seen here or not? Never waits. */
    public boolean isInherited(Inode inode) {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        return dirtyFile != null && dirtyFile.inherited;
    }

    /** Is it a new file that Alluxio knows nothing of? Never waits. */
    public boolean isHereOnly(Inode inode) {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        return dirtyFile != null && dirtyFile.isHereOnly();
    }

    /** How many files are being changed. */
    public int size() {
        return dirtyFiles.size();
    }

    /** The length of the content, or NO_DIRTY_FILE. Never waits. */
    public long length(Inode inode) {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        return dirtyFile == null || dirtyFile.is(Phase.CLOSED) ? NO_DIRTY_FILE : dirtyFile.shownBytes();
    }

    /** The attributes of a file that is being changed, but for its length and time; null: it is not. Never waits. */
    public @Nullable Attr attr(Inode inode) {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        return dirtyFile == null || dirtyFile.is(Phase.CLOSED) ? null : dirtyFile.shownAttr();
    }

    /** One that an earlier process left. */
    void adopt(DirtyFile dirtyFile) {
        dirtyFiles.put(dirtyFile.inode.node(), dirtyFile);
    }

    /** Work on a dirty file under its lock. */
    interface Work {
        int on(DirtyFile dirtyFile) throws StoreException;
    }

    /** What the work answers; WOULD_WAIT; or NO_DIRTY_FILE when the node is not being changed. EINTR while it waits for the lock. */
    final int with(Inode inode, boolean mayWait, Work work) throws StoreException {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        if (dirtyFile == null) {
            return NO_DIRTY_FILE;
        }
        if (!mayWait) {
            return dirtyFile.lock.tryLock() ? locked(dirtyFile, work) : FileSystem.WOULD_WAIT;
        }
        dirtyFile.await();
        return locked(dirtyFile, work);
    }

    /** As {@link #with} that waits, but nothing interrupts the wait: what is done at the end of a handle is done. */
    final int surely(Inode inode, Work work) throws StoreException {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        if (dirtyFile == null) {
            return NO_DIRTY_FILE;
        }
        dirtyFile.lock.lock();
        return locked(dirtyFile, work);
    }

    private static int locked(DirtyFile dirtyFile, Work work) throws StoreException {
        try {
            return dirtyFile.is(Phase.CLOSED) ? NO_DIRTY_FILE : work.on(dirtyFile);
        } finally {
            dirtyFile.unlock();
        }
    }
}

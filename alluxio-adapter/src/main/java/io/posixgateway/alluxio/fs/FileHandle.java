package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.read.FileReader;
import io.posixgateway.alluxio.read.Passthrough;
import org.jspecify.annotations.Nullable;

/** An open file. The reader is made at the first read, and again when the file got new content. */
final class FileHandle {
    final Inode inode;
    /** Opened in an earlier process: whether it writes is known once it did. */
    final boolean inherited;

    /** Was it opened here to append? */
    volatile boolean appends;

    private final Passthrough.@Nullable Live live;
    private volatile boolean writes;
    private volatile @Nullable FileReader reader;
    /** What the kernel will have pages of once it has the answer to this open; null: as before, or nobody's business. */
    private volatile @Nullable Attr freshPages;

    private FileHandle(Inode inode, boolean inherited, Passthrough.@Nullable Live live) {
        this.inode = inode;
        this.inherited = inherited;
        this.live = live;
    }

    /** One more reader of the node, through this process. */
    static FileHandle reading(Inode inode) {
        inode.opened(false);
        return new FileHandle(inode, false, null);
    }

    /** One more reader, by the kernel itself; with the inode's monitor held. */
    static FileHandle passedThrough(Inode inode, Passthrough.Live live) {
        inode.opened(false);
        return new FileHandle(inode, false, live);
    }

    /** A writer, whom the inode counts already. */
    static FileHandle writing(Inode inode) {
        FileHandle handle = new FileHandle(inode, false, null);
        handle.writes = true;
        return handle;
    }

    /** One that was opened in an earlier process. */
    static FileHandle inherited(Inode inode) {
        inode.opened(false);
        return new FileHandle(inode, true, null);
    }

    boolean writes() {
        return writes;
    }

    /** May it have written? */
    boolean mayWrite() {
        return writes || inherited;
    }

    /** May this handle write? An inherited one that does is a writer from now on: the kernel has checked its mode. */
    boolean allowsWrite() {
        if (!writes && inherited) {
            becomeWriter();
        }
        return writes;
    }

    private synchronized void becomeWriter() {
        if (!writes) {
            inode.opened(true);
            inode.closed(false);
            writes = true;
        }
    }

    /** With the answer to its open, the kernel has no pages but of this content. */
    void hasPagesOf(Attr opened) {
        freshPages = opened;
    }

    /** The kernel uses the handle, so it has done that; null: it had nothing to do, or that was asked before. */
    @Nullable
    Attr takeFreshPages() {
        Attr opened = freshPages;
        if (opened != null) {
            freshPages = null;
        }
        return opened;
    }

    /** The reader of the file's present content; null: none was made yet. */
    @Nullable
    FileReader reader() {
        FileReader open = reader;
        return open != null && open.fileId() == inode.fileId() ? open : null;
    }

    /** Keeps a reader; if another was faster, that one. Waits for the streams of one that it replaces, and nobody waits for that. */
    FileReader keep(FileReader made) {
        FileReader replaced;
        synchronized (this) {
            replaced = reader;
            if (replaced != null && replaced.fileId() == made.fileId()) {
                return replaced;
            }
            reader = made;
        }
        if (replaced != null) {
            replaced.close();
        }
        return made;
    }

    /** May closing its reader wait? */
    boolean streams() {
        FileReader open = reader;
        return open != null && open.streams();
    }

    /** Its reader goes; the inode counts one handle less. */
    synchronized void close() {
        FileReader open = reader;
        if (open != null) {
            open.close();
        }
        synchronized (inode) {
            inode.closed(writes);
            if (live != null) {
                live.leave();
            }
        }
    }
}

package io.posixgateway.alluxio.inode;

import io.posixgateway.fuse.spi.FileSystem;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The inode numbers that stat(2) shows where they are not the node's own. Content that is published is another file in Alluxio, with
 * another id; it shows the number of the file that it replaced, which its attribute holds.
 *
 * <p>Attributes are copied by others, and a file that was replaced may live elsewhere, where two mounts moved and changed it at one
 * time. So a number is given to a file only if the one that has it is known to be no more, and for good: while this process
 * lives no two files show one number. A file that cannot have the number of its attribute shows its own. Any thread; takes no lock but its own and an
 * inode's.
 */
public final class Numbers {
    /** In the number of a file whose own is shown by another; above Alluxio's ids, below the bits of {@link InodeTable#split}. */
    private static final long DISPLACED = 1L << 55;

    private final NodeTable nodes;
    private final int most;
    /** The file that shows this number: guarded by this. */
    private final Map<Long, Long> files = new HashMap<>();

    private volatile boolean any;

    /** @param most so many files beyond that show their own numbers */
    Numbers(NodeTable nodes, int most) {
        this.nodes = nodes;
        this.most = most;
    }

    /** Asks whether a file is no more. */
    @FunctionalInterface
    public interface Gone {
        boolean isGone(long fileId);
    }

    /** The attribute of the inode's file gives it this number. Waits where another file is known to have it. */
    public void claim(Inode inode, long number, Gone gone) {
        if (number == inode.number() || inode.node() == FileSystem.ROOT || isOwn(inode)) {
            return;
        }
        long fileId = inode.fileId();
        long holder = holder(number, fileId);
        boolean free = holder == fileId || gone.isGone(holder);
        synchronized (this) {
            if (!free || holder(number, fileId) != holder) {
                keep(InodeTable.nodeOf(fileId), fileId);
            } else if (keep(number, fileId)) {
                inode.changeNumber(number);
            }
        }
    }

    /** Could it not have the number of its attribute before? */
    private synchronized boolean isOwn(Inode inode) {
        Long file = files.get(InodeTable.nodeOf(inode.fileId()));
        return file != null && file == inode.fileId();
    }

    /** The file that shows this number; the one that asks, where no other is known to. */
    private synchronized long holder(long number, long asking) {
        Long file = files.get(number);
        if (file != null) {
            return file;
        }
        Inode first = nodes.get(number);
        return first != null && first.number() == number ? first.fileId() : asking;
    }

    /** False: there are too many. */
    private boolean keep(long number, long fileId) {
        if (files.size() >= most && !files.containsKey(number)) {
            return false;
        }
        files.put(number, fileId);
        any = true;
        return true;
    }

    /** A new inode of a file: its number may be shown by the one that replaced it, though it lives all the same. */
    void entered(Inode fresh) {
        if (!any) {
            return;
        }
        synchronized (this) {
            Long file = files.get(fresh.node());
            if (file != null && file != fresh.fileId()) {
                fresh.changeNumber(fresh.node() | DISPLACED);
            }
        }
    }

    /** The inode's content is in this file from now on, and its number stays. */
    synchronized void replaced(Inode inode, long newFileId) {
        if (inode.node() != FileSystem.ROOT && inode.fileId() != newFileId) {
            keep(inode.number(), newFileId);
        }
    }

    /** The file that shows this number where it is not, or perhaps not, its own; null: none is known. */
    synchronized @Nullable Long file(long number) {
        return files.get(number);
    }
}

package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.FileSystem;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The inode numbers that stat(2) shows where they are not the node's own. Content that is committed is another file in Alluxio, with
 * another id; it shows the number of the file that it replaced, which its attribute holds.
 *
 * <p>Attributes are copied by others, and a file that was replaced may live elsewhere, where two mounts moved and changed it at one
 * time. So a number is given to a file only if the one that has it is known to be no more, and for good: while this process
 * lives no two files show one number. A file that cannot have the number of its attribute shows its own. Any thread; takes no lock but its own, an
 * inode's, and those of tables.
 *
 * <p>What is known ends with its file. Beyond a limit it ends for files of which no inode is left, the first first: such a file has its
 * number again when it is seen next, unless another has it by then.
 */
public final class InodeNumbers {
    /** In the number of a file whose own is shown by another; above Alluxio's ids, below the bits of {@link InodeTable#split}. */
    private static final long DISPLACED = 1L << 55;

    /** So many are looked at to make room for one: more than one, so that room is made where few have an inode. */
    private static final int MAX_TRIES = 4;

    private final InodeMap nodes;
    private final LongMap<Inode> laterIds;
    private final int most;
    private final MemoryAccounting bytes;
    /** The file that shows this number, the one that was looked at first: guarded by this. */
    private final Map<Long, Long> files = new LinkedHashMap<>();

    private volatile boolean any;

    /**
     * @param laterIds inodes whose file is another than that of their node
     * @param most so many are kept of files without an inode
     */
    InodeNumbers(InodeMap nodes, LongMap<Inode> laterIds, int most, MemoryAccounting bytes) {
        this.nodes = nodes;
        this.laterIds = laterIds;
        this.most = most;
        this.bytes = bytes;
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
            } else {
                end(InodeTable.nodeOf(holder), holder);
                keep(number, fileId);
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

    /** Guarded by this. */
    private void keep(long number, long fileId) {
        if (files.put(number, fileId) == null) {
            bytes.add(MemoryAccounting.A_NUMBER);
            makeRoom();
        }
        any = true;
    }

    /** Those that have an inode go to the end: they are no more than the inodes. Guarded by this. */
    private void makeRoom() {
        for (int tries = 0; files.size() > most && tries < MAX_TRIES; tries++) {
            Map.Entry<Long, Long> first = files.entrySet().iterator().next();
            long number = first.getKey();
            long fileId = first.getValue();
            files.remove(number);
            if (hasInode(number, fileId)) {
                files.put(number, fileId);
            } else {
                bytes.add(-MemoryAccounting.A_NUMBER);
            }
        }
    }

    private boolean hasInode(long number, long fileId) {
        Inode first = nodes.get(number);
        return (first != null && first.fileId() == fileId)
                || laterIds.get(InodeTable.nodeOf(fileId)) != null
                || nodes.get(InodeTable.nodeOf(fileId)) != null;
    }

    /** Guarded by this. */
    private void end(long number, long fileId) {
        if (files.remove(number, fileId)) {
            bytes.add(-MemoryAccounting.A_NUMBER);
        }
    }

    /** The inode's file is no more. */
    void gone(Inode inode) {
        if (!any) {
            return;
        }
        synchronized (this) {
            long fileId = inode.fileId();
            end(inode.number(), fileId);
            end(InodeTable.nodeOf(fileId), fileId);
        }
    }

    /** The table has an inode again that it had let go of: another file may have its number by now. */
    void cameBack(Inode inode) {
        if (inode.number() == InodeTable.nodeOf(inode.fileId()) || inode.node() == FileSystem.ROOT) {
            return;
        }
        synchronized (this) {
            long fileId = inode.fileId();
            if (holder(inode.number(), fileId) == fileId) {
                keep(inode.number(), fileId);
            } else {
                inode.changeNumber(inode.node() | DISPLACED);
            }
        }
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
            end(InodeTable.nodeOf(inode.fileId()), inode.fileId());
            keep(inode.number(), newFileId);
        }
    }

    /**
     * Others put a file in the place of the inode's: other content of the same, which has its number in the attribute; or another file,
     * which shows its own.
     *
     * @param number of the attribute; 0: none
     */
    public synchronized void adopted(Inode inode, long number) {
        if (number == 0) {
            end(inode.number(), inode.fileId());
            inode.changeNumber(InodeTable.nodeOf(inode.fileId()));
        }
    }

    /** The file that shows this number where it is not, or perhaps not, its own; null: none is known. */
    synchronized @Nullable Long file(long number) {
        return files.get(number);
    }
}

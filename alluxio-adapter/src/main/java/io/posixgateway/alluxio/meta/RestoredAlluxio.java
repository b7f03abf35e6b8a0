package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;

/**
 * Notifications that Alluxio was restored from a backup, with which it keeps its cluster id: file ids that it gave since the backup are given
 * again, to other files, whose time of creation is another one. Any thread.
 */
public final class RestoredAlluxio {
    private final InodeTable table;
    private volatile Runnable listener = () -> {};

    RestoredAlluxio(InodeTable table) {
        this.table = table;
    }

    /** Whom to tell, on the thread that noticed; makes all nodes of before foreign, and must not call Alluxio. */
    public void whenNoticed(Runnable told) {
        listener = told;
    }

    /**
     * Before what Alluxio says is believed of an inode.
     *
     * @throws StoreException ESTALE: it says so of another file, which has the number of the inode's by now
     */
    void check(Inode inode, FileStatus said) throws StoreException {
        Attr before = inode.attr();
        if (before == null || !isAnother(before, said)) {
            return;
        }
        tell(inode, before);
        throw new StoreException(
                Errno.ESTALE,
                "Alluxio was restored from a backup: the file of node " + inode.node()
                        + " is gone, and another file has its id; reopen files by name",
                null);
    }

    private static boolean isAnother(Attr before, FileStatus said) {
        return before.fileId() == said.id()
                && before.createdSeconds() != 0
                && said.createdSeconds() != 0
                && before.createdSeconds() != said.createdSeconds();
    }

    @SuppressWarnings("ReferenceEquality") // the same answer, not one that is alike
    private synchronized void tell(Inode inode, Attr before) {
        if (inode.attr() == before && !table.ids().isForeign(inode.node())) {
            listener.run();
        }
    }
}

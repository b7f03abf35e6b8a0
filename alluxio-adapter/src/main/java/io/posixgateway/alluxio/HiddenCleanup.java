package io.posixgateway.alluxio;

import io.posixgateway.alluxio.cache.HiddenNames;
import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.recovery.HiddenFiles;
import io.posixgateway.alluxio.recovery.KnownAlluxio;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes hidden files that nobody needs any more: at the start those that earlier processes left, at the end this one's. Waits. */
final class HiddenCleanup {
    private static final Logger LOG = LoggerFactory.getLogger(HiddenCleanup.class);

    /** So many are listed at once. */
    private static final int MOST_HIDDEN = 1000;

    private final Volume volume;

    HiddenCleanup(Volume volume) {
        this.volume = volume;
    }

    /**
     * After a look at what they were to replace; one that the kernel has open stays until it forgets it.
     *
     * @param alluxio in another one than before they stay
     * @param mayBeOpen the kernel was served by an earlier process
     */
    void removeInherited(KnownAlluxio alluxio, boolean mayBeOpen) {
        try {
            alluxio.record(false);
            if (alluxio.difference() != null) {
                return;
            }
        } catch (StoreException e) {
            LOG.info("Hidden files that an earlier process left stay for now: {}", e.getMessage());
            return;
        }
        if (volume.replacer.inherit()) {
            volume.replacer.settle();
        }
        remove(volume.hidden.inherit(), mayBeOpen);
    }

    /**
     * Finishes the renames that an earlier process left, unless they are of another Alluxio than the one that answers: then they, and
     * the hidden files, are on no list any more, because the next process takes the lists for those of the Alluxio that answers now.
     *
     * @param goesOn the mount has not ended: its hidden files are looked at later
     */
    void settle(KnownAlluxio alluxio, boolean goesOn) throws StoreException {
        boolean asks = !goesOn || volume.replacer.hasUnfinished();
        String why = asks ? alluxio.difference() : null;
        if (why == null) {
            volume.replacer.settle();
            return;
        }
        volume.replacer.leaveForeign(why);
        if (!goesOn) {
            volume.hidden.inherit();
            leaveForeign(why);
        }
    }

    /** The same while the mount goes on; false: Alluxio does not answer. */
    boolean isSettled(KnownAlluxio alluxio) {
        try {
            settle(alluxio, true);
            return true;
        } catch (StoreException e) {
            LOG.info("Renames that an earlier process left wait for Alluxio: {}", e.getMessage());
            return false;
        }
    }

    /** What stands in the list is of another Alluxio. */
    void leaveForeign(String why) {
        for (HiddenFiles.Hidden one : volume.hidden.present()) {
            LOG.warn("The hidden file {} stays in Alluxio, as {}", one.path(), why);
            volume.hidden.remove(one.path());
        }
    }

    /** Nothing of the mount is open any more. */
    void removeAll(KnownAlluxio alluxio) {
        if (volume.replacer.hasUnfinished() && !isSettled(alluxio)) {
            return;
        }
        remove(volume.hidden.present(), false);
    }

    private void remove(List<HiddenFiles.Hidden> all, boolean mayBeOpen) {
        for (HiddenFiles.Hidden one : all) {
            if (volume.replacer.isUnfinished(one.path())) {
                continue;
            }
            boolean open = one.node() != 0 && mayBeOpen && volume.notices.isKnown(one.node());
            if (open) {
                awaitForget(one.node());
            } else if (isRemoved(one)) {
                volume.hidden.remove(one.path());
            }
        }
    }

    /** The kernel may know it from an earlier process alone: this one is to have it when it hears that the kernel forgets. */
    private void awaitForget(long node) {
        try {
            Inode known = volume.table.get(node);
            Inode inode = known == null ? volume.recover(node) : known;
            if (inode != null && !inode.isKnown()) {
                volume.table.lookedUp(inode);
            }
        } catch (StoreException e) {
            LOG.info("A deleted file that is open stays until the end of the mount: {}", e.getMessage());
        }
    }

    /** Removes it where it is by now; true when it is gone. */
    private boolean isRemoved(HiddenFiles.Hidden one) {
        try {
            String path = one.fileId() == 0 ? one.path() : volume.store.pathOf(one.fileId());
            if (HiddenNames.isOf(path)) {
                volume.store.delete(path);
            }
            return true;
        } catch (StoreException e) {
            return e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL;
        }
    }

    /** Moves all that is hidden in a directory into the one above; false: it shows names. */
    boolean movedUp(Inode parent, String path) throws StoreException {
        boolean more = true;
        while (more) {
            Store.Page page = volume.store.list(path, "", MOST_HIDDEN);
            if (!movedUp(parent, path, page)) {
                return false;
            }
            more = page.more() && !page.entries().isEmpty();
        }
        return true;
    }

    private boolean movedUp(Inode parent, String path, Store.Page page) throws StoreException {
        for (FileStatus status : page.entries()) {
            if (!HiddenNames.is(status.name())) {
                return false;
            }
        }
        for (FileStatus status : page.entries()) {
            Name hidden = Name.of(status.name());
            volume.store.rename(path + "/" + status.name(), volume.metadata.pathOf(parent, hidden), false);
            volume.metadata.place(parent, hidden, status);
        }
        return true;
    }
}

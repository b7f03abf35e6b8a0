package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.KnownAlluxio;
import io.posixgateway.alluxio.journal.SillyRenames;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes hidden files that nobody needs any more: at the start those that earlier processes left, at the end this one's. Waits. */
final class SillyRenameCleanup {
    private static final Logger LOG = LoggerFactory.getLogger(SillyRenameCleanup.class);

    /** So many are listed at once. */
    private static final int MAX_HIDDEN = 1000;

    /** By then a kernel has sent again what an earlier process did not answer. */
    private static final long RESENT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final VolumeContext volume;
    /** What earlier processes left; null: a mount has not begun. */
    private volatile @Nullable Inherited inherited;

    SillyRenameCleanup(VolumeContext volume) {
        this.volume = volume;
    }

    /**
     * Before the first request.
     *
     * @param mayBeOpen the kernel was served by an earlier process
     */
    void begin(KnownAlluxio alluxio, boolean mayBeOpen) {
        inherited = new Inherited(alluxio, mayBeOpen);
    }

    /**
     * After a look at what they were to replace; one that the kernel has open stays until it forgets it.
     *
     * @return is nothing left that this process can remove, and has to? If not, call again later
     */
    boolean isInheritedRemoved() throws StoreException {
        Inherited left = inherited;
        return left == null || left.isDone();
    }

    /** The files that an earlier process left. Any thread. */
    private final class Inherited {
        private final KnownAlluxio alluxio;
        private final boolean mayBeOpen;
        private final long beganNanos = volume.clock.nanos();
        /** Held while Alluxio is asked, for as long as that takes. Guards what follows. */
        private final ReentrantLock looking = new ReentrantLock();

        private boolean known;
        private List<SillyRenames.Hidden> left = List.of();

        private Inherited(KnownAlluxio alluxio, boolean mayBeOpen) {
            this.alluxio = alluxio;
            this.mayBeOpen = mayBeOpen;
        }

        private boolean isDone() throws StoreException {
            lock();
            try {
                return isDoneNow();
            } finally {
                looking.unlock();
            }
        }

        /** Another thread may be looking, and Alluxio hang: as in a call to it, a signal ends that. */
        private void lock() throws StoreException {
            RemoteCalls remote = RemoteCalls.ofThread();
            remote.begin();
            try {
                looking.lockInterruptibly();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreException(Errno.EINTR, "Interrupted while hidden files were being checked", e);
            } finally {
                remote.end();
            }
        }

        private boolean isDoneNow() throws StoreException {
            if (!known) {
                alluxio.record(false);
                if (alluxio.difference() != null) {
                    return true; // in another one than before they stay
                }
                known = true;
                if (volume.replacer.inherit()) {
                    volume.replacer.unfinished().settle();
                }
                left = volume.hidden.inherit();
                volume.dirtyFiles.nameReservations().inherit();
            }
            left = remove(left, mayBeOpen);
            boolean settled = isFreeSettled();
            return settled && left.isEmpty();
        }

        /** Who gets the answer to such a rename is to get it from the rename itself, which is sent again. */
        private boolean isFreeSettled() {
            boolean resent = !mayBeOpen || volume.clock.nanos() - beganNanos >= RESENT_NANOS;
            return !volume.replacer.hasFree() || (resent && volume.replacer.isFreeSettled());
        }
    }

    /**
     * Finishes the renames that an earlier process left, unless they are of another Alluxio than the one that answers: then they, and
     * the hidden files, are on no list any more, because the next process takes the lists for those of the Alluxio that answers now.
     *
     * @param goesOn the mount has not ended: its hidden files are looked at later
     */
    void settle(KnownAlluxio alluxio, boolean goesOn) throws StoreException {
        boolean asks = !goesOn || !volume.replacer.unfinished().isEmpty();
        String why = asks ? alluxio.difference() : null;
        if (why == null) {
            volume.replacer.unfinished().settle();
            return;
        }
        volume.replacer.leaveForeign(why);
        if (!goesOn) {
            volume.hidden.inherit();
            volume.creations.inherit();
            leaveForeign(why);
        }
    }

    /** The same at the end of the mount; false: Alluxio does not answer. */
    private boolean isSettled(KnownAlluxio alluxio) {
        try {
            settle(alluxio, true);
            return true;
        } catch (StoreException e) {
            LOG.info("Unfinished renames of an earlier process wait for Alluxio: {}", e.getMessage());
            return false;
        }
    }

    /** What stands in the list is of another Alluxio. */
    void leaveForeign(String why) {
        for (SillyRenames.Hidden one : volume.hidden.present()) {
            LOG.warn("The hidden file {} stays in Alluxio: {}", one.path(), why);
            volume.hidden.remove(one.path());
        }
        volume.dirtyFiles.nameReservations().forget();
    }

    /** Nothing of the mount is open any more. */
    void removeAll(KnownAlluxio alluxio) {
        if (!volume.replacer.unfinished().isEmpty() && !isSettled(alluxio)) {
            return;
        }
        if (!volume.replacer.isFreeSettled()) {
            LOG.info("The next mount will find out whether some files were renamed, because Alluxio does not answer");
        }
        remove(volume.hidden.present(), false);
    }

    /** Returns those that could not be removed. */
    private List<SillyRenames.Hidden> remove(List<SillyRenames.Hidden> all, boolean mayBeOpen) {
        List<SillyRenames.Hidden> stay = new ArrayList<>();
        for (SillyRenames.Hidden one : all) {
            boolean open = one.node() != 0 && mayBeOpen && volume.invalidator.isKnown(one.node());
            if (open && isAwaited(one.node())) {
                LOG.debug("{} stays until the kernel forgets it", one.path());
            } else if (volume.replacer.unfinished().spares(one.path())) {
                volume.hidden.remove(one.path());
            } else if (!open && !volume.replacer.unfinished().has(one.path()) && isRemoved(one)) {
                volume.hidden.remove(one.path());
            } else {
                stay.add(one);
            }
        }
        return stay;
    }

    /**
     * The kernel may know it from an earlier process alone: this one is to have it when it hears that the kernel forgets. False: Alluxio
     * does not know it, or does not answer; or the kernel forgot it before this process had it, and says so no more.
     */
    private boolean isAwaited(long node) {
        try {
            Inode known = volume.table.get(node);
            Inode inode = known == null ? volume.recover(node) : known;
            if (inode == null) {
                return false;
            }
            if (!inode.isKnown()) {
                volume.table.lookedUp(inode);
            }
            if (volume.invalidator.isKnown(node)) {
                return true;
            }
            volume.table.forget(node, Long.MAX_VALUE);
            return false;
        } catch (StoreException e) {
            LOG.info("A deleted file that is still open is kept for now: {}", e.getMessage());
            return false;
        }
    }

    /**
     * Deletes a hidden file, if it is still there, where it is by now: who removes its directory, on another mount too, moves it into the
     * one above. Waits.
     *
     * @param path where it was last
     */
    void delete(String path, long fileId) throws StoreException {
        String at = path;
        while (!at.isEmpty()) {
            try {
                volume.store.delete(at);
                return;
            } catch (StoreException e) {
                if (e.errno() != Errno.ENOENT) {
                    throw e;
                }
            }
            String found = pathOf(fileId);
            at = TempNames.isOf(found) && !found.equals(at) ? found : "";
        }
    }

    /** Removes it where it is by now; true when it is gone. */
    private boolean isRemoved(SillyRenames.Hidden one) {
        try {
            String path = one.fileId() == 0 ? one.path() : pathOf(one.fileId());
            if (TempNames.isOf(path)) {
                volume.store.delete(path);
            } else if (isInStore(one.path())) {
                volume.store.delete(one.path());
                forgetEmpty(path);
            }
            return true;
        } catch (StoreException e) {
            boolean missing = e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL;
            return missing && !isHiddenElsewhere(one);
        }
    }

    /** Was it moved up meanwhile, out of a directory that another mount removes? */
    private boolean isHiddenElsewhere(SillyRenames.Hidden one) {
        try {
            return one.fileId() != 0 && TempNames.isOf(pathOf(one.fileId()));
        } catch (StoreException e) {
            return true;
        }
    }

    /** Empty: it is gone. */
    private String pathOf(long fileId) throws StoreException {
        try {
            return volume.store.pathOf(fileId);
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return "";
            }
            throw e;
        }
    }

    /** Alluxio may have the name still that a file had before it was hidden; it drops it when it finds no object. */
    private void forgetEmpty(String path) throws StoreException {
        if (!path.isEmpty() && isInStore(path)) {
            LOG.debug("{} is now another file", path);
        }
    }

    /**
     * After a hide that failed: as what is the file hidden all the same? The master may have been killed when the store had done it, so
     * that what Alluxio has of the old name is nothing; in an earlier process, too, whose request this one got again. If it is not, it
     * stands in the list only as long as that is not known.
     *
     * @return null: it is not hidden, or Alluxio does not say
     */
    @Nullable
    Name hiddenAs(Inode child, String path, String hiddenPath, StoreException failure) {
        if (!failure.isOutcomeUnknown()) {
            volume.hidden.remove(hiddenPath);
            return null;
        }
        try {
            if (isInStore(path)) {
                return null;
            }
            String at = isInStore(hiddenPath) ? hiddenPath : hiddenBefore(child.node());
            if (at == null) {
                return nameOf(hiddenPath); // others removed it from the store: at its end there is nothing to delete
            }
            if (!at.equals(hiddenPath)) {
                volume.hidden.remove(hiddenPath);
            }
            long fileId = volume.store.status(at).id();
            if (fileId != child.fileId() && volume.table.adopt(child, fileId, volume.cachePolicy.nowNanos())) {
                child.invalidateAttr(volume.table.generation().changed());
            }
            return nameOf(at);
        } catch (StoreException e) {
            LOG.debug("Cannot determine whether {} is hidden: {}", path, e.getMessage());
            return null;
        }
    }

    private static Name nameOf(String path) {
        return Name.of(path.substring(path.lastIndexOf('/') + 1));
    }

    /** Where an earlier process hid this node; null: nowhere. */
    private @Nullable String hiddenBefore(long node) throws StoreException {
        Inherited before = inherited;
        if (before != null) {
            before.isDone(); // from now on it is in the list
        }
        for (SillyRenames.Hidden one : volume.hidden.present()) {
            if (one.node() == node && isInStore(one.path())) {
                return one.path();
            }
        }
        return null;
    }

    /** The master may have been killed when the store had hidden it, and its journal had nothing of that. */
    private boolean isInStore(String path) throws StoreException {
        try {
            return !volume.store.compared(path).directory();
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    /** Moves all that is hidden in a directory into the one above; false: it shows names. */
    boolean movedUp(Inode parent, String path) throws StoreException {
        boolean more = true;
        while (more) {
            Store.Page page = volume.store.list(path, "", MAX_HIDDEN);
            if (!movedUp(parent, path, page)) {
                return false;
            }
            more = page.more() && !page.entries().isEmpty();
        }
        return true;
    }

    private boolean movedUp(Inode parent, String path, Store.Page page) throws StoreException {
        for (FileStatus status : page.entries()) {
            if (!TempNames.is(status.name())) {
                return false;
            }
        }
        for (FileStatus status : page.entries()) {
            moveUp(parent, path, status);
        }
        return true;
    }

    /** One that is gone, as nobody needs it any more, is in the way no more. */
    private void moveUp(Inode parent, String path, FileStatus status) throws StoreException {
        Name hidden = Name.of(status.name());
        try {
            volume.store.rename(path + "/" + status.name(), volume.metadata.pathOf(parent, hidden), false);
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return;
            }
            throw e;
        }
        volume.metadata.place(parent, hidden, status);
    }
}

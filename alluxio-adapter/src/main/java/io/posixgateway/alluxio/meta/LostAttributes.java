package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives files back the attributes that Alluxio lost: a file whose object has another ETag than Alluxio knows is loaded anew from the
 * object store, which has neither modes nor owners nor extended attributes. So it is after a copy in parts, and where the object was
 * replaced by others. Any thread; waits.
 */
public final class LostAttributes {
    private static final Logger LOG = LoggerFactory.getLogger(LostAttributes.class);

    /** What Alluxio gives every object of its own account. */
    private static final int OBJECT_MODE = 0700;

    private final Store store;
    /** Files whose content is written over their objects here, which gives their attributes back itself. */
    private final Set<Inode> overwritten = ConcurrentHashMap.newKeySet();

    public LostAttributes(Store store) {
        this.store = store;
    }

    /** An object is written over: what Alluxio loads of it meanwhile is the same file, with the attributes that are known. */
    public final class Overwriting implements AutoCloseable {
        private final Inode inode;

        private Overwriting(Inode inode) {
            this.inode = inode;
            overwritten.add(inode);
        }

        @Override
        public void close() {
            overwritten.remove(inode);
        }
    }

    Overwriting overwriting(Inode inode) {
        return new Overwriting(inode);
    }

    /** Is it the file of an object that is being written over here? */
    boolean isOverwritten(@Nullable Inode known) {
        return known != null && overwritten.contains(known);
    }

    /** Where it is. */
    interface Place {
        String path() throws StoreException;
    }

    /**
     * What Alluxio says of a file, with what is known to be lost of it, which Alluxio has again then: a change by this mount. Its times are
     * the object's: whether the content is the same is not known.
     *
     * @param known what had the name before; null: nothing
     */
    FileStatus repaired(@Nullable Inode known, FileStatus now, Place place) throws StoreException {
        return repaired(known, known == null || known.isDirectory() ? null : known.attr(), now, place);
    }

    /** @param before as it is known to have been; null: it is not known, or was a directory */
    FileStatus repaired(@Nullable Inode known, @Nullable Attr before, FileStatus now, Place place)
            throws StoreException {
        if (before == null || before.fileId() == now.id() || !isLoadedAnew(before.raw(), now)) {
            return now;
        }
        if (isOverwritten(known)) {
            return now.with(before.raw().mode(), before.raw().xattrs());
        }
        String path = place.path();
        if (!store.copiesOnRename(path)) {
            return now;
        }
        try {
            return giveBack(path, now, AttributeEdit.untimed(AttributeEdit.ownedBy(before, now.owner())));
        } catch (StoreException e) {
            LOG.warn("Alluxio lost mode, owner and extended attributes of {}: {}", path, e.getMessage());
            return now;
        }
    }

    /**
     * As the under file system has it: our attributes are gone, which every file of ours has, so are the owners, and the mode is that of
     * all objects. A file that another user of Alluxio put there has a mode of its own, and keeps it: it may be private.
     */
    private static boolean isLoadedAnew(FileStatus before, FileStatus now) {
        return !now.directory()
                && now.complete()
                && now.mode() == OBJECT_MODE
                && now.xattrs().isEmpty()
                && !before.xattrs().isEmpty()
                && !now.owner().equals(before.owner());
    }

    /** Gives back all of it, times included, to a file that was loaded anew with the same content. */
    public void restore(String path, FileStatus now, Attr before) throws StoreException {
        giveBack(path, now, AttributeEdit.ownedBy(before, now.owner()));
    }

    private FileStatus giveBack(String path, FileStatus now, FileStatus lost) throws StoreException {
        LOG.info("Alluxio loaded {} again from its under file system; restoring its attributes", path);
        store.change(path, new Store.Change(lost.mode(), null, null, lost.xattrs()));
        return now.with(lost.mode(), lost.xattrs());
    }
}

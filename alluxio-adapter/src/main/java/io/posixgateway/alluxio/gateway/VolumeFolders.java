package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folders of provisioned volumes. A folder that goes with its volume carries that volume's id from its creation on, in one step, so
 * that two volumes never have one folder, and only a volume's own folder is ever removed or renamed for it, whatever an id says.
 *
 * <p>A folder without a volume (an empty id) may be shared, and one that is there already is taken; neither kind may lie below
 * a folder that goes with another volume. Any thread; every method waits for Alluxio.
 */
final class VolumeFolders {
    /** An extended attribute: through a mount, only processes with CAP_SYS_ADMIN on the node see or change it. */
    static final String MARK = "trusted.posixgateway.volume";

    private static final Logger LOG = LoggerFactory.getLogger(VolumeFolders.class);

    private final FileTree tree;
    private final Store store;
    private final FoldersInUse inUse;

    /** @param inUse of all calls of this process */
    VolumeFolders(FileTree tree, Store store, FoldersInUse inUse) {
        this.tree = tree;
        this.store = store;
        this.inUse = inUse;
    }

    /** Others may make, or take, a folder that is nobody's at the same time. */
    private boolean alone(String path, String volume, FoldersInUse.Work work) throws IOException {
        List<Name> names = FileTree.names(path, NameCodec.ESCAPED);
        return volume.isEmpty() ? work.run(() -> {}) : inUse.alone(store.cluster() + stored(names, names.size()), work);
    }

    /**
     * Makes a folder and those above it; false: it was there.
     *
     * @param volume whose folder alone it is to be; empty: nobody's
     * @throws TreeException EEXIST: the folder, or one above it, goes with another volume, or is there and nobody's; EBUSY: another call
     *     is at it
     */
    boolean make(String path, int mode, String volume) throws IOException {
        return alone(path, volume, step -> makeAlone(path, mode, volume));
    }

    private boolean makeAlone(String path, int mode, String volume) throws IOException {
        refuseOthers(path, volume);
        boolean changed = volume.isEmpty() ? tree.makeDirectory(path, mode) : makeMarked(path, mode, volume);
        try { // again: of two that are made at the same time, one above the other, one sees the other
            refuseOthers(path, volume);
        } catch (TreeException e) {
            if (changed) {
                undo(path, e);
            }
            throw e;
        }
        return changed;
    }

    private void undo(String path, TreeException cause) {
        try {
            tree.removeDirectory(path, false, () -> {});
        } catch (TreeException e) {
            cause.addSuppressed(e);
        }
    }

    private boolean makeMarked(String path, int mode, String volume) throws IOException {
        List<Name> names = FileTree.names(path, NameCodec.ESCAPED);
        if (names.isEmpty()) {
            throw new TreeException(Errno.EINVAL, "the root cannot be a volume's folder");
        }
        String stored = stored(names, names.size());
        if (names.size() > 1) {
            tree.makeDirectory(stored(names, names.size() - 1), mode);
        }
        try {
            store.makeDirectory(stored, mode, Map.of(MARK, bytes(volume), PosixXattr.XATTR, ownedByRoot()));
            return true;
        } catch (StoreException e) {
            if (e.errno() != Errno.EEXIST) {
                throw failure(path, e);
            }
        }
        if (mark(stored) == null) {
            throw new TreeException(
                    Errno.EEXIST,
                    path + " already exists and belongs to no volume, so its contents would be deleted with the"
                            + " volume; set onDelete: retain, or another basePath or pathPattern, in the StorageClass");
        }
        return false; // whose it is was looked at before, and will be again
    }

    /**
     * Removes a volume's own folder; false: there is none.
     *
     * @throws TreeException EBUSY: another call is at it
     */
    boolean remove(String path, boolean recursive, String volume) throws IOException {
        return alone(path, volume, step -> !isAnothers(path, volume) && tree.removeDirectory(path, recursive, step));
    }

    /**
     * Renames a volume's own folder; false: done before.
     *
     * @throws TreeException EBUSY: another call is at it
     */
    boolean rename(String path, String newPath, String volume) throws IOException {
        return alone(path, volume, step -> !isAnothers(path, volume) && tree.rename(path, newPath));
    }

    /**
     * Whether the folder is another volume's: then the volume's own went before, and the name was given to the next one.
     *
     * @throws TreeException EPERM: it is there and nobody's, as those made by earlier versions are
     */
    private boolean isAnothers(String path, String volume) throws TreeException {
        if (volume.isEmpty()) {
            return false;
        }
        List<Name> names = FileTree.names(path, NameCodec.ESCAPED);
        String owner;
        try {
            owner = mark(stored(names, names.size()));
        } catch (TreeException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
        if (owner == null) {
            throw new TreeException(
                    Errno.EPERM,
                    path + " belongs to no volume, so it is not deleted with " + volume + "; delete it by hand if it"
                            + " is not needed");
        }
        boolean another = !volume.equals(owner);
        if (another) {
            LOG.warn("{} belongs to {} and was not changed: {} no longer has a folder", path, owner, volume);
        }
        return another;
    }

    /** @throws TreeException EEXIST: the folder, or one above it, goes with another volume */
    private void refuseOthers(String path, String volume) throws TreeException {
        List<Name> names = FileTree.names(path, NameCodec.ESCAPED);
        try {
            for (int count = 1; count <= names.size(); count++) {
                String folder = stored(names, count);
                String owner = mark(folder);
                boolean own = count == names.size() && volume.equals(owner);
                if (owner != null && !own) {
                    throw new TreeException(
                            Errno.EEXIST,
                            folder + " belongs to the volume " + owner + ", so " + path + " cannot belong to another"
                                    + " one; set another basePath or pathPattern in the StorageClass");
                }
            }
        } catch (TreeException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    /** Whose folder it is; null: nobody's. */
    private @Nullable String mark(String stored) throws TreeException {
        try {
            byte[] mark = store.status(stored).xattrs().get(MARK);
            return mark == null ? null : new String(mark, StandardCharsets.UTF_8);
        } catch (StoreException e) {
            throw failure(stored, e);
        }
    }

    private static String stored(List<Name> names, int count) {
        StringBuilder path = new StringBuilder();
        for (Name name : names.subList(0, count)) {
            path.append('/').append(NameCodec.ESCAPED.stored(name));
        }
        return path.toString();
    }

    /** As a folder that {@link FileTree} makes. */
    private byte[] ownedByRoot() {
        PosixXattr extras = new PosixXattr();
        extras.present = PosixXattr.OWNER | PosixXattr.GROUP;
        extras.ownerThen = store.user();
        return extras.encode();
    }

    private static byte[] bytes(String volume) {
        return volume.getBytes(StandardCharsets.UTF_8);
    }

    private static TreeException failure(String path, StoreException e) {
        return new TreeException(e.errno(), path + ": " + e.getMessage());
    }
}

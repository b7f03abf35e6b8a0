package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds files by their ids in Alluxio. Any thread; waits. */
public final class Locations {
    private final Metadata metadata;
    private final Store store;
    private final InodeTable table;

    Locations(Metadata metadata, Store store, InodeTable table) {
        this.metadata = metadata;
        this.store = store;
        this.table = table;
    }

    /** Is it a node of another Alluxio than the one that answers, whose id may be another file's? Never waits. */
    public boolean isForeign(long node) {
        return table.ids().isForeign(node);
    }

    /** Where Alluxio has the file now; null: nowhere. */
    @Nullable
    String of(Inode inode) throws StoreException {
        try {
            return store.pathOf(inode.fileId());
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }

    /** A path in Alluxio, seen from the mount's root; null: it is not below it. */
    private @Nullable String belowRoot(String path) {
        String root = table.path(table.root());
        String prefix = root == null || root.equals("/") ? "/" : root + "/";
        return path.startsWith(prefix) ? path.substring(prefix.length()) : null;
    }

    /**
     * Finds what a name in a directory leads to.
     *
     * @param <E> why that fails
     */
    @FunctionalInterface
    public interface Step<E extends Exception> {
        /**
         * @param name as Alluxio has it
         * @param last whether the path ends with it
         * @return null: nothing has the name
         */
        @Nullable
        Inode child(Inode directory, String name, boolean last) throws E;
    }

    /**
     * How far a path leads.
     *
     * @param inode the last one on it
     * @param rest the names behind that, the first of which leads nowhere; empty: the path ends with the inode
     */
    public record Walk(Inode inode, List<String> rest) {
        /** What is at the path; null: nothing. */
        public @Nullable Inode found() {
            return rest.isEmpty() ? inode : null;
        }
    }

    /**
     * Follows a path from the mount's root.
     *
     * @param path from there; slashes more than are needed do not count
     */
    public <E extends Exception> Walk walk(String path, Step<E> step) throws E {
        List<String> names = Arrays.stream(path.split("/", -1))
                .filter(name -> !name.isEmpty())
                .toList();
        Inode at = table.root();
        for (int i = 0; i < names.size(); i++) {
            Inode child = at.isDirectory() ? step.child(at, names.get(i), i + 1 == names.size()) : null;
            if (child == null) {
                return new Walk(at, names.subList(i, names.size()));
            }
            at = child;
        }
        return new Walk(at, List.of());
    }

    /** As {@link #walk}, by what is known here. Never waits. */
    public Walk walkKnown(String path) {
        return walk(
                path,
                (directory, name, last) ->
                        table.child(directory, table.names(directory).shown(name)));
    }

    /** As {@link #walkKnown}, of a path in Alluxio; null: it is not below the mount's root. */
    public @Nullable Walk walkKnownAt(String path) {
        String below = belowRoot(path);
        return below == null ? null : walkKnown(below);
    }

    /**
     * The file is at this path: puts it into the tree there, so that it moves with the directories above it. Waits.
     *
     * @param path where Alluxio says the file of the inode's id is
     */
    public void settle(Inode inode, String path) throws StoreException {
        String below = belowRoot(path);
        Inode at = below == null
                ? null
                : walk(below, (directory, part, last) -> {
                            Name name = names(directory).shown(part);
                            return last ? metadata.look(directory, name) : metadata.child(directory, name);
                        })
                        .found();
        if (at != inode) {
            table.loose(inode, path);
        }
    }

    /** A file of which Alluxio knows nothing yet has this path: puts it into the tree there. Waits. */
    public void settleUnknown(Inode inode, String path) throws StoreException {
        int slash = path.lastIndexOf('/');
        String below = belowRoot(path.substring(0, slash + 1));
        Inode directory = below == null
                ? null
                : walk(below, (at, part, last) -> metadata.child(at, names(at).shown(part)))
                        .found();
        if (directory == null || !directory.isDirectory()) {
            table.loose(inode, path);
        } else {
            Name name = names(directory).shown(path.substring(slash + 1));
            table.attach(directory, name, inode, metadata.nowNanos());
        }
    }

    /** Between the names in a directory and those in its path. Waits where it is not known yet in what it is stored. */
    NameCodec names(Inode directory) throws StoreException {
        if (!directory.isStoreKnown()) {
            metadata.refresh(directory);
        }
        return table.names(directory);
    }

    /** Finds out in what a directory is stored, where a name's path depends on it. Waits if so. */
    public void findStore(Inode directory, Name name) throws StoreException {
        if (NameCodec.dependsOnStore(name)) {
            names(directory);
        }
    }

    /** A name in a directory, as Alluxio has it in paths. */
    String stored(Inode directory, Name name) {
        return table.names(directory).stored(name);
    }

    /** Where the entry of a node that is no longer known is in its directory, if it still is there; null: it is not. */
    public @Nullable String nameIn(Inode directory, long node) throws StoreException {
        try {
            String path = store.pathOf(InodeTable.fileIdOf(node));
            String parent = metadata.pathOf(directory);
            String prefix = parent.equals("/") ? "/" : parent + "/";
            boolean inside = path.startsWith(prefix) && path.indexOf('/', prefix.length()) < 0;
            return inside ? path.substring(prefix.length()) : null;
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }

    /** This node, if it is known and has the file of this id; else the one that the file has now. Null: there is none. */
    public @Nullable Inode ofFile(long node, long fileId) throws StoreException {
        Inode known = table.get(node);
        return known != null && known.fileId() == fileId ? known : recover(InodeTable.nodeOf(fileId));
    }

    /** Null: each time that it was looked for, another file was where it had just been. */
    private @Nullable Inode recoverFile(long fileId) throws StoreException {
        for (int tries = 1; tries <= Metadata.MAX_TRIES; tries++) {
            long issued = table.generation().issued();
            String path = store.pathOf(fileId);
            FileStatus status = store.status(path);
            if (status.id() == fileId) {
                Inode inode = table.of(fileId, status.directory());
                settle(inode, path);
                metadata.see(inode, status, issued, metadata.nowNanos());
                return inode;
            }
        }
        return null;
    }

    /** The node of this id, found through Alluxio when the table does not know it; null when it is gone. */
    public @Nullable Inode recover(long node) throws StoreException {
        try {
            return recoverFile(InodeTable.fileIdOf(node));
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL) {
                return null;
            }
            throw e;
        }
    }
}

package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which name leads to which inode, and how long an inode lives.
 *
 * <p>Every method is called under the tree's lock, which {@link MemoryFileSystem} holds: for reading in {@link #find}, for
 * writing in all others. Inodes' own locks are taken inside. Invariants: an inode is in the table until it has neither links
 * nor lookups; a directory has two links and one for each directory in it, or none once it is removed.
 */
final class Tree {
    private static final int MAX_LINKS = 65_000;

    private final Space space;
    private final Supplier<Moment> now;
    private final InodeTable table = new InodeTable();

    Tree(Space space, Supplier<Moment> now, Inode.Birth rootBirth) {
        this.space = space;
        this.now = now;
        Inode root = newInode(rootBirth);
        root.links = 2;
        if (root.directory != null) {
            root.directory.setParent(root);
        }
    }

    @Nullable
    Inode find(long node) {
        return table.find(node);
    }

    int inodes() {
        return table.count();
    }

    private Inode newInode(Inode.Birth birth) {
        Inode inode = new Inode(table.takeId(), table.takeGeneration(), birth, space, now.get());
        table.add(inode);
        return inode;
    }

    /** Why nothing can be made in this directory; 0: it can. */
    private static int cannotMakeIn(@Nullable Inode parent) {
        if (parent == null || parent.links == 0) {
            return -Errno.ENOENT;
        }
        return parent.directory == null ? -Errno.ENOTDIR : 0;
    }

    /** What {@link #make} answers with: an errno, or an inode. */
    record Made(int error, @Nullable Inode inode) {
        static Made failed(int error) {
            return new Made(error, null);
        }
    }

    /** Makes an inode of this mode under a free name. Owner and group are the caller's, or the set-group-id directory's. */
    Made make(Request request, @Nullable Inode parent, Name name, int mode, int device, @Nullable Name target) {
        int error = cannotMakeIn(parent);
        if (error != 0 || parent == null || parent.directory == null) {
            return Made.failed(error);
        }
        if (parent.directory.find(name) != null) {
            return Made.failed(-Errno.EEXIST);
        }
        if (Stat.isDirectory(mode) && parent.links >= MAX_LINKS) {
            return Made.failed(-Errno.EMLINK);
        }
        if (!space.take(Inode.OWN_BYTES)) {
            return Made.failed(-Errno.ENOSPC);
        }
        Inode inode = newInode(birthIn(parent, request, mode, device, target));
        inode.links = 1;
        if (inode.directory != null) {
            inode.links = 2;
            inode.directory.setParent(parent);
            addLinks(parent, 1);
        }
        parent.directory.put(name, inode);
        modified(parent);
        return new Made(0, inode);
    }

    /** Makes a regular file that has no name, until {@link #link} gives it one. */
    Made makeNameless(Request request, @Nullable Inode parent, int mode) {
        int error = cannotMakeIn(parent);
        if (error != 0 || parent == null) {
            return Made.failed(error);
        }
        if (!space.take(Inode.OWN_BYTES)) {
            return Made.failed(-Errno.ENOSPC);
        }
        Inode inode = newInode(birthIn(parent, request, Stat.S_IFREG | mode, 0, null));
        inode.nameless = true;
        return new Made(0, inode);
    }

    private static Inode.Birth birthIn(Inode parent, Request request, int mode, int device, @Nullable Name target) {
        boolean directory = Stat.isDirectory(mode);
        boolean inherits = (parent.permissions() & Stat.S_ISGID) != 0;
        return new Inode.Birth(
                directory && inherits ? mode | Stat.S_ISGID : mode,
                request.uid(),
                inherits ? parent.gid() : request.gid(),
                device,
                target,
                directory ? new Directory() : null);
    }

    int link(@Nullable Inode inode, @Nullable Inode parent, Name name) {
        int error = cannotMakeIn(parent);
        if (error != 0 || parent == null || parent.directory == null) {
            return error;
        }
        if (inode == null || (inode.links == 0 && !inode.nameless)) {
            return -Errno.ENOENT;
        }
        if (inode.isDirectory()) {
            return -Errno.EPERM;
        }
        if (inode.links >= MAX_LINKS) {
            return -Errno.EMLINK;
        }
        if (parent.directory.find(name) != null) {
            return -Errno.EEXIST;
        }
        parent.directory.put(name, inode);
        inode.nameless = false;
        addLinks(inode, 1);
        changed(inode);
        modified(parent);
        return 0;
    }

    int remove(@Nullable Inode parent, Name name, boolean directory) {
        Inode inode = parent == null || parent.directory == null ? null : parent.directory.find(name);
        if (parent == null || parent.directory == null || inode == null) {
            return -Errno.ENOENT;
        }
        int error = cannotReplace(inode, directory);
        if (error != 0) {
            return error;
        }
        parent.directory.remove(name);
        unlinked(parent, inode);
        modified(parent);
        return 0;
    }

    /** May a file (or a directory) take the place of this inode, or of its name? */
    private static int cannotReplace(Inode inode, boolean byDirectory) {
        if (inode.directory == null) {
            return byDirectory ? -Errno.ENOTDIR : 0;
        }
        if (!byDirectory) {
            return -Errno.EISDIR;
        }
        return inode.directory.size() > 0 ? -Errno.ENOTEMPTY : 0;
    }

    /** A name of the inode is gone. */
    private void unlinked(Inode parent, Inode inode) {
        if (inode.isDirectory()) {
            addLinks(parent, -1);
            addLinks(inode, -2);
        } else {
            addLinks(inode, -1);
        }
        changed(inode);
        freeIfUnused(inode);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate")
    private static void addLinks(Inode inode, int count) {
        inode.links += count;
    }

    /** The two ends of a rename. */
    record Ends(Inode parent, Directory from, Name name, Inode newParent, Directory to, Name newName) {}

    int rename(Ends ends, int flags) {
        Inode moved = ends.from.find(ends.name);
        if (moved == null || ends.newParent.links == 0) {
            return -Errno.ENOENT;
        }
        if (isWithin(ends.newParent, moved)) {
            return -Errno.EINVAL;
        }
        Inode there = ends.to.find(ends.newName);
        if ((flags & Stat.RENAME_EXCHANGE) != 0) {
            return there == null ? -Errno.ENOENT : exchange(ends, moved, there);
        }
        if (there == moved) {
            return 0;
        }
        if (there != null) {
            int error =
                    (flags & Stat.RENAME_NOREPLACE) != 0 ? -Errno.EEXIST : cannotReplace(there, moved.isDirectory());
            if (error != 0) {
                return error;
            }
        }
        ends.from.remove(ends.name);
        ends.to.put(ends.newName, moved);
        moveDirectory(moved, ends.parent, ends.newParent);
        if (there != null) {
            unlinked(ends.newParent, there);
        }
        renamed(ends, moved);
        return 0;
    }

    private int exchange(Ends ends, Inode moved, Inode there) {
        if (isWithin(ends.parent, there)) {
            return -Errno.EINVAL;
        }
        ends.from.put(ends.name, there);
        ends.to.put(ends.newName, moved);
        moveDirectory(moved, ends.parent, ends.newParent);
        moveDirectory(there, ends.newParent, ends.parent);
        renamed(ends, moved);
        changed(there);
        return 0;
    }

    /** Is the directory the inode, or below it? */
    private static boolean isWithin(Inode directory, Inode inode) {
        Inode at = directory;
        while (at.directory != null) {
            if (at == inode) {
                return true;
            }
            Inode above = at.directory.parent();
            if (above == at) {
                return false;
            }
            at = above;
        }
        return false;
    }

    private static void moveDirectory(Inode moved, Inode from, Inode to) {
        if (moved.directory != null && from != to) {
            moved.directory.setParent(to);
            addLinks(from, -1);
            addLinks(to, 1);
        }
    }

    private void renamed(Ends ends, Inode moved) {
        modified(ends.parent);
        if (ends.newParent != ends.parent) {
            modified(ends.newParent);
        }
        changed(moved);
    }

    private void modified(Inode inode) {
        long stamp = inode.lock.writeLock();
        try {
            inode.touchModified(now.get());
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }

    private void changed(Inode inode) {
        long stamp = inode.lock.writeLock();
        try {
            inode.touchChanged(now.get());
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }

    /** Frees an inode that has neither a name nor a user in the kernel. */
    void freeIfUnused(Inode inode) {
        if (inode.links > 0 || inode.lookups.get() > 0 || inode.freed) {
            return;
        }
        inode.freed = true;
        table.remove(inode);
        long stamp = inode.lock.writeLock();
        try {
            inode.free();
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }
}

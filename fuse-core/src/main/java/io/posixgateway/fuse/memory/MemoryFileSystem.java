package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.spi.StatFs;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * A POSIX file system in the heap. Permissions are the kernel's to check: mount it with default_permissions.
 *
 * <p><b>Locks.</b> One for the tree: names, links, directories. One per inode: attributes and content. The tree's comes
 * first; two inodes are never locked together. Finding an inode by id takes none. Reads of one file run side by side.
 *
 * <p><b>Life of an inode.</b> It is freed when it has no name and the kernel has forgotten it; the kernel forgets no inode
 * that is open. So open files need no table: handles are 0. Nobody but the kernel changes files: its pages are always right.
 *
 * <p><b>Limits.</b> Data counts by chunks of 4 KiB, an inode counts 1 KiB and its extended attributes; beyond the capacity: ENOSPC. 16 TiB a file, 1
 * MiB of extended attributes an inode, 65,000 links.
 */
public final class MemoryFileSystem implements FileSystem {
    private static final long DEFAULT_VALID_NANOS = 1_000_000_000L;
    private static final int BLOCK_BYTES = 4096;
    private static final int COPY_BYTES = 1 << 16;
    private static final List<Name> NAMESPACES = List.of(Name.of("user."), Name.of("trusted."), Name.of("security."));
    private static final Name DOT = Name.of(".");
    private static final Name DOT_DOT = Name.of("..");

    private final Clock clock;
    private final long validNanos;
    private final Space space;
    private final Tree tree;
    private final StampedLock treeLock = new StampedLock();

    /** A file system that holds this many bytes, whose root anyone may write to, and whose answers hold for a second. */
    public MemoryFileSystem(long capacityBytes) {
        this(capacityBytes, DEFAULT_VALID_NANOS, Clock.system());
    }

    /**
     * @param validNanos how long the kernel may believe names and attributes
     * @param clock gives files their times
     */
    public MemoryFileSystem(long capacityBytes, long validNanos, Clock clock) {
        this.clock = clock;
        this.validNanos = validNanos;
        this.space = new Space(capacityBytes);
        this.tree = new Tree(space, this::now, new Inode.Birth(Stat.S_IFDIR | 0777, 0, 0, 0, null, new Directory()));
    }

    private Moment now() {
        return Moment.of(clock);
    }

    /** Bytes held, as they count against the capacity. */
    public long usedBytes() {
        return space.usedBytes();
    }

    /** Inodes that live: with a name, or still known to the kernel. */
    public int inodes() {
        return tree.inodes();
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        long stamp = treeLock.readLock();
        try {
            Inode directory = tree.find(parent);
            if (directory == null || directory.directory == null) {
                return directory == null ? -Errno.ENOENT : -Errno.ENOTDIR;
            }
            Inode inode = directory.directory.find(name);
            entry.validNanos = validNanos;
            return inode == null ? 0 : enter(inode, entry);
        } finally {
            treeLock.unlockRead(stamp);
        }
    }

    @Override
    public boolean findsForgotten() {
        return true;
    }

    @Override
    public int find(Request request, long node, boolean above, Entry entry) {
        long stamp = treeLock.readLock();
        try {
            Inode inode = tree.find(node);
            if (above) {
                inode = inode == null || inode.directory == null ? null : inode.directory.parent();
            }
            return inode == null || inode.links == 0 ? -Errno.ESTALE : enter(inode, entry);
        } finally {
            treeLock.unlockRead(stamp);
        }
    }

    /** Answers with an inode, which the kernel then knows once more. Under the tree's lock. */
    private int enter(Inode inode, Entry entry) {
        inode.lookups.incrementAndGet();
        entry.node = inode.node;
        entry.generation = inode.generation;
        entry.validNanos = validNanos;
        return show(inode, entry.attributes);
    }

    private int show(Inode inode, Attributes attributes) {
        long stamp = inode.lock.readLock();
        try {
            inode.show(attributes);
        } finally {
            inode.lock.unlockRead(stamp);
        }
        attributes.validNanos = validNanos;
        return 0;
    }

    @Override
    public void forget(long node, long lookups) {
        Inode inode = tree.find(node);
        if (inode != null && inode.lookups.addAndGet(-lookups) <= 0 && inode.links == 0) {
            long stamp = treeLock.writeLock();
            try {
                tree.freeIfUnused(inode);
            } finally {
                treeLock.unlockWrite(stamp);
            }
        }
    }

    @Override
    public boolean dropsPrivileges() {
        return true;
    }

    @Override
    public boolean tellsBirth() {
        return true;
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes attributes) {
        Inode inode = tree.find(node);
        if (inode == null || !inode.isDirectory()) {
            return inode == null ? -Errno.ENOENT : show(inode, attributes);
        }
        long stamp = treeLock.readLock();
        try {
            return show(inode, attributes);
        } finally {
            treeLock.unlockRead(stamp);
        }
    }

    @Override
    public int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        Inode inode = tree.find(node);
        if (inode == null) {
            return -Errno.ENOENT;
        }
        long stamp = inode.lock.writeLock();
        try {
            int error = inode.change(changes, request, now());
            if (error != 0) {
                return error;
            }
        } finally {
            inode.lock.unlockWrite(stamp);
        }
        return getattr(request, node, 0, attributes);
    }

    @Override
    public int readlink(Request request, long node, ByteBuffer target) {
        Inode inode = tree.find(node);
        if (inode == null || inode.target == null) {
            return inode == null ? -Errno.ENOENT : -Errno.EINVAL;
        }
        inode.target.putInto(target);
        return inode.target.length();
    }

    @Override
    public int symlink(Request request, long parent, Name name, byte[] target, Entry entry) {
        return make(request, parent, name, new Kind(Stat.S_IFLNK | 0777, 0, Name.of(target)), entry);
    }

    @Override
    public int mknod(Request request, long parent, Name name, int mode, int device, Entry entry) {
        int type = (mode & Stat.S_IFMT) == 0 ? Stat.S_IFREG : mode & Stat.S_IFMT;
        if (type == Stat.S_IFDIR || type == Stat.S_IFLNK) {
            return -Errno.EINVAL;
        }
        return make(request, parent, name, new Kind(type | (mode & Stat.PERMISSIONS), device, null), entry);
    }

    @Override
    public int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        return make(request, parent, name, new Kind(Stat.S_IFDIR | mode, 0, null), entry);
    }

    private record Kind(int mode, int device, @Nullable Name target) {}

    private int make(Request request, long parent, Name name, Kind kind, Entry entry) {
        long stamp = treeLock.writeLock();
        try {
            Tree.Made made = tree.make(request, tree.find(parent), name, kind.mode, kind.device, kind.target);
            return made.inode() == null ? made.error() : enter(made.inode(), entry);
        } finally {
            treeLock.unlockWrite(stamp);
        }
    }

    @Override
    public int unlink(Request request, long parent, Name name) {
        return remove(parent, name, false);
    }

    @Override
    public int rmdir(Request request, long parent, Name name) {
        return remove(parent, name, true);
    }

    private int remove(long parent, Name name, boolean directory) {
        long stamp = treeLock.writeLock();
        try {
            return tree.remove(tree.find(parent), name, directory);
        } finally {
            treeLock.unlockWrite(stamp);
        }
    }

    @Override
    public int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        if ((flags & ~(Stat.RENAME_NOREPLACE | Stat.RENAME_EXCHANGE)) != 0
                || flags == (Stat.RENAME_NOREPLACE | Stat.RENAME_EXCHANGE)) {
            return -Errno.EINVAL;
        }
        long stamp = treeLock.writeLock();
        try {
            Inode from = tree.find(parent);
            Inode to = tree.find(newParent);
            if (from == null || to == null) {
                return -Errno.ENOENT;
            }
            if (from.directory == null || to.directory == null) {
                return -Errno.ENOTDIR;
            }
            return tree.rename(new Tree.Ends(from, from.directory, name, to, to.directory, newName), flags);
        } finally {
            treeLock.unlockWrite(stamp);
        }
    }

    @Override
    public int link(Request request, long node, long newParent, Name newName, Entry entry) {
        long stamp = treeLock.writeLock();
        try {
            Inode inode = tree.find(node);
            int error = tree.link(inode, tree.find(newParent), newName);
            return error != 0 || inode == null ? error : enter(inode, entry);
        } finally {
            treeLock.unlockWrite(stamp);
        }
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        Inode inode = tree.find(node);
        if (inode == null) {
            return -Errno.ENOENT;
        }
        if (inode.isDirectory()) {
            return -Errno.EISDIR;
        }
        reply.flags = OpenReply.KEEP_CACHE;
        return (flags & Stat.O_TRUNC) != 0 ? truncate(request, inode) : 0;
    }

    private int truncate(Request request, Inode inode) {
        SetAttributes changes = new SetAttributes();
        changes.valid = SetAttributes.SIZE | (request.killsPrivileges() ? SetAttributes.KILL_SUID_GID : 0);
        long stamp = inode.lock.writeLock();
        try {
            return inode.change(changes, request, now());
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }

    @Override
    public int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        reply.open.flags = OpenReply.KEEP_CACHE;
        int made = make(request, parent, name, new Kind(Stat.S_IFREG | mode, 0, null), reply.entry);
        if (made != -Errno.EEXIST || (flags & Stat.O_EXCL) != 0) {
            return made;
        }
        int found = lookup(request, parent, name, reply.entry);
        if (found != 0 || reply.entry.node == 0) {
            return found != 0 ? found : -Errno.ENOENT;
        }
        int opened = open(request, reply.entry.node, flags, reply.open);
        if (opened != 0) {
            forget(reply.entry.node, 1);
        }
        return opened;
    }

    @Override
    public int tmpfile(Request request, long parent, int mode, int flags, CreateReply reply) {
        long stamp = treeLock.writeLock();
        try {
            Tree.Made made = tree.makeNameless(request, tree.find(parent), mode);
            return made.inode() == null ? made.error() : enter(made.inode(), reply.entry);
        } finally {
            treeLock.unlockWrite(stamp);
        }
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        Inode inode = tree.find(node);
        if (inode == null || inode.content == null) {
            return inode == null ? -Errno.ENOENT : -Errno.EINVAL;
        }
        int bytes;
        boolean accessIsOld;
        long stamp = inode.lock.readLock();
        try {
            bytes = inode.content.read(offset, into);
            accessIsOld = inode.accessIsOld(clock.epochMillis() / 1000);
        } finally {
            inode.lock.unlockRead(stamp);
        }
        if (accessIsOld) {
            long accessed = inode.lock.writeLock();
            try {
                inode.touchAccessed(now());
            } finally {
                inode.lock.unlockWrite(accessed);
            }
        }
        return bytes;
    }

    @Override
    public int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        Inode inode = tree.find(node);
        if (inode == null || inode.content == null) {
            return inode == null ? -Errno.ENOENT : -Errno.EINVAL;
        }
        long stamp = inode.lock.writeLock();
        try {
            int bytes = inode.content.write(offset, data);
            if (bytes > 0) {
                inode.touchModified(now());
                if (request.killsPrivileges()) {
                    inode.killPrivileges(request);
                }
            }
            return bytes;
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }

    @Override
    public int flush(Request request, long node, long handle, long lockOwner) {
        return 0;
    }

    @Override
    public int fsync(Request request, long node, long handle, boolean dataOnly) {
        return 0;
    }

    @Override
    public int fsyncdir(Request request, long node, long handle, boolean dataOnly) {
        return 0;
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        long stamp = treeLock.readLock();
        try {
            Inode inode = tree.find(node);
            if (inode == null || inode.directory == null) {
                return inode == null ? -Errno.ENOENT : -Errno.ENOTDIR;
            }
            if (inode.links > 0) {
                list(inode, inode.directory, offset, writer);
            }
            return 0;
        } finally {
            treeLock.unlockRead(stamp);
        }
    }

    private void list(Inode inode, Directory directory, long offset, DirectoryWriter writer) {
        if (offset < 1 && !writer.add(DOT, 1, inode.node, Stat.S_IFDIR)) {
            return;
        }
        if (offset < 2 && !writer.add(DOT_DOT, 2, directory.parent().node, Stat.S_IFDIR)) {
            return;
        }
        Entry entry = new Entry();
        for (Directory.Dentry dentry : directory.after(offset)) {
            entry.clear();
            enter(dentry.inode, entry);
            boolean added = writer.add(dentry.name, dentry.offset, entry);
            if (!added || !writer.plus()) {
                dentry.inode.lookups.decrementAndGet();
            }
            if (!added) {
                return;
            }
        }
    }

    @Override
    public int statfs(Request request, long node, StatFs reply) {
        reply.blockSizeBytes = BLOCK_BYTES;
        reply.fragmentSizeBytes = BLOCK_BYTES;
        reply.blocks = space.capacityBytes() / BLOCK_BYTES;
        reply.freeBlocks = space.freeBytes() / BLOCK_BYTES;
        reply.availableBlocks = reply.freeBlocks;
        reply.freeFiles = space.freeBytes() / Inode.OWN_BYTES;
        reply.files = reply.freeFiles + tree.inodes();
        reply.maxNameBytes = Name.MAX_BYTES;
        return 0;
    }

    /**
     * Attributes that cannot be here: a negative errno, or 0. ACLs are not kept (EOPNOTSUPP rather than an attribute that nobody
     * heeds), nor is what belongs to no namespace of Linux.
     */
    private static int refuse(Name name) {
        for (Name namespace : NAMESPACES) {
            if (name.startsWith(namespace)) {
                return name.length() == namespace.length() ? -Errno.EINVAL : 0;
            }
        }
        return -Errno.EOPNOTSUPP;
    }

    @Override
    public int setxattr(Request request, long node, Name name, ByteBuffer value, int flags) {
        Inode inode = tree.find(node);
        int refused = inode == null ? -Errno.ENOENT : refuse(name);
        if (inode == null || refused != 0) {
            return refused;
        }
        long stamp = inode.lock.writeLock();
        try {
            return inode.setAttribute(name, value, flags, now());
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }

    @Override
    public int getxattr(Request request, long node, Name name, ByteBuffer into) {
        Inode inode = tree.find(node);
        int refused = inode == null ? -Errno.ENOENT : refuse(name);
        if (inode == null || refused != 0) {
            return refused;
        }
        long stamp = inode.lock.readLock();
        try {
            return inode.getAttribute(name, into);
        } finally {
            inode.lock.unlockRead(stamp);
        }
    }

    @Override
    public int listxattr(Request request, long node, ByteBuffer into) {
        Inode inode = tree.find(node);
        if (inode == null) {
            return -Errno.ENOENT;
        }
        long stamp = inode.lock.readLock();
        try {
            return inode.listAttributes(into);
        } finally {
            inode.lock.unlockRead(stamp);
        }
    }

    @Override
    public int removexattr(Request request, long node, Name name) {
        Inode inode = tree.find(node);
        int refused = inode == null ? -Errno.ENOENT : refuse(name);
        if (inode == null || refused != 0) {
            return refused;
        }
        long stamp = inode.lock.writeLock();
        try {
            return inode.removeAttribute(name, now());
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }

    @Override
    public long lseek(Request request, long node, long handle, long offset, int whence) {
        Inode inode = tree.find(node);
        if (inode == null || inode.content == null || offset < 0) {
            return inode == null ? -Errno.ENOENT : offset < 0 ? -Errno.ENXIO : -Errno.EINVAL;
        }
        long stamp = inode.lock.readLock();
        try {
            return switch (whence) {
                case Stat.SEEK_DATA -> inode.content.seekData(offset);
                case Stat.SEEK_HOLE -> inode.content.seekHole(offset);
                default -> -Errno.EINVAL;
            };
        } finally {
            inode.lock.unlockRead(stamp);
        }
    }

    @Override
    public int fallocate(Request request, long node, long handle, long offset, long lengthBytes, int mode) {
        Inode inode = tree.find(node);
        if (inode == null || inode.content == null) {
            return inode == null ? -Errno.ENOENT : -Errno.ENODEV;
        }
        long stamp = inode.lock.writeLock();
        try {
            int error = fallocate(inode.content, offset, lengthBytes, mode);
            if (error == 0) {
                inode.touchModified(now());
                if (request.killsPrivileges()) {
                    inode.killPrivileges(request);
                }
            }
            return error;
        } finally {
            inode.lock.unlockWrite(stamp);
        }
    }

    private static int fallocate(Content content, long offset, long lengthBytes, int mode) {
        long end = offset + lengthBytes;
        if (mode == (Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE)) {
            content.clear(offset, Math.min(end, Content.MAX_BYTES));
            return 0;
        }
        boolean zero = (mode & Stat.FALLOC_ZERO_RANGE) != 0;
        if ((mode & ~(Stat.FALLOC_KEEP_SIZE | Stat.FALLOC_ZERO_RANGE)) != 0) {
            return -Errno.EOPNOTSUPP;
        }
        int error = content.allocate(offset, lengthBytes);
        if (error != 0) {
            return error;
        }
        if (zero) {
            content.zero(offset, end);
        }
        return (mode & Stat.FALLOC_KEEP_SIZE) != 0 || end <= content.sizeBytes() ? 0 : content.resize(end);
    }

    /** Copies chunk by chunk; what others write meanwhile may show in part. */
    @Override
    public int copyFileRange(Request request, CopyRange range) {
        ByteBuffer piece = ByteBuffer.allocate(COPY_BYTES);
        long done = 0;
        while (done < range.lengthBytes) {
            piece.clear().limit((int) Math.min(piece.capacity(), range.lengthBytes - done));
            int got = read(request, range.node, range.handle, range.offset + done, piece);
            if (got <= 0) {
                return done > 0 ? (int) done : got;
            }
            piece.limit(got);
            int put = write(request, range.toNode, range.toHandle, range.toOffset + done, piece);
            if (put < 0) {
                return done > 0 ? (int) done : put;
            }
            done += put;
            if (put < got) {
                break;
            }
        }
        return (int) done;
    }
}

package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.bypass.BlockSet;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.KernelInvalidator;
import io.posixgateway.alluxio.meta.ListingPass;
import io.posixgateway.alluxio.meta.Locations;
import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.spi.StatFs;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A path of Alluxio as a file system. This class finds nodes and handles, decides what may wait, and turns failures into
 * errnos; what is done is in the {@code …Operations}.
 *
 * <p>What can be answered from memory or a local file is answered at once and, when it was found in the caches, without
 * allocating; all else returns {@link FileSystem#WOULD_WAIT} where waiting is not allowed.
 */
public final class AlluxioFileSystem implements FileSystem {
    /** Of so many files that are renamed while their directories are listed it is known that they were shown: about 10 MB. */
    private static final int MAX_LISTED = 100_000;
    /** So many names of pages that open directories have passed are remembered, with their files: some 30 MB. */
    private static final int MAX_PASSED = 200_000;

    final VolumeContext volume;
    private final Failures failures;
    private final NameOperations names;
    private final HardLinks links;
    private final FileOperations files;
    private final AttributeOperations attributes;
    private final LongMap<DirectoryHandle> directories = new LongMap<>();
    private final ListingPass.Room listingRoom = new ListingPass.Room(MAX_LISTED);
    private final PassedPages.Room passedRoom = new PassedPages.Room(MAX_PASSED);
    private final HandleIds directoryNumbers = new HandleIds();

    AlluxioFileSystem(VolumeContext volume, String rootPath, Clock clock) {
        this.volume = volume;
        this.failures = new Failures(rootPath, clock);
        this.names = new NameOperations(volume);
        this.links = new HardLinks(volume);
        this.files = new FileOperations(volume);
        this.attributes = new AttributeOperations(volume);
    }

    @Override
    public void started(Kernel kernel) {
        volume.started(kernel);
    }

    @Override
    public boolean dropsPrivileges() {
        return true;
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        try {
            Inode directory = volume.findToLook(request, parent);
            return directory == null ? VolumeContext.absent(request) : names.lookup(request, directory, name, entry);
        } catch (StoreException e) {
            return failures.answer("lookup", e);
        }
    }

    @Override
    public void forget(long node, long lookups) {
        Inode unknown = volume.table.forget(node, lookups);
        if (unknown != null || volume.table.get(node) == null) {
            volume.passthrough.forgotten(node);
        }
        if (unknown != null && (unknown.unlinked() || volume.mayBeOpenUnseen(unknown))) {
            volume.later(() -> forgotten(unknown));
        }
    }

    /** The kernel holds no handle of the node any more, but for those whose RELEASE this overtook. */
    private void forgotten(Inode inode) {
        try {
            volume.dirtyFiles.withheld().forgotten(inode.node());
            if (!inode.unlinked()) {
                volume.dirtyFiles.lastWriterClosed(inode, false);
            } else if (!volume.mayBeOpenUnseen(inode) || !volume.invalidator.isKnown(inode.node())) {
                inode.markOurs(); // no handle of an earlier process is left
                volume.buryIfForgotten(inode);
            }
        } catch (StoreException e) {
            failures.answer("forget", e);
        }
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes reply) {
        try {
            Inode inode = volume.find(request, node);
            return inode == null ? VolumeContext.absent(request) : volume.show(request, inode, reply);
        } catch (StoreException e) {
            return failures.answer("getattr", e);
        }
    }

    /** An operation on a node that always waits. */
    private interface OnNode {
        int run(Inode inode) throws StoreException;
    }

    private int waiting(String operation, Request request, long node, OnNode action) {
        if (!request.mayWait()) {
            return WOULD_WAIT;
        }
        try {
            Inode inode = volume.find(request, node);
            return inode == null ? -Errno.ESTALE : action.run(inode);
        } catch (StoreException e) {
            return failures.answer(operation, e);
        }
    }

    @Override
    public int setattr(Request request, long node, SetAttributes changes, Attributes reply) {
        return waiting("setattr", request, node, inode -> {
            files.changesThrough(request, node, changes);
            return attributes.setattr(request, inode, changes, reply);
        });
    }

    @Override
    public int readlink(Request request, long node, ByteBuffer target) {
        try {
            Inode inode = volume.find(request, node);
            if (inode == null || (!request.mayWait() && volume.metadata.known(inode) == null)) {
                return VolumeContext.absent(request);
            }
            Name path = volume.metadata.attr(inode).target();
            path.putInto(target);
            return path.length();
        } catch (StoreException e) {
            return failures.answer("readlink", e);
        }
    }

    private int make(
            String operation, Request request, long parent, Name name, NameOperations.Making making, Entry entry) {
        return waiting(operation, request, parent, directory -> names.make(request, directory, name, making, entry));
    }

    @Override
    public int symlink(Request request, long parent, Name name, byte[] target, Entry entry) {
        return make(
                "symlink",
                request,
                parent,
                name,
                new NameOperations.Making(Stat.S_IFLNK | 0777, 0, Name.of(target)),
                entry);
    }

    @Override
    public int mknod(Request request, long parent, Name name, int mode, int device, Entry entry) {
        int typed = (mode & Stat.S_IFMT) == 0 ? mode | Stat.S_IFREG : mode;
        return make(
                "mknod",
                request,
                parent,
                name,
                new NameOperations.Making(typed, device, NameOperations.Making.NO_TARGET),
                entry);
    }

    @Override
    public int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        return waiting("mkdir", request, parent, directory -> names.mkdir(request, directory, name, mode, entry));
    }

    @Override
    public int unlink(Request request, long parent, Name name) {
        return waiting("unlink", request, parent, directory -> names.unlink(directory, name));
    }

    @Override
    public int rmdir(Request request, long parent, Name name) {
        return waiting("rmdir", request, parent, directory -> names.rmdir(directory, name));
    }

    @Override
    public int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        return waiting("rename", request, parent, directory -> {
            Inode newDirectory = volume.find(request, newParent);
            if (newDirectory == null) {
                return -Errno.ESTALE;
            }
            NameOperations.Place from = new NameOperations.Place(directory, name);
            return names.rename(from, new NameOperations.Place(newDirectory, newName), flags);
        });
    }

    /** Alluxio has no hard links. */
    @Override
    public int link(Request request, long node, long newParent, Name newName, Entry entry) {
        int errno = volume.options.linkErrno();
        return errno != HardLinks.BY_USE
                ? -errno
                : waiting("link", request, newParent, to -> -links.errno(volume.find(request, node), to));
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        try {
            Inode inode = volume.find(request, node);
            return inode == null ? VolumeContext.absent(request) : files.open(request, inode, flags, reply);
        } catch (StoreException e) {
            return failures.answer("open", e);
        }
    }

    @Override
    public int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        int answer = waiting("create", request, parent, directory -> {
            NameOperations.Making making =
                    new NameOperations.Making(Stat.S_IFREG | (mode & 07777), 0, NameOperations.Making.NO_TARGET);
            Inode made = names.begin(request, directory, name, making, true);
            if (made == null) {
                return names.refusal(directory, name);
            }
            volume.startWriting(made);
            files.register(made, reply.open);
            reply.open.flags = OpenReply.KEEP_CACHE;
            return volume.enter(request, made, reply.entry);
        });
        // Others made it since the kernel looked: with ESTALE it looks again, and opens what is there.
        return answer == -Errno.EEXIST && (flags & Stat.O_EXCL) == 0 ? -Errno.ESTALE : answer;
    }

    @Override
    public int tmpfile(Request request, long parent, int mode, int flags, CreateReply reply) {
        return waiting("tmpfile", request, parent, directory -> {
            NameOperations.Making making =
                    new NameOperations.Making(Stat.S_IFREG | (mode & 07777), 0, NameOperations.Making.NO_TARGET);
            Inode made = names.beginNameless(request, directory, making);
            if (made == null) {
                return -Errno.ENOTDIR;
            }
            volume.startWriting(made);
            files.register(made, reply.open);
            return volume.enter(request, made, reply.entry);
        });
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        try {
            return files.read(request, node, handle, offset, into);
        } catch (StoreException e) {
            return failures.answer("read", e);
        }
    }

    @Override
    public int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        try {
            return files.write(request, node, handle, offset, data);
        } catch (StoreException e) {
            return failures.answer("write", e);
        }
    }

    @Override
    public int flush(Request request, long node, long handle, long lockOwner) {
        try {
            return files.flush(request, node, handle);
        } catch (StoreException e) {
            return failures.answer("flush", e);
        }
    }

    @Override
    public int release(Request request, long node, long handle) {
        try {
            return files.release(request, node, handle);
        } catch (StoreException e) {
            return failures.answer("release", e);
        }
    }

    @Override
    public int fsync(Request request, long node, long handle, boolean dataOnly) {
        try {
            return files.fsync(request, node, handle);
        } catch (StoreException e) {
            return failures.answer("fsync", e);
        }
    }

    @Override
    public int opendir(Request request, long node, int flags, OpenReply reply) {
        try {
            Inode inode = volume.find(request, node);
            if (inode == null) {
                return VolumeContext.absent(request);
            }
            if (!inode.isDirectory()) {
                return -Errno.ENOTDIR;
            }
            reply.handle = directoryNumbers.next();
            directories.put(reply.handle, new DirectoryHandle(volume, inode, listingRoom, passedRoom));
            if (volume.cachePolicy.immutable()) {
                reply.flags = OpenReply.CACHE_DIR | OpenReply.KEEP_CACHE;
            }
            return 0;
        } catch (StoreException e) {
            return failures.answer("opendir", e);
        }
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        try {
            DirectoryHandle open = directory(request, node, handle);
            if (open != null) {
                return open.read(request, offset, writer);
            }
            return volume.takenOver() && !directoryNumbers.issuedHere(handle)
                    ? VolumeContext.absent(request)
                    : -Errno.EBADF;
        } catch (StoreException e) {
            return failures.answer("readdir", e);
        }
    }

    /** The open directory of this number; one of an earlier process is found by its node. */
    private @Nullable DirectoryHandle directory(Request request, long node, long handle) throws StoreException {
        volume.checkOwn(node);
        DirectoryHandle open = directories.get(handle);
        if (open != null || !volume.takenOver() || directoryNumbers.issuedHere(handle)) {
            return open;
        }
        Inode inode = volume.find(request, node);
        if (inode == null || !inode.isDirectory()) {
            return null;
        }
        DirectoryHandle resumed = new DirectoryHandle(volume, inode, listingRoom, passedRoom);
        DirectoryHandle other = directories.putIfAbsent(handle, resumed);
        return other == null ? resumed : other;
    }

    @Override
    public int releasedir(Request request, long node, long handle) {
        DirectoryHandle open = directories.remove(handle);
        if (open != null) {
            open.close();
        }
        return 0;
    }

    /** Names are in Alluxio's journal as soon as an operation was answered. */
    @Override
    public int fsyncdir(Request request, long node, long handle, boolean dataOnly) {
        return 0;
    }

    @Override
    public int statfs(Request request, long node, StatFs reply) {
        try {
            return attributes.statfs(request, reply);
        } catch (StoreException e) {
            return failures.answer("statfs", e);
        }
    }

    @Override
    public int setxattr(Request request, long node, Name name, ByteBuffer value, int flags) {
        return waiting("setxattr", request, node, inode -> attributes.setxattr(inode, name, value, flags));
    }

    @Override
    public int getxattr(Request request, long node, Name name, ByteBuffer into) {
        try {
            Inode inode = volume.find(request, node);
            return inode == null ? VolumeContext.absent(request) : attributes.getxattr(request, inode, name, into);
        } catch (StoreException e) {
            return failures.answer("getxattr", e);
        }
    }

    @Override
    public int listxattr(Request request, long node, ByteBuffer into) {
        try {
            Inode inode = volume.find(request, node);
            return inode == null ? VolumeContext.absent(request) : attributes.listxattr(request, inode, into);
        } catch (StoreException e) {
            return failures.answer("listxattr", e);
        }
    }

    @Override
    public int removexattr(Request request, long node, Name name) {
        return waiting("removexattr", request, node, inode -> attributes.removexattr(inode, name));
    }

    @Override
    public long lseek(Request request, long node, long handle, long offset, int whence) {
        try {
            Inode inode = volume.find(request, node);
            return inode == null ? VolumeContext.absent(request) : files.lseek(request, inode, offset, whence);
        } catch (StoreException e) {
            return failures.answer("lseek", e);
        }
    }

    @Override
    public int fallocate(Request request, long node, long handle, long offset, long lengthBytes, int mode) {
        try {
            return files.fallocate(request, node, new FileOperations.Range(handle, offset, lengthBytes), mode);
        } catch (StoreException e) {
            return failures.answer("fallocate", e);
        }
    }

    /**
     * Forgets what is cached of a path and all below it, here and in the kernel, names that lead nowhere included. Not on a
     * thread that serves the kernel.
     *
     * @param path below the volume's root, such as {@code /} or {@code /a/b}
     * @return how many files, directories and missing names were forgotten
     */
    public long invalidate(String path) {
        try (KernelInvalidator.Forgetting invalidator = volume.invalidator.forgetting()) {
            Locations.Walk walk = volume.metadata.locations().walkKnown(path);
            Inode at = walk.inode();
            if (walk.found() != null) {
                return invalidate(at, invalidator);
            }
            if (!at.isDirectory()) {
                return 0;
            }
            Name name = volume.table.names(at).shown(walk.rest().get(0));
            invalidator.forget(at, name); // the kernel may know that it leads nowhere where we do not
            return at.dentries().dropMissing(name) ? 1 : 0;
        }
    }

    private long invalidate(Inode top, KernelInvalidator.Forgetting invalidator) {
        long count = 0;
        Deque<Inode> open = new ArrayDeque<>();
        open.add(top);
        while (!open.isEmpty()) {
            Inode inode = open.remove();
            count++;
            if (inode.isDirectory()) {
                open.addAll(inode.dentries().snapshot());
                Collection<Name> missing = inode.dentries().dropListing();
                missing.forEach(name -> invalidator.forget(inode, name));
                count += missing.size();
            }
            invalidator.forget(volume.table, inode);
        }
        return count;
    }

    /**
     * What is known of one path below the volume's root, and how an open of it would be read. Waits for Alluxio.
     *
     * @throws StoreException ENOENT, or Alluxio does not answer
     */
    public PathInfo inspect(String path) throws StoreException {
        return new PathInspector(volume).of(path);
    }

    /** To bring files to this node; null: the mount has no data cache. */
    public @Nullable NodeWarmup nodeWarmup() {
        return NodeWarmup.of(volume);
    }

    /** The block files of a file, if programs may read them without us. Never waits. */
    public BlockSet blockSet(long node) {
        return new BypassResolver(volume).of(node);
    }

    /** From which length on programs may do so; 0: never. */
    public long bypassBytes() {
        return volume.options.bypassBytes();
    }

    /** Where a node is in Alluxio, as far as is known; empty: not known. Never waits for Alluxio. */
    public String pathOf(long node) {
        Inode inode = volume.table.get(node);
        String path = inode == null ? null : volume.table.path(inode);
        return path == null ? "" : path;
    }

    /** Numbers for metrics; each is read by itself. */
    public record Counts(
            long inodes,
            long openFiles,
            long changedFiles,
            long spoolBytes,
            long localReadBytes,
            long remoteReadBytes,
            long passthroughOpens) {}

    /** What this volume holds now, and what it read since it was opened. */
    public Counts counts() {
        return new Counts(
                volume.table.size(),
                files.openFiles(),
                volume.dirtyFiles.size(),
                volume.spool.usedBytes(),
                volume.readers.localBytes(),
                volume.readers.remoteBytes(),
                volume.passthrough.opens());
    }

    /** The parts of this volume, to be asked for what they count. */
    public VolumeCounts details() {
        return new VolumeCounts(
                volume.metadata,
                volume.table,
                volume.readers.blocks(),
                volume.readers.budget(),
                volume.spool,
                volume.unfinished.renames(),
                volume.readers.cacheFigures(),
                volume.lastKnown.opens());
    }

    /** Between the names of the mount and those in Alluxio's paths, as they are in its root's under file system. */
    public NameCodec names() {
        return volume.table.names(volume.table.root());
    }

    /** The client this volume uses; for the controller's work on directories, and for health. */
    public Store store() {
        return volume.store;
    }

    /**
     * Of a kept volume, before the session is served: takes over what an earlier process left in the volume's folder. Waits.
     *
     * @param goesOn the session was served before: the kernel knows nodes and handles of an earlier process
     * @throws StoreException Alluxio does not answer; what was left stays
     */
    public void resume(boolean goesOn) throws StoreException {
        volume.resume(goesOn);
    }

    /** Of a kept volume: its folder. */
    public VolumeStateDir stateDir() {
        return volume.stateDir();
    }

    /** Of a kept volume: {@link #close} leaves open files as they are to the next process. */
    public void leaveToNext() {
        volume.leaveToNext();
    }

    /** Commits what is not yet committed, unless it is left to the next process, and closes the client. */
    @Override
    public void close() {
        volume.close();
    }

    /** What {@link #close} could not upload: each path, and where its content stays. */
    public List<String> failedAtEnd() {
        return volume.spool.failedAtEnd();
    }
}

package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.AttributeEdit;
import io.posixgateway.alluxio.meta.DirectoryTimes;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.PathLocks;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.DirtyFiles;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.StatFs;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Attributes, extended attributes, and the space of the whole. */
final class AttributeOperations {
    private static final Logger LOG = LoggerFactory.getLogger(AttributeOperations.class);
    private static final int CREATE_ONLY = 1;
    private static final int REPLACE_ONLY = 2;
    private static final long CAPACITY_NANOS = 5_000_000_000L;
    private static final int BLOCK_BYTES = 4096;

    private final VolumeContext volume;
    private volatile Store.@Nullable Capacity capacity;
    private volatile long capacityNanos;

    AttributeOperations(VolumeContext volume) {
        this.volume = volume;
    }

    int setattr(Request request, Inode inode, SetAttributes changes, Attributes attributes) throws StoreException {
        int refused = refuse(inode, changes);
        if (refused != 0) {
            return refused;
        }
        Consumer<Attr> privileges = privileges(request, inode, changes);
        AttributeEdit.Edit edit = attr -> {
            privileges.accept(attr);
            return edited(inode, attr, changes);
        };
        boolean cuts = changes.has(SetAttributes.SIZE);
        if (cuts && changes.has(AttributeEdit.HANDLED)) {
            // What is refused is refused before anything is cut.
            edited(inode, attr(inode), changes);
        }
        if (cuts) {
            cut(inode, changes, privileges, edit);
        } else if (changes.has(AttributeEdit.HANDLED)) {
            change(inode, changes, edit);
        } else {
            touch(inode, changes, edit);
        }
        return volume.show(request, inode, attributes);
    }

    /** What takes set-id bits off; another mount may have given them since the file was looked at, so it is done again with what is asked. */
    private Consumer<Attr> privileges(Request request, Inode inode, SetAttributes changes) throws StoreException {
        if (!changes.has(SetAttributes.KILL_SUID_GID)) {
            return attr -> {};
        }
        boolean givesMode = changes.has(SetAttributes.MODE);
        Consumer<Attr> privileges = attr -> Privileges.settle(request, changes, givesMode, attr);
        privileges.accept(attr(inode));
        return privileges;
    }

    /**
     * chown(2) to no other owner or group asks for nothing, which everybody may, and moves the time of the change all the same. Alluxio
     * lets only some write that down: for others it stays.
     */
    private void touch(Inode inode, SetAttributes changes, AttributeEdit.Edit edit) throws StoreException {
        try {
            change(inode, changes, edit);
        } catch (StoreException e) {
            boolean refused = e.errno() == Errno.EACCES || e.errno() == Errno.EPERM;
            if (!refused || changes.has(AttributeEdit.HANDLED)) {
                throw e;
            }
            LOG.debug("The status change time could not be stored: {}", e.getMessage());
        }
    }

    /** Cuts or lengthens the file, and changes what else is to be changed. */
    private void cut(Inode inode, SetAttributes changes, Consumer<Attr> privileges, AttributeEdit.Edit edit)
            throws StoreException {
        volume.startWriting(inode);
        try {
            if (!changes.has(SetAttributes.HANDLE)) {
                volume.dirtyFiles.revalidate(inode, true);
            }
            volume.dirtyFiles.truncate(inode, changes.sizeBytes, !volume.mayBeOpenUnseen(inode));
            Attr dirty = volume.dirtyFiles.attr(inode);
            if (dirty != null) {
                privileges.accept(dirty);
            }
            if (changes.has(AttributeEdit.HANDLED)) {
                change(inode, changes, edit);
            }
        } catch (StoreException e) {
            inode.closed(true);
            volume.lastWriterFailed(inode, e);
            throw e;
        }
        volume.stopWriting(inode);
    }

    private int refuse(Inode inode, SetAttributes changes) {
        if (changes.has(SetAttributes.SIZE) && inode.isDirectory()) {
            return -Errno.EISDIR;
        }
        boolean otherOwner = changes.has(SetAttributes.UID) && isOther(changes.uid, volume.options.uid());
        boolean otherGroup = changes.has(SetAttributes.GID) && isOther(changes.gid, volume.options.gid());
        return otherOwner || otherGroup ? -Errno.EPERM : 0;
    }

    /** Is it another one than every file is shown with? */
    private static boolean isOther(int id, int shown) {
        return shown != AttrDecoder.AS_ALLUXIO_SAYS && id != shown;
    }

    private void change(Inode inode, SetAttributes changes, AttributeEdit.Edit edit) throws StoreException {
        change(inode, changes.has(SetAttributes.MODIFY_TIME | SetAttributes.MODIFY_TIME_NOW), edit);
    }

    private void change(Inode inode, boolean givesTime, AttributeEdit.Edit edit) throws StoreException {
        if (volume.dirtyFiles.change(inode, givesTime, edit) == DirtyFiles.NO_DIRTY_FILE) {
            put(inode, edit);
        }
    }

    /** As it is to be; the failure tells where the file is. */
    private FileStatus edited(Inode inode, Attr attr, SetAttributes changes) throws StoreException {
        try {
            return AttributeEdit.apply(attr, changes, volume.clock.instant());
        } catch (StoreException e) {
            throw new StoreException(e.errno(), volume.metadata.pathOf(inode) + ": " + e.getMessage(), e);
        }
    }

    /** Brings changed attributes to Alluxio, while nothing moves: only what differs. */
    private void put(Inode inode, AttributeEdit.Edit edit) throws StoreException {
        DirectoryTimes times = volume.metadata.times();
        staying(
                inode,
                () -> times.alone(inode, () -> {
                    long issued = volume.table.generation().issued();
                    // What others changed since it was seen is in the attribute that is written anew, and the times of
                    // a directory count as long as Alluxio's own stays what it is now.
                    boolean nameless = inode.unlinked() && !inode.isDirectory();
                    Attr before = nameless ? volume.metadata.attr(inode) : volume.metadata.refresh(inode);
                    Attr now = put(inode, before, edit.of(before));
                    if (inode.isDirectory()) {
                        times.written(inode, now, issued);
                    }
                    return inode;
                }));
    }

    /** Changes attributes while nothing moves. Where nobody knows whether Alluxio did it, they are asked for again. */
    private void staying(Inode inode, DirtyFiles.Step step) throws StoreException {
        PathLocks.Work<Inode> work = () -> {
            step.run();
            return inode;
        };
        try {
            volume.metadata.pathLocks().shared(inode, work);
        } catch (StoreException e) {
            volume.invalidator.unsure(volume.table, inode, e);
            throw e;
        }
    }

    private Attr put(Inode inode, Attr before, FileStatus after) throws StoreException {
        Map<String, byte[]> changed = new HashMap<>(after.xattrs());
        before.raw().xattrs().forEach((name, value) -> changed.remove(name, value));
        Integer mode = after.mode() == before.raw().mode() ? null : after.mode();
        if ((mode != null || !changed.isEmpty()) && !volume.metadata.isOrphan(inode)) {
            volume.store.change(volume.metadata.pathOf(inode), new Store.Change(mode, null, null, changed));
        }
        Attr now = volume.attrDecoder.read(after, before.fetchedNanos());
        inode.changed(now, volume.table.generation().changed());
        return now;
    }

    int getxattr(Request request, Inode inode, Name name, ByteBuffer into) throws StoreException {
        int refused = refuse(name, Errno.ENODATA);
        if (refused != 0) {
            return refused;
        }
        Attr attr = request.mayWait() ? attr(inode) : known(inode);
        if (attr == null) {
            return FileSystem.WOULD_WAIT;
        }
        byte[] value = attr.raw().xattrs().get(NameCodec.XATTRS.stored(name));
        if (value == null) {
            return -Errno.ENODATA;
        }
        if (value.length <= into.remaining()) {
            into.put(value);
        }
        return value.length;
    }

    int listxattr(Request request, Inode inode, ByteBuffer into) throws StoreException {
        Attr attr = request.mayWait() ? attr(inode) : known(inode);
        if (attr == null) {
            return FileSystem.WOULD_WAIT;
        }
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        for (String stored : attr.raw().xattrs().keySet()) {
            Name name = NameCodec.XATTRS.shown(stored);
            if (refuse(name, Errno.ENODATA) == 0) {
                names.writeBytes(name.toBytes());
                names.write(0);
            }
        }
        byte[] bytes = names.toByteArray();
        if (bytes.length <= into.remaining()) {
            into.put(bytes);
        }
        return bytes.length;
    }

    int setxattr(Inode inode, Name name, ByteBuffer value, int flags) throws StoreException {
        int refused = refuse(name, Errno.EOPNOTSUPP);
        if (refused != 0) {
            return refused;
        }
        String key = NameCodec.XATTRS.stored(name);
        boolean exists = attr(inode).raw().xattrs().containsKey(key);
        if (exists && (flags & CREATE_ONLY) != 0) {
            return -Errno.EEXIST;
        }
        if (!exists && (flags & REPLACE_ONLY) != 0) {
            return -Errno.ENODATA;
        }
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        change(inode, false, attr -> with(attr, key, bytes));
        return 0;
    }

    int removexattr(Inode inode, Name name) throws StoreException {
        int refused = refuse(name, Errno.ENODATA);
        if (refused != 0) {
            return refused;
        }
        String key = NameCodec.XATTRS.stored(name);
        if (!attr(inode).raw().xattrs().containsKey(key)) {
            return -Errno.ENODATA;
        }
        volume.dirtyFiles.commit(inode, true);
        boolean deleted = inode.unlinked() && volume.dirtyFiles.has(inode);
        if (deleted || volume.metadata.isOrphan(inode)) {
            change(inode, false, attr -> with(attr, key, null));
            return 0;
        }
        staying(inode, () -> {
            volume.metadata.refresh(inode); // another file may have its path by now
            volume.store.removeXattr(volume.metadata.pathOf(inode), key);
        });
        if (volume.dirtyFiles.change(inode, false, attr -> with(attr, key, null)) == DirtyFiles.NO_DIRTY_FILE) {
            inode.invalidateAttr(volume.table.generation().changed());
        }
        return 0;
    }

    private Attr attr(Inode inode) throws StoreException {
        Attr dirty = volume.dirtyFiles.attr(inode);
        return dirty != null ? dirty : volume.metadata.attr(inode);
    }

    /** The same without a question; null: it is not known. */
    private @Nullable Attr known(Inode inode) {
        Attr dirty = volume.dirtyFiles.attr(inode);
        return dirty != null ? dirty : volume.metadata.known(inode);
    }

    private static FileStatus with(Attr attr, String name, byte @Nullable [] value) {
        Map<String, byte[]> xattrs = new HashMap<>(attr.raw().xattrs());
        if (value == null) {
            xattrs.remove(name);
        } else {
            xattrs.put(name, value);
        }
        return attr.raw().with(attr.raw().mode(), xattrs);
    }

    /** Only users' and administrators' attributes can be kept; ACLs cannot be honoured and are refused. */
    private static int refuse(Name name, int otherErrno) {
        String text = name.toString();
        if (text.startsWith("system.posix_acl")) {
            return -Errno.EOPNOTSUPP;
        }
        if (text.equals("user.") || text.equals("trusted.")) {
            return -Errno.EINVAL;
        }
        boolean kept = text.startsWith("user.") || text.startsWith("trusted.");
        if (kept && !text.equals(PosixXattr.XATTR)) {
            return 0;
        }
        boolean linux = kept || text.startsWith("security.") || text.startsWith("system.");
        return linux ? -otherErrno : -Errno.EOPNOTSUPP;
    }

    int statfs(Request request, StatFs reply) throws StoreException {
        Store.Capacity known = capacity;
        boolean fresh = known != null && volume.cachePolicy.nowNanos() - capacityNanos < CAPACITY_NANOS;
        if (!fresh) {
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            known = volume.store.capacity();
            capacity = known;
            capacityNanos = volume.cachePolicy.nowNanos();
        }
        if (known == null) {
            return FileSystem.WOULD_WAIT;
        }
        reply.blockSizeBytes = BLOCK_BYTES;
        reply.fragmentSizeBytes = BLOCK_BYTES;
        reply.blocks = known.capacityBytes() / BLOCK_BYTES;
        reply.freeBlocks = Math.max(0, known.capacityBytes() - known.usedBytes()) / BLOCK_BYTES;
        reply.availableBlocks = reply.freeBlocks;
        reply.maxNameBytes = Name.MAX_BYTES;
        return 0;
    }
}

package io.posixgateway.fuse.testing;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileLock;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.StatFs;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.locks.LockSupport;

/** Passes everything on to another file system, unless its {@link Fault} strikes first. Any thread. */
public class FaultyFileSystem implements FileSystem {
    /** Passes everything on. */
    public static final Fault NO_FAULT = (operation, request) -> 0;

    private static final long NAP_NANOS = 10_000_000;

    private final FileSystem inner;
    private final Fault fault;

    /** @param inner is closed with this one */
    public FaultyFileSystem(FileSystem inner, Fault fault) {
        this.inner = inner;
        this.fault = fault;
    }

    /** Decides what goes wrong. */
    @FunctionalInterface
    public interface Fault {
        /**
         * Before each operation: 0 lets it pass; a negative errno or {@link FileSystem#WOULD_WAIT} is the answer; it may
         * throw, and it may take its time when the request may wait. A rename, with or without flags, is RENAME2.
         */
        int strike(Opcode operation, Request request);

        /** This fault, for these operations alone. */
        default Fault only(Opcode first, Opcode... others) {
            EnumSet<Opcode> chosen = EnumSet.of(first, others);
            return (operation, request) -> chosen.contains(operation) ? strike(operation, request) : 0;
        }
    }

    /** Every operation throws. */
    public static Fault throwing() {
        return (operation, request) -> {
            throw new IllegalStateException("thrown on purpose by " + operation.label());
        };
    }

    /** Every operation fails with this positive errno. */
    public static Fault failing(int errno) {
        return (operation, request) -> -errno;
    }

    /** Every operation waits first, on a thread where it may; an interrupt ends the wait with EINTR. */
    public static Fault delay(long nanos) {
        return (operation, request) -> {
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            for (long left = nanos; left > 0; left -= NAP_NANOS) {
                if (request.interrupted()) {
                    return -Errno.EINTR;
                }
                LockSupport.parkNanos(Math.min(left, NAP_NANOS));
            }
            return 0;
        };
    }

    @Override
    public void started(Kernel kernel) {
        inner.started(kernel);
    }

    @Override
    public boolean tellsBirth() {
        return inner.tellsBirth();
    }

    @Override
    public boolean findsForgotten() {
        return inner.findsForgotten();
    }

    @Override
    public int find(Request request, long node, boolean above, Entry entry) {
        int struck = fault.strike(Opcode.LOOKUP, request);
        return struck != 0 ? struck : inner.find(request, node, above, entry);
    }

    @Override
    public boolean handlesLocks() {
        return inner.handlesLocks();
    }

    @Override
    public boolean dropsPrivileges() {
        return inner.dropsPrivileges();
    }

    @Override
    public void forget(long node, long lookups) {
        inner.forget(node, lookups);
    }

    @Override
    public void close() {
        inner.close();
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        int struck = fault.strike(Opcode.LOOKUP, request);
        return struck != 0 ? struck : inner.lookup(request, parent, name, entry);
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes attributes) {
        int struck = fault.strike(Opcode.GETATTR, request);
        return struck != 0 ? struck : inner.getattr(request, node, handle, attributes);
    }

    @Override
    public int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        int struck = fault.strike(Opcode.SETATTR, request);
        return struck != 0 ? struck : inner.setattr(request, node, changes, attributes);
    }

    @Override
    public int access(Request request, long node, int mask) {
        int struck = fault.strike(Opcode.ACCESS, request);
        return struck != 0 ? struck : inner.access(request, node, mask);
    }

    @Override
    public int readlink(Request request, long node, ByteBuffer target) {
        int struck = fault.strike(Opcode.READLINK, request);
        return struck != 0 ? struck : inner.readlink(request, node, target);
    }

    @Override
    public int symlink(Request request, long parent, Name name, byte[] target, Entry entry) {
        int struck = fault.strike(Opcode.SYMLINK, request);
        return struck != 0 ? struck : inner.symlink(request, parent, name, target, entry);
    }

    @Override
    public int mknod(Request request, long parent, Name name, int mode, int device, Entry entry) {
        int struck = fault.strike(Opcode.MKNOD, request);
        return struck != 0 ? struck : inner.mknod(request, parent, name, mode, device, entry);
    }

    @Override
    public int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        int struck = fault.strike(Opcode.MKDIR, request);
        return struck != 0 ? struck : inner.mkdir(request, parent, name, mode, entry);
    }

    @Override
    public int unlink(Request request, long parent, Name name) {
        int struck = fault.strike(Opcode.UNLINK, request);
        return struck != 0 ? struck : inner.unlink(request, parent, name);
    }

    @Override
    public int rmdir(Request request, long parent, Name name) {
        int struck = fault.strike(Opcode.RMDIR, request);
        return struck != 0 ? struck : inner.rmdir(request, parent, name);
    }

    @Override
    public int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        int struck = fault.strike(Opcode.RENAME2, request);
        return struck != 0 ? struck : inner.rename(request, parent, name, newParent, newName, flags);
    }

    @Override
    public int link(Request request, long node, long newParent, Name newName, Entry entry) {
        int struck = fault.strike(Opcode.LINK, request);
        return struck != 0 ? struck : inner.link(request, node, newParent, newName, entry);
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        int struck = fault.strike(Opcode.OPEN, request);
        return struck != 0 ? struck : inner.open(request, node, flags, reply);
    }

    @Override
    public int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        int struck = fault.strike(Opcode.CREATE, request);
        return struck != 0 ? struck : inner.create(request, parent, name, mode, flags, reply);
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        int struck = fault.strike(Opcode.READ, request);
        return struck != 0 ? struck : inner.read(request, node, handle, offset, into);
    }

    @Override
    public int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        int struck = fault.strike(Opcode.WRITE, request);
        return struck != 0 ? struck : inner.write(request, node, handle, offset, data);
    }

    @Override
    public int flush(Request request, long node, long handle, long lockOwner) {
        int struck = fault.strike(Opcode.FLUSH, request);
        return struck != 0 ? struck : inner.flush(request, node, handle, lockOwner);
    }

    @Override
    public int release(Request request, long node, long handle) {
        int struck = fault.strike(Opcode.RELEASE, request);
        return struck != 0 ? struck : inner.release(request, node, handle);
    }

    @Override
    public int fsync(Request request, long node, long handle, boolean dataOnly) {
        int struck = fault.strike(Opcode.FSYNC, request);
        return struck != 0 ? struck : inner.fsync(request, node, handle, dataOnly);
    }

    @Override
    public int opendir(Request request, long node, int flags, OpenReply reply) {
        int struck = fault.strike(Opcode.OPENDIR, request);
        return struck != 0 ? struck : inner.opendir(request, node, flags, reply);
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        int struck = fault.strike(Opcode.READDIR, request);
        return struck != 0 ? struck : inner.readdir(request, node, handle, offset, writer);
    }

    @Override
    public int releasedir(Request request, long node, long handle) {
        int struck = fault.strike(Opcode.RELEASEDIR, request);
        return struck != 0 ? struck : inner.releasedir(request, node, handle);
    }

    @Override
    public int fsyncdir(Request request, long node, long handle, boolean dataOnly) {
        int struck = fault.strike(Opcode.FSYNCDIR, request);
        return struck != 0 ? struck : inner.fsyncdir(request, node, handle, dataOnly);
    }

    @Override
    public int statfs(Request request, long node, StatFs reply) {
        int struck = fault.strike(Opcode.STATFS, request);
        return struck != 0 ? struck : inner.statfs(request, node, reply);
    }

    @Override
    public int setxattr(Request request, long node, Name name, ByteBuffer value, int flags) {
        int struck = fault.strike(Opcode.SETXATTR, request);
        return struck != 0 ? struck : inner.setxattr(request, node, name, value, flags);
    }

    @Override
    public int getxattr(Request request, long node, Name name, ByteBuffer into) {
        int struck = fault.strike(Opcode.GETXATTR, request);
        return struck != 0 ? struck : inner.getxattr(request, node, name, into);
    }

    @Override
    public int listxattr(Request request, long node, ByteBuffer into) {
        int struck = fault.strike(Opcode.LISTXATTR, request);
        return struck != 0 ? struck : inner.listxattr(request, node, into);
    }

    @Override
    public int removexattr(Request request, long node, Name name) {
        int struck = fault.strike(Opcode.REMOVEXATTR, request);
        return struck != 0 ? struck : inner.removexattr(request, node, name);
    }

    @Override
    public long lseek(Request request, long node, long handle, long offset, int whence) {
        int struck = fault.strike(Opcode.LSEEK, request);
        return struck != 0 ? struck : inner.lseek(request, node, handle, offset, whence);
    }

    @Override
    public int fallocate(Request request, long node, long handle, long offset, long lengthBytes, int mode) {
        int struck = fault.strike(Opcode.FALLOCATE, request);
        return struck != 0 ? struck : inner.fallocate(request, node, handle, offset, lengthBytes, mode);
    }

    @Override
    public int copyFileRange(Request request, CopyRange range) {
        int struck = fault.strike(Opcode.COPY_FILE_RANGE, request);
        return struck != 0 ? struck : inner.copyFileRange(request, range);
    }

    @Override
    public int getlk(Request request, long node, long handle, FileLock lock) {
        int struck = fault.strike(Opcode.GETLK, request);
        return struck != 0 ? struck : inner.getlk(request, node, handle, lock);
    }

    @Override
    public int setlk(Request request, long node, long handle, FileLock lock, boolean sleep) {
        int struck = fault.strike(Opcode.SETLK, request);
        return struck != 0 ? struck : inner.setlk(request, node, handle, lock, sleep);
    }
}

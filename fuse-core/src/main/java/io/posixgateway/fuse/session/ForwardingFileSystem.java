package io.posixgateway.fuse.session;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileLock;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.StatFs;
import java.nio.ByteBuffer;

/** Passes every call on as it is; a subclass changes some. */
class ForwardingFileSystem implements FileSystem {
    private final FileSystem inner;

    ForwardingFileSystem(FileSystem inner) {
        this.inner = inner;
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
        return inner.find(request, node, above, entry);
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
    public int lookup(Request request, long parent, Name name, Entry entry) {
        return inner.lookup(request, parent, name, entry);
    }

    @Override
    public void forget(long node, long lookups) {
        inner.forget(node, lookups);
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes attributes) {
        return inner.getattr(request, node, handle, attributes);
    }

    @Override
    public int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        return inner.setattr(request, node, changes, attributes);
    }

    @Override
    public int access(Request request, long node, int mask) {
        return inner.access(request, node, mask);
    }

    @Override
    public int readlink(Request request, long node, ByteBuffer target) {
        return inner.readlink(request, node, target);
    }

    @Override
    public int symlink(Request request, long parent, Name name, byte[] target, Entry entry) {
        return inner.symlink(request, parent, name, target, entry);
    }

    @Override
    public int mknod(Request request, long parent, Name name, int mode, int device, Entry entry) {
        return inner.mknod(request, parent, name, mode, device, entry);
    }

    @Override
    public int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        return inner.mkdir(request, parent, name, mode, entry);
    }

    @Override
    public int unlink(Request request, long parent, Name name) {
        return inner.unlink(request, parent, name);
    }

    @Override
    public int rmdir(Request request, long parent, Name name) {
        return inner.rmdir(request, parent, name);
    }

    @Override
    public int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        return inner.rename(request, parent, name, newParent, newName, flags);
    }

    @Override
    public int link(Request request, long node, long newParent, Name newName, Entry entry) {
        return inner.link(request, node, newParent, newName, entry);
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        return inner.open(request, node, flags, reply);
    }

    @Override
    public int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        return inner.create(request, parent, name, mode, flags, reply);
    }

    @Override
    public int tmpfile(Request request, long parent, int mode, int flags, CreateReply reply) {
        return inner.tmpfile(request, parent, mode, flags, reply);
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        return inner.read(request, node, handle, offset, into);
    }

    @Override
    public int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        return inner.write(request, node, handle, offset, data);
    }

    @Override
    public int flush(Request request, long node, long handle, long lockOwner) {
        return inner.flush(request, node, handle, lockOwner);
    }

    @Override
    public int release(Request request, long node, long handle) {
        return inner.release(request, node, handle);
    }

    @Override
    public int fsync(Request request, long node, long handle, boolean dataOnly) {
        return inner.fsync(request, node, handle, dataOnly);
    }

    @Override
    public int opendir(Request request, long node, int flags, OpenReply reply) {
        return inner.opendir(request, node, flags, reply);
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        return inner.readdir(request, node, handle, offset, writer);
    }

    @Override
    public int releasedir(Request request, long node, long handle) {
        return inner.releasedir(request, node, handle);
    }

    @Override
    public int fsyncdir(Request request, long node, long handle, boolean dataOnly) {
        return inner.fsyncdir(request, node, handle, dataOnly);
    }

    @Override
    public int statfs(Request request, long node, StatFs reply) {
        return inner.statfs(request, node, reply);
    }

    @Override
    public int setxattr(Request request, long node, Name name, ByteBuffer value, int flags) {
        return inner.setxattr(request, node, name, value, flags);
    }

    @Override
    public int getxattr(Request request, long node, Name name, ByteBuffer into) {
        return inner.getxattr(request, node, name, into);
    }

    @Override
    public int listxattr(Request request, long node, ByteBuffer into) {
        return inner.listxattr(request, node, into);
    }

    @Override
    public int removexattr(Request request, long node, Name name) {
        return inner.removexattr(request, node, name);
    }

    @Override
    public long lseek(Request request, long node, long handle, long offset, int whence) {
        return inner.lseek(request, node, handle, offset, whence);
    }

    @Override
    public int fallocate(Request request, long node, long handle, long offset, long lengthBytes, int mode) {
        return inner.fallocate(request, node, handle, offset, lengthBytes, mode);
    }

    @Override
    public int copyFileRange(Request request, CopyRange range) {
        return inner.copyFileRange(request, range);
    }

    @Override
    public int getlk(Request request, long node, long handle, FileLock lock) {
        return inner.getlk(request, node, handle, lock);
    }

    @Override
    public int setlk(Request request, long node, long handle, FileLock lock, boolean sleep) {
        return inner.setlk(request, node, handle, lock, sleep);
    }

    @Override
    public void close() {
        inner.close();
    }
}

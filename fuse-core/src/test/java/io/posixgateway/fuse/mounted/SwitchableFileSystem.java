package io.posixgateway.fuse.mounted;

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
import io.posixgateway.fuse.spi.Stat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One file, "file", whose content and presence the test switches behind the kernel's back while the kernel believes every
 * answer for an hour. Keeps one exclusive lock on it; gives it a backing file when told to.
 */
final class SwitchableFileSystem implements FileSystem {
    private static final long FILE = 2;
    private static final long HOUR_NANOS = 3_600_000_000_000L;
    private static final Name FILE_NAME = Name.of("file");

    volatile @Nullable Kernel kernel;
    volatile boolean present = true;
    volatile byte[] content = "first".getBytes(StandardCharsets.UTF_8);
    volatile int backingId;

    private final AtomicLong lockOwner = new AtomicLong();

    Kernel startedKernel() {
        Kernel started = kernel;
        if (started == null) {
            throw new IllegalStateException("the session did not call started()");
        }
        return started;
    }

    @Override
    public void started(Kernel line) {
        kernel = line;
    }

    @Override
    public boolean handlesLocks() {
        return true;
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        entry.validNanos = HOUR_NANOS;
        if (!present || !name.equals(FILE_NAME)) {
            return 0;
        }
        entry.node = FILE;
        return getattr(request, FILE, 0, entry.attributes);
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes attributes) {
        attributes.mode = node == ROOT ? Stat.S_IFDIR | 0755 : Stat.S_IFREG | 0644;
        attributes.links = node == ROOT ? 2 : 1;
        attributes.sizeBytes = node == ROOT ? 0 : content.length;
        attributes.validNanos = HOUR_NANOS;
        return 0;
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        reply.flags = OpenReply.KEEP_CACHE;
        reply.backingId = backingId;
        return 0;
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        byte[] now = content;
        int count = (int) Math.max(0, Math.min(into.limit(), now.length - offset));
        into.put(0, now, (int) Math.min(offset, now.length), count);
        return count;
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        if (offset == 0 && present) {
            writer.add(FILE_NAME, 1, FILE, Stat.S_IFREG);
        }
        return 0;
    }

    @Override
    public int getlk(Request request, long node, long handle, FileLock lock) {
        long owner = lockOwner.get();
        lock.type = owner == 0 || owner == lock.owner ? FileLock.UNLOCK : FileLock.WRITE;
        return 0;
    }

    @Override
    public int setlk(Request request, long node, long handle, FileLock lock, boolean sleep) {
        if (lock.type == FileLock.UNLOCK) {
            lockOwner.compareAndSet(lock.owner, 0);
            return 0;
        }
        while (!lockOwner.compareAndSet(0, lock.owner) && lockOwner.get() != lock.owner) {
            if (!sleep) {
                return -Errno.EAGAIN;
            }
            if (!request.mayWait()) {
                return WOULD_WAIT;
            }
            if (request.interrupted()) {
                return -Errno.EINTR;
            }
            Thread.onSpinWait();
        }
        return 0;
    }

    @Override
    public int flush(Request request, long node, long handle, long owner) {
        lockOwner.compareAndSet(owner, 0);
        return 0;
    }
}

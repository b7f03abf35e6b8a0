package io.posixgateway.fuse.session;

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
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Two files: "data", kept in an array, and "slow", whose reads wait until they are let go. Answers are never cached. */
final class TinyFileSystem implements FileSystem {
    private static final long DATA = 2;
    private static final long SLOW = 3;
    private static final Name DATA_NAME = Name.of("data");
    private static final Name SLOW_NAME = Name.of("slow");

    /** Each read of "slow" takes one. */
    final Semaphore letGo = new Semaphore(0);
    /** Those that began to wait. */
    final AtomicInteger slowReads = new AtomicInteger();

    volatile @Nullable Kernel kernel;
    volatile boolean closed;
    private byte[] data = new byte[0];

    @Override
    public void started(Kernel line) {
        kernel = line;
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        long node = name.equals(DATA_NAME) ? DATA : name.equals(SLOW_NAME) ? SLOW : 0;
        if (node == 0) {
            return -Errno.ENOENT;
        }
        entry.node = node;
        fill(node, entry.attributes);
        return 0;
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes attributes) {
        fill(node, attributes);
        return 0;
    }

    private synchronized void fill(long node, Attributes attributes) {
        attributes.mode = node == ROOT ? Stat.S_IFDIR | 0755 : Stat.S_IFREG | 0666;
        attributes.links = 1;
        attributes.sizeBytes = node == DATA ? data.length : node == SLOW ? 1 : 0;
    }

    @Override
    public synchronized int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        if (changes.has(SetAttributes.SIZE)) {
            data = Arrays.copyOf(data, (int) changes.sizeBytes);
        }
        fill(node, attributes);
        return 0;
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        reply.flags = OpenReply.DIRECT_IO;
        return 0;
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        return node == SLOW ? readSlow(request, offset, into) : readData(offset, into);
    }

    private int readSlow(Request request, long offset, ByteBuffer into) {
        if (offset > 0) {
            return 0;
        }
        if (!request.mayWait()) {
            return WOULD_WAIT;
        }
        slowReads.incrementAndGet();
        try {
            letGo.acquire();
        } catch (InterruptedException e) {
            return -Errno.EINTR;
        }
        into.put((byte) 's');
        return 1;
    }

    private synchronized int readData(long offset, ByteBuffer into) {
        int count = (int) Math.max(0, Math.min(into.remaining(), data.length - offset));
        into.put(data, (int) Math.min(offset, data.length), count);
        return count;
    }

    @Override
    public synchronized int write(Request request, long node, long handle, long offset, ByteBuffer from) {
        int count = from.remaining();
        data = Arrays.copyOf(data, Math.max(data.length, (int) offset + count));
        from.get(data, (int) offset, count);
        return count;
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        Entry entry = new Entry();
        if (offset < 1) {
            lookup(request, ROOT, DATA_NAME, entry);
            writer.add(DATA_NAME, 1, entry);
        }
        if (offset < 2) {
            lookup(request, ROOT, SLOW_NAME, entry);
            writer.add(SLOW_NAME, 2, entry);
        }
        return 0;
    }

    @Override
    public void close() {
        closed = true;
    }
}

package io.posixgateway.fuse.testing;

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
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Files {@code f0…f<N-1>} in one directory, of which only the lengths exist: the floor under every measurement.
 *
 * <p>Reads give prepared bytes ({@link #byteAt}); writes are counted and thrown away, but lengthen the file. Everything is
 * answered at once, nothing is allocated, and no page is cached by the kernel (direct I/O), so that each read comes here.
 * Any thread; a length is one atomic number.
 */
public final class NullFileSystem implements FileSystem {
    private static final long VALID_NANOS = 3_600_000_000_000L;
    private static final int PREPARED_BYTES = 1 << 20;
    /** The pattern repeats after this many bytes. */
    private static final int PERIOD_BYTES = 4096;

    private static final int BLOCK_BYTES = 4096;
    private static final long FIRST_FILE = 2;
    private static final int MAX_DIGITS = 10;

    private final AtomicLongArray lengths;
    private final ByteBuffer prepared = ByteBuffer.allocateDirect(PREPARED_BYTES + PERIOD_BYTES);
    private final LongAdder written = new LongAdder();

    /**
     * @param files how many
     * @param bytes length of each
     */
    public NullFileSystem(int files, long bytes) {
        lengths = new AtomicLongArray(files);
        for (int i = 0; i < files; i++) {
            lengths.set(i, bytes);
        }
        for (int i = 0; i < prepared.capacity(); i++) {
            prepared.put(i, byteAt(i));
        }
    }

    /** The byte that every file holds at this offset. */
    public static byte byteAt(long offset) {
        return (byte) ('a' + offset % PERIOD_BYTES % 23);
    }

    /** Bytes accepted by writes so far. */
    public long bytesWritten() {
        return written.sum();
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        long node = parent == ROOT ? nodeOf(name) : 0;
        entry.validNanos = VALID_NANOS;
        if (node != 0) {
            entry.node = node;
            fill(node, entry.attributes);
        }
        return 0;
    }

    /** The node of {@code f<number>}, or 0. */
    private long nodeOf(Name name) {
        int digits = name.length() - 1;
        if (name.at(0) != 'f' || digits < 1 || digits > MAX_DIGITS || (digits > 1 && name.at(1) == '0')) {
            return 0;
        }
        long number = 0;
        for (int i = 1; i <= digits; i++) {
            int digit = name.at(i) - '0';
            if (digit < 0 || digit > 9) {
                return 0;
            }
            number = number * 10 + digit;
        }
        return number < lengths.length() ? FIRST_FILE + number : 0;
    }

    private static int indexOf(long node) {
        return (int) (node - FIRST_FILE);
    }

    private boolean exists(long node) {
        return node >= FIRST_FILE && node < FIRST_FILE + lengths.length();
    }

    private void fill(long node, Attributes attributes) {
        boolean root = node == ROOT;
        long length = root ? 0 : lengths.get(indexOf(node));
        attributes.inode = node;
        attributes.mode = root ? Stat.S_IFDIR | 0777 : Stat.S_IFREG | 0666;
        attributes.links = root ? 2 : 1;
        attributes.sizeBytes = length;
        attributes.blocks = (length + 511) / 512;
        attributes.blockSizeBytes = BLOCK_BYTES;
        attributes.validNanos = VALID_NANOS;
    }

    @Override
    public int getattr(Request request, long node, long handle, Attributes attributes) {
        if (node != ROOT && !exists(node)) {
            return -Errno.ENOENT;
        }
        fill(node, attributes);
        return 0;
    }

    /** Takes a new length, and believes everything else without keeping it. */
    @Override
    public int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        if (node != ROOT && !exists(node)) {
            return -Errno.ENOENT;
        }
        if (changes.has(SetAttributes.SIZE)) {
            if (node == ROOT) {
                return -Errno.EISDIR;
            }
            lengths.set(indexOf(node), changes.sizeBytes);
        }
        fill(node, attributes);
        return 0;
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        if (!exists(node)) {
            return -Errno.ENOENT;
        }
        reply.flags = OpenReply.DIRECT_IO | OpenReply.NO_FLUSH | OpenReply.PARALLEL_DIRECT_WRITES;
        return 0;
    }

    @Override
    public int read(Request request, long node, long handle, long offset, ByteBuffer into) {
        if (!exists(node)) {
            return -Errno.ENOENT;
        }
        int bytes = (int) Math.max(0, Math.min(into.limit(), lengths.get(indexOf(node)) - offset));
        int at = 0;
        while (at < bytes) {
            int phase = (int) ((offset + at) % PERIOD_BYTES);
            int part = Math.min(bytes - at, PREPARED_BYTES);
            into.put(at, prepared, phase, part);
            at += part;
        }
        return bytes;
    }

    @Override
    public int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        if (!exists(node)) {
            return -Errno.ENOENT;
        }
        int bytes = data.limit();
        written.add(bytes);
        long end = offset + bytes;
        int index = indexOf(node);
        long length = lengths.get(index);
        while (length < end && !lengths.compareAndSet(index, length, end)) {
            length = lengths.get(index);
        }
        return bytes;
    }

    @Override
    public int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer) {
        if (node != ROOT) {
            return -Errno.ENOTDIR;
        }
        Entry entry = new Entry();
        entry.validNanos = VALID_NANOS;
        for (long i = Math.max(0, offset); i < lengths.length(); i++) {
            entry.node = FIRST_FILE + i;
            fill(entry.node, entry.attributes);
            if (!writer.add(Name.of("f" + i), i + 1, entry)) {
                break;
            }
        }
        return 0;
    }

    @Override
    public int statfs(Request request, long node, StatFs reply) {
        reply.blockSizeBytes = BLOCK_BYTES;
        reply.fragmentSizeBytes = BLOCK_BYTES;
        reply.blocks = 1L << 40;
        reply.freeBlocks = 1L << 40;
        reply.availableBlocks = 1L << 40;
        reply.files = lengths.length();
        reply.maxNameBytes = Name.MAX_BYTES;
        return 0;
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;

/**
 * The content of one changed file, in a local file. Guarded by the dirty file that owns it.
 *
 * <p>What was never written is a hole, in the local file as well: it takes no room, neither on the disk nor of spool_size, and is
 * committed as zeros without being read. Invariant: {@code heldBytes == coveredBytes - holes.bytes()}, and so much is taken from
 * the folder.
 */
final class Spool {
    /** As on the usual local disk. */
    static final long MAX_BYTES = (1L << 44) - 4096;

    private static final int COPY_BYTES = 1 << 20;
    private static final byte[] ZEROS = new byte[COPY_BYTES];

    private final SpoolFolder folder;
    private final Path file;
    private final RandomAccessFile open;
    private final FileChannel channel;
    private final Holes holes = new Holes();
    private long lengthBytes;
    /** What lies behind it is not on the disk. More than the length where room was reserved behind the end. */
    private long coveredBytes;

    private Spool(SpoolFolder folder, Path file, RandomAccessFile open) {
        this.folder = folder;
        this.file = file;
        this.open = open;
        this.channel = open.getChannel();
    }

    /** Of a file that is there. */
    static Spool of(SpoolFolder folder, Path file) throws IOException {
        if (Files.notExists(file)) {
            throw new NoSuchFileException(file.toString());
        }
        Spool spool = new Spool(folder, file, new RandomAccessFile(file.toFile(), "rw"));
        spool.lengthBytes = spool.open.length();
        spool.coveredBytes = spool.lengthBytes;
        spool.findHoles();
        return spool;
    }

    /** What the disk says; where it says nothing there are none. */
    private void findHoles() throws IOException {
        long at = 0;
        while (at < lengthBytes) {
            long data = Native.seek(open.getFD(), at, Stat.SEEK_DATA);
            if (data < 0 && data != -Errno.ENXIO) {
                return;
            }
            holes.add(at, data < 0 ? lengthBytes : data);
            long end = data < 0 ? lengthBytes : Native.seek(open.getFD(), data, Stat.SEEK_HOLE);
            at = end < 0 ? lengthBytes : end;
        }
    }

    long heldBytes() {
        return coveredBytes - holes.bytes();
    }

    boolean hasHoles() {
        return !holes.isEmpty();
    }

    long lengthBytes() {
        return lengthBytes;
    }

    Path file() {
        return file;
    }

    int read(long offset, ByteBuffer into) throws StoreException {
        int start = into.position();
        try {
            while (into.hasRemaining() && channel.read(into, offset + into.position() - start) > 0) {
                Thread.onSpinWait();
            }
            return into.position() - start;
        } catch (IOException e) {
            throw SpoolFolder.failure("Reading " + file, e);
        }
    }

    /** How much was written: less than all where the disk is full after that. */
    int write(long offset, ByteBuffer data) throws StoreException {
        long end = checkEnd(offset, data.remaining());
        if (offset > coveredBytes) {
            checkHole(end);
        }
        long taken = growth(offset, end);
        folder.take(taken);
        long at = offset;
        try {
            while (data.hasRemaining()) {
                at += channel.write(data, at);
            }
        } catch (IOException e) {
            if (at == offset) {
                folder.take(-taken);
                throw SpoolFolder.failure("Writing " + file, e);
            }
            folder.take(growth(offset, at) - taken);
        }
        hold(offset, at);
        lengthBytes = Math.max(lengthBytes, at);
        return (int) (at - offset);
    }

    /** The end of a range; EFBIG where it can never be. */
    private long checkEnd(long offset, long bytes) throws StoreException {
        if (offset > MAX_BYTES - bytes) {
            throw new StoreException(
                    Errno.EFBIG,
                    file + " would be longer than " + MAX_BYTES + " bytes, the maximum length of a file",
                    null);
        }
        return offset + bytes;
    }

    /** What is not held costs nothing here, but is written to Alluxio as zeros one day. */
    private void checkHole(long end) throws StoreException {
        if (end > folder.mostBytes()) {
            throw new StoreException(
                    Errno.EFBIG,
                    "A file with holes would be " + end + " bytes long, more than spool_size=" + folder.mostBytes()
                            + ": Alluxio has no holes and would store zeros instead; write nearer to the end of the"
                            + " file, or mount with a larger spool_size",
                    null);
        }
    }

    /** How much more is held when this range is. */
    private long growth(long from, long to) {
        long behind = Math.max(0, to - coveredBytes) - Holes.wholeBytes(coveredBytes, Math.max(coveredBytes, from));
        return holes.filledBy(from, Math.min(to, coveredBytes)) + Math.max(0, behind);
    }

    /** The range is held, and what lies between it and the end is a hole. */
    private void hold(long from, long to) {
        if (from > coveredBytes) {
            holes.add(coveredBytes, from);
        }
        holes.fill(from, Math.min(to, coveredBytes));
        coveredBytes = Math.max(coveredBytes, to);
    }

    /** Cuts, or lengthens by a hole. */
    void truncate(long bytes) throws StoreException {
        checkEnd(bytes, 0);
        try {
            if (bytes < lengthBytes) {
                channel.truncate(bytes);
                long before = heldBytes();
                holes.cut(bytes);
                coveredBytes = bytes;
                folder.count(heldBytes() - before); // one block more, at most, where a hole is cut: never refused
            } else if (bytes > lengthBytes) {
                lengthen(bytes);
            }
            lengthBytes = bytes;
        } catch (IOException e) {
            throw SpoolFolder.failure("Truncating " + file, e);
        }
    }

    private void lengthen(long bytes) throws StoreException, IOException {
        checkHole(bytes);
        long taken = Math.max(0, bytes - coveredBytes) - Holes.wholeBytes(coveredBytes, Math.max(coveredBytes, bytes));
        folder.takeHole(taken);
        try {
            open.setLength(bytes);
        } catch (IOException e) {
            folder.take(-taken);
            throw e;
        }
        if (bytes > coveredBytes) {
            holes.add(coveredBytes, bytes);
            coveredBytes = bytes;
        }
    }

    /**
     * Holds the range for real: writes into it find room. All of it or nothing.
     *
     * @param mode of fallocate(2), without a hole in it
     */
    void reserve(int mode, long offset, long bytes) throws StoreException {
        long end = checkEnd(offset, bytes);
        if (offset > coveredBytes) {
            checkHole(end);
        }
        long taken = growth(offset, end);
        folder.take(taken);
        try {
            allocate(mode, offset, bytes);
        } catch (StoreException e) {
            folder.take(-taken);
            throw e;
        }
        hold(offset, end);
        lengthBytes = (mode & Stat.FALLOC_KEEP_SIZE) != 0 ? lengthBytes : Math.max(lengthBytes, end);
    }

    /** Makes a hole of what there is in this range; the length stays. */
    void punch(long offset, long bytes) throws StoreException {
        long end = Math.min(coveredBytes, offset + bytes);
        if (offset < end) {
            allocate(Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE, offset, end - offset);
            folder.take(-holes.add(offset, end));
        }
    }

    private void allocate(int mode, long offset, long bytes) throws StoreException {
        try {
            int result = Native.allocate(open.getFD(), mode, offset, bytes);
            if (result != 0) {
                int errno = result == -Errno.ENOSYS ? Errno.EOPNOTSUPP : -result;
                throw new StoreException(
                        errno, "fallocate of " + file + ", mode " + mode + ": " + Native.errorText(result), null);
            }
        } catch (IOException e) {
            throw SpoolFolder.failure("fallocate of " + file, e);
        }
    }

    /** Takes over so many bytes of a file; EIO when it has fewer, for what is missing must not be lost. */
    void copyFrom(StoreReader source, long bytes) throws StoreException {
        ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
        while (lengthBytes < bytes) {
            buffer.clear().limit((int) Math.min(COPY_BYTES, bytes - lengthBytes));
            if (source.read(lengthBytes, buffer) == 0) {
                throw new StoreException(
                        Errno.EIO, "The content ends at " + lengthBytes + " bytes, not at " + bytes, null);
            }
            write(lengthBytes, buffer.flip());
        }
    }

    /** Takes over all of another, with its holes, into this one, which is empty. */
    void copyFrom(Spool other) throws StoreException {
        ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
        long end = other.lengthBytes;
        for (long at = other.holes.endAt(0); at < end; at = other.holes.endAt(at)) {
            buffer.clear().limit((int) Math.min(COPY_BYTES, other.holes.beginBehind(at, end) - at));
            if (other.read(at, buffer) == 0) {
                throw new StoreException(Errno.EIO, other.file + " ends at " + at + " bytes, not at " + end, null);
            }
            at += write(at, buffer.flip());
        }
        truncate(end);
    }

    /**
     * @param whole nothing comes behind it
     * @param waiter asked between two pieces; EINTR once nobody waits any more
     */
    void copyTo(StoreWriter sink, boolean whole, Waiter waiter) throws StoreException {
        if (whole) {
            sink.expect(lengthBytes);
        }
        byte[] bytes = new byte[(int) Math.min(COPY_BYTES, Math.max(1, lengthBytes))];
        long at = 0;
        while (at < lengthBytes) {
            waiter.check();
            long hole = Math.min(lengthBytes, holes.endAt(at));
            if (hole > at) {
                int count = (int) Math.min(COPY_BYTES, hole - at);
                sink.write(ZEROS, 0, count);
                at += count;
                continue;
            }
            long end = holes.beginBehind(at, lengthBytes);
            ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, (int) Math.min(bytes.length, end - at));
            int count = read(at, buffer);
            if (count == 0) {
                throw new StoreException(Errno.EIO, file + " ends at " + at + " bytes, not at " + lengthBytes, null);
            }
            sink.write(bytes, 0, count);
            at += count;
        }
    }

    /** Onto the disk, so that the node may lose its power. */
    void force() throws StoreException {
        try {
            channel.force(false);
        } catch (IOException e) {
            throw SpoolFolder.failure("Syncing " + file, e);
        }
    }

    /** When it was last written. */
    Instant changed() throws StoreException {
        try {
            return Files.getLastModifiedTime(file).toInstant();
        } catch (IOException e) {
            throw SpoolFolder.failure("Reading the time of " + file, e);
        }
    }

    /** It was only looked at: nothing was taken for it. */
    void leave() throws IOException {
        open.close();
    }

    /** What {@link #changed} is to be from now on; a hint that may fail. */
    void changed(Instant time) {
        try {
            Files.setLastModifiedTime(file, FileTime.from(time));
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(Spool.class)
                    .warn("Setting the time of {} failed: {}", file, e.toString());
        }
    }

    /** The next process is not to find it: the file goes with this one. */
    void unname() throws StoreException {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw SpoolFolder.failure("The spool file " + file, e);
        }
    }

    /** Removes the file and gives its room back; a file that is to be kept, or cannot be removed, goes on taking room. */
    void close(boolean keep) {
        long held = heldBytes();
        try {
            open.close();
            if (keep) {
                folder.keep(file, held);
            } else {
                Files.deleteIfExists(file);
                folder.take(-held);
            }
        } catch (IOException | StoreException e) {
            org.slf4j.LoggerFactory.getLogger(Spool.class).warn("Removing {} failed: {}", file, e.toString());
            folder.keep(file, held);
        }
        holes.cut(0);
        coveredBytes = 0;
        lengthBytes = 0;
    }
}

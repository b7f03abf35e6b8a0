package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.FileSink;
import io.posixgateway.alluxio.client.FileSource;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/** The content of one changed file, in a local file. Guarded by the draft that owns it. */
final class Spool {
    private static final int COPY_BYTES = 1 << 20;

    private final SpoolFolder folder;
    private final Path file;
    private final FileChannel channel;
    private long lengthBytes;

    Spool(SpoolFolder folder, Path file, FileChannel channel, long lengthBytes) {
        this.folder = folder;
        this.file = file;
        this.channel = channel;
        this.lengthBytes = lengthBytes;
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
        long before = lengthBytes;
        grow(offset + data.remaining());
        long at = offset;
        try {
            while (data.hasRemaining()) {
                at += channel.write(data, at);
            }
        } catch (IOException e) {
            shrink(at == offset ? before : Math.max(before, at));
            if (at == offset) {
                throw SpoolFolder.failure("Writing " + file, e);
            }
        }
        return (int) (at - offset);
    }

    private void grow(long bytes) throws StoreException {
        if (bytes > lengthBytes) {
            folder.take(bytes - lengthBytes);
            lengthBytes = bytes;
        }
    }

    private void shrink(long bytes) throws StoreException {
        folder.take(bytes - lengthBytes);
        lengthBytes = bytes;
    }

    /** Cuts, or lengthens by a hole. */
    void truncate(long bytes) throws StoreException {
        try {
            if (bytes < lengthBytes) {
                channel.truncate(bytes);
                shrink(bytes);
            } else if (bytes > lengthBytes) {
                lengthen(bytes);
            }
        } catch (IOException e) {
            throw SpoolFolder.failure("Truncating " + file, e);
        }
    }

    private void lengthen(long bytes) throws StoreException, IOException {
        long before = lengthBytes;
        grow(bytes);
        try {
            if (channel.size() < bytes) {
                channel.write(ByteBuffer.wrap(new byte[1]), bytes - 1);
            }
        } catch (IOException e) {
            shrink(before);
            throw e;
        }
    }

    /** Takes over so many bytes of a file; EIO when it has fewer, for what is missing must not be lost. */
    void copyFrom(FileSource source, long bytes) throws StoreException {
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

    /** @param whole nothing comes behind it */
    void copyTo(FileSink sink, boolean whole) throws StoreException {
        if (whole) {
            sink.expect(lengthBytes);
        }
        byte[] bytes = new byte[(int) Math.min(COPY_BYTES, Math.max(1, lengthBytes))];
        long at = 0;
        while (at < lengthBytes) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, (int) Math.min(bytes.length, lengthBytes - at));
            int count = read(at, buffer);
            if (count == 0) {
                throw new StoreException(Errno.EIO, file + " ends at " + at + " bytes, not at " + lengthBytes, null);
            }
            sink.write(bytes, 0, count);
            at += count;
        }
    }

    /** When it was last written. */
    Instant changed() throws StoreException {
        try {
            return Files.getLastModifiedTime(file).toInstant();
        } catch (IOException e) {
            throw SpoolFolder.failure("Asking for the time of " + file, e);
        }
    }

    /** Removes the file and gives its room back; a file that is to be kept, or cannot be removed, goes on taking room. */
    void close(boolean keep) {
        try {
            channel.close();
            if (keep) {
                folder.keep(file, lengthBytes);
            } else {
                Files.deleteIfExists(file);
                folder.take(-lengthBytes);
            }
        } catch (IOException | StoreException e) {
            org.slf4j.LoggerFactory.getLogger(Spool.class).warn("Removing {} failed: {}", file, e.toString());
            folder.keep(file, lengthBytes);
        }
        lengthBytes = 0;
    }
}

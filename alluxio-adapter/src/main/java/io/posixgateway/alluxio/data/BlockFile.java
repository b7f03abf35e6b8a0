package io.posixgateway.alluxio.data;

import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An open block file, shared and counted: it is closed when the last who took it gives it back. Blocks never change, and an
 * open one stays readable after the worker evicts it.
 */
final class BlockFile {
    private final long blockId;
    private final Path path;
    private final FileChannel channel;
    /** Device and inode; null: not known. As long as it is open no other file has them. */
    private final @Nullable Object key;

    private final AtomicInteger users = new AtomicInteger(1);
    volatile boolean usedAgain;
    /** Guarded by the {@link BlockFiles}. */
    int pins;

    private @Nullable Backings backed;
    private volatile int backingId;

    private BlockFile(long blockId, Path path, FileChannel channel, @Nullable Object key) {
        this.key = key;
        this.blockId = blockId;
        this.path = path;
        this.channel = channel;
    }

    /** Opens it for one user, who gives it back. */
    static BlockFile open(Path file, long blockId) throws IOException {
        Object before = key(file);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            if (!Objects.equals(before, key(file))) {
                throw new IOException(file + " was replaced while it was opened");
            }
            return new BlockFile(blockId, file, channel, before);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private static @Nullable Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    long blockId() {
        return blockId;
    }

    /** Did the worker delete it, or is another file there by now? */
    boolean evicted() {
        try {
            return !Objects.equals(key, key(path));
        } catch (NoSuchFileException gone) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** One more user; false when it is closed already. */
    boolean take() {
        int count = users.get();
        while (count > 0) {
            if (users.compareAndSet(count, count + 1)) {
                return true;
            }
            count = users.get();
        }
        return false;
    }

    void give() {
        if (users.decrementAndGet() == 0) {
            close();
        }
    }

    private synchronized void close() {
        if (backed != null) {
            backed.close(backingId);
        }
        try {
            channel.close();
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(BlockFile.class).debug("Closing block {}: {}", blockId, e.toString());
        }
    }

    long lengthBytes() throws IOException {
        return channel.size();
    }

    /** The kernel's number for this file, from the first question on; or a negative errno. For a user of the file. */
    int backing(Backings backings) {
        int id = backingId;
        return id > 0 ? id : openBacking(backings);
    }

    private synchronized int openBacking(Backings backings) {
        if (backingId > 0) {
            return backingId;
        }
        int id = backings.open(path.toString());
        if (id > 0 && evicted()) { // the kernel may have got what was there by then
            backings.close(id);
            return -Errno.ESTALE;
        }
        if (id > 0) {
            backed = backings;
            backingId = id;
        }
        return id;
    }

    /** Reads until the buffer is full or the block ends. */
    int read(long offset, ByteBuffer into) throws IOException {
        int start = into.position();
        while (into.hasRemaining()) {
            if (channel.read(into, offset + into.position() - start) <= 0) {
                break;
            }
        }
        return into.position() - start;
    }
}

package io.posixgateway.alluxio.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
    private final AtomicInteger users = new AtomicInteger(1);
    volatile boolean usedAgain;
    /** Guarded by the {@link BlockFiles}. */
    int pins;

    private @Nullable Backings backed;
    private volatile int backingId;

    private BlockFile(long blockId, Path path, FileChannel channel) {
        this.blockId = blockId;
        this.path = path;
        this.channel = channel;
    }

    /** Opens it for one user, who gives it back. */
    static BlockFile open(Path file, long blockId) throws IOException {
        return new BlockFile(blockId, file, FileChannel.open(file, StandardOpenOption.READ));
    }

    long blockId() {
        return blockId;
    }

    /** Did the worker delete it? */
    boolean evicted() {
        return Files.notExists(path);
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

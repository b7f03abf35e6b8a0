package io.posixgateway.alluxio.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An open block file, shared and counted: it is closed when the last who took it gives it back. Blocks never change, and an
 * open one stays readable after the worker evicts it.
 */
final class BlockFile {
    private final long blockId;
    private final FileChannel channel;
    private final AtomicInteger users = new AtomicInteger(1);
    volatile boolean usedAgain;

    private BlockFile(long blockId, FileChannel channel) {
        this.blockId = blockId;
        this.channel = channel;
    }

    /** Opens it for one user, who gives it back. */
    static BlockFile open(Path file, long blockId) throws IOException {
        return new BlockFile(blockId, FileChannel.open(file, StandardOpenOption.READ));
    }

    long blockId() {
        return blockId;
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
            try {
                channel.close();
            } catch (IOException e) {
                org.slf4j.LoggerFactory.getLogger(BlockFile.class).debug("Closing block {}: {}", blockId, e.toString());
            }
        }
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

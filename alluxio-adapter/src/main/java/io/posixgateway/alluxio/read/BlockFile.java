package io.posixgateway.alluxio.read;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An open block file, shared and counted: it is closed when the last who took it gives it back. Blocks never change, and an
 * open one stays readable after the worker evicts it. Its number may come back with another block: Alluxio counts anew after a
 * format.
 */
final class BlockFile {
    private final long blockId;
    private final Path path;
    /** The channel's. */
    private final FileDescriptor descriptor;

    private final FileChannel channel;
    /** Device and inode of what is open. */
    private final long[] identity;

    private final AtomicInteger users = new AtomicInteger(1);
    volatile boolean usedAgain;
    /** Guarded by the {@link BlockFiles}. */
    int pins;

    private @Nullable BackingFiles backed;
    private volatile int backingId;

    private BlockFile(long blockId, Path path, FileDescriptor descriptor, long[] identity) {
        this.blockId = blockId;
        this.path = path;
        this.descriptor = descriptor;
        this.channel = new FileInputStream(descriptor).getChannel();
        this.identity = identity;
    }

    /**
     * Opens it for one user, who gives it back.
     *
     * @throws IOException there is none, or something else is in its place: a link, a folder, a file of another owner
     */
    static BlockFile open(BlockFolder folder, long blockId) throws IOException {
        FileDescriptor descriptor = new FileDescriptor();
        long[] identity = new long[2];
        byte[][] names = {folder.rootBytes(), folder.beneathBytes(), Native.pathBytes(Long.toString(blockId))};
        int result = Native.openBeneath(names, descriptor, identity);
        Path path = folder.file(blockId);
        if (result == -Errno.ENOENT) {
            throw new NoSuchFileException(path.toString());
        } else if (result < 0) {
            throw new IOException(path + ": " + Native.errorText(result));
        }
        return new BlockFile(blockId, path, descriptor, identity);
    }

    long blockId() {
        return blockId;
    }

    /** Did the worker delete it, and perhaps put another in its place? */
    boolean evicted() {
        try {
            Map<String, Object> now = Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
            return !now.equals(Map.of("dev", identity[0], "ino", identity[1]));
        } catch (NoSuchFileException gone) {
            return true;
        } catch (IOException unknown) {
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
            org.slf4j.LoggerFactory.getLogger(BlockFile.class)
                    .debug("Closing block {} failed: {}", blockId, e.toString());
        }
    }

    long lengthBytes() throws IOException {
        return channel.size();
    }

    /** The kernel's number for this file, from the first question on; or a negative errno. For a user of the file. */
    int backing(BackingFiles backingFiles) {
        int id = backingId;
        return id > 0 ? id : openBacking(backingFiles);
    }

    private synchronized int openBacking(BackingFiles backingFiles) {
        if (backingId > 0) {
            return backingId;
        }
        int id = backingFiles.open(descriptor);
        if (id > 0) {
            backed = backingFiles;
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

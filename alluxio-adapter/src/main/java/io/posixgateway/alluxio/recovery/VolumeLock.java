package io.posixgateway.alluxio.recovery;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock of a volume's folder: one process has it. On a disk that takes nothing a reader's lock has to do, which nobody gets while a
 * process has the other; and where no process ever had one, as there is no file, none. Any thread.
 */
final class VolumeLock implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeLock.class);
    private static final int TRIES = 500;
    private static final long PAUSE_MILLIS = 10;

    private final @Nullable FileChannel channel;

    private VolumeLock(@Nullable FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Waits a few seconds for an earlier process to let go of it.
     *
     * @throws StoreException EBUSY: it does not
     */
    static VolumeLock take(Path file) throws IOException, StoreException {
        FileChannel channel;
        boolean reads = false;
        try {
            StateFolder.makeParentIfMissing(file);
            channel = StateFolder.open(file);
        } catch (IOException e) {
            if (!DiskErrno.takesNothing(e)) {
                throw e;
            }
            LOG.warn("The lock of the volume is used as it is: {}", e.toString());
            if (Files.notExists(file)) {
                return new VolumeLock(null);
            }
            reads = true;
            channel = FileChannel.open(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        }
        boolean taken = false;
        try {
            taken = locked(file, channel, reads);
        } finally {
            if (!taken) {
                channel.close();
            }
        }
        if (taken) {
            return new VolumeLock(channel);
        }
        throw new StoreException(
                Errno.EBUSY,
                "Another process already serves the volume of " + file.getParent() + "; stop it first",
                null);
    }

    private static boolean locked(Path file, FileChannel channel, boolean reads) throws IOException {
        for (int i = 0; i < TRIES; i++) {
            try {
                FileLock lock = channel.tryLock(0, Long.MAX_VALUE, reads);
                if (lock != null) {
                    return Files.exists(file);
                }
                Thread.sleep(PAUSE_MILLIS);
            } catch (OverlappingFileLockException held) {
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return false;
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }
}

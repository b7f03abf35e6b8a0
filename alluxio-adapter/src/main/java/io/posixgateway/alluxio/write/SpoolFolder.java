package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;

/** Where spool files are, and how much they may take together. Any thread. */
public final class SpoolFolder {
    private final Path folder;
    private final long mostBytes;
    private final AtomicLong usedBytes = new AtomicLong();

    /** @param mostBytes by the lengths of the files, holes included */
    public SpoolFolder(Path folder, long mostBytes) {
        this.folder = folder;
        this.mostBytes = mostBytes;
    }

    /** A new, empty spool file. */
    Spool make() throws StoreException {
        try {
            Files.createDirectories(folder);
            Path file = Files.createTempFile(folder, "spool-", "");
            return new Spool(this, file, FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
        } catch (IOException e) {
            throw failure("No spool file in " + folder, e);
        }
    }

    /** Takes (or with a negative number gives back) room; ENOSPC when there is none. */
    void take(long bytes) throws StoreException {
        if (usedBytes.addAndGet(bytes) > mostBytes && bytes > 0) {
            usedBytes.addAndGet(-bytes);
            throw new StoreException(
                    Errno.ENOSPC,
                    "Spool files would take more than spool_size=" + mostBytes + " bytes in " + folder,
                    null);
        }
    }

    /** Bytes in spool files now. */
    public long usedBytes() {
        return usedBytes.get();
    }

    static StoreException failure(String what, IOException e) {
        boolean full = String.valueOf(e.getMessage()).contains("No space left");
        return new StoreException(full ? Errno.ENOSPC : Errno.EIO, what + ": " + e, e);
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.recovery.DraftRecord;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** Where spool files are, and how much they may take together. Any thread. */
public final class SpoolFolder {
    private static final String RECORD = ".draft";

    private final Path folder;
    private final long mostBytes;
    private final boolean records;
    private final AtomicLong usedBytes = new AtomicLong();

    /**
     * @param mostBytes by the lengths of the files, holes included
     * @param records keep a record beside each file, for the next process
     */
    public SpoolFolder(Path folder, long mostBytes, boolean records) {
        this.folder = folder;
        this.mostBytes = mostBytes;
        this.records = records;
    }

    /** A new, empty spool file. */
    Spool make() throws StoreException {
        try {
            Files.createDirectories(folder);
            Path file = Files.createTempFile(folder, "spool-", "");
            FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
            return new Spool(this, file, channel, 0);
        } catch (IOException e) {
            throw failure("No spool file in " + folder, e);
        }
    }

    /** A record for a new spool file; it does not count yet. */
    DraftRecord record(Spool spool, DraftRecord.Content content) throws StoreException {
        if (!records) {
            return DraftRecord.unstored(content);
        }
        return DraftRecord.make(spool.file().resolveSibling(spool.file().getFileName() + RECORD), content);
    }

    /** The records that an earlier process left. */
    List<Path> records() throws StoreException {
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> all = files.toList();
            for (Path file : all) {
                if (file.toString().endsWith(RECORD + DraftRecord.FRESH)) {
                    Files.deleteIfExists(file);
                }
            }
            return all.stream().filter(file -> file.toString().endsWith(RECORD)).toList();
        } catch (IOException e) {
            throw failure("No list of " + folder, e);
        }
    }

    /** The spool file that a record belongs to. */
    static Path spoolOf(Path record) {
        String name = record.getFileName().toString();
        return record.resolveSibling(name.substring(0, name.length() - RECORD.length()));
    }

    /** The spool file of an earlier process; what it takes counts, however little room there is. */
    Spool open(Path file) throws StoreException {
        try {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
            usedBytes.addAndGet(channel.size());
            return new Spool(this, file, channel, channel.size());
        } catch (IOException e) {
            throw failure("The spool file " + file, e);
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

    /** The most that spool files may take. */
    public long mostBytes() {
        return mostBytes;
    }

    static StoreException failure(String what, IOException e) {
        String why = String.valueOf(e.getMessage());
        boolean full = why.contains("No space left") || why.contains("Disk quota exceeded");
        return new StoreException(full ? Errno.ENOSPC : Errno.EIO, what + ": " + e, e);
    }
}

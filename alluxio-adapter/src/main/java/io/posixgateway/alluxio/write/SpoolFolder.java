package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.DiskErrno;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.journal.SetAside;
import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where spool files are, and how much they may take together. Any thread.
 *
 * <p>What could not be committed is kept for an operator when nobody has the file open any more. It counts until it is moved
 * or deleted: else a program that tries again and again what Alluxio does not take would fill the disk with copies.
 */
public final class SpoolFolder {
    private static final Logger LOG = LoggerFactory.getLogger(SpoolFolder.class);
    private static final String PREFIX = "spool-";
    /** So many of the kept files a message names. */
    private static final int MAX_NAMED = 3;

    private final Path folder;
    private final long mostBytes;
    private final SpoolDisk disk;
    private final boolean records;
    private final SetAside aside;
    private final AtomicLong usedBytes = new AtomicLong();
    /** Kept files and what they take. */
    private final Map<Path, Long> kept = new ConcurrentHashMap<>();
    /** Records of content that was to be set aside and could not be moved, and why. */
    private final Map<Path, StoreException> unmoved = new ConcurrentHashMap<>();
    /** What could not be uploaded when the mount ended, in words. */
    private final List<String> failedAtEnd = new CopyOnWriteArrayList<>();
    /** What they took together when it was last logged that there is no room. */
    private final AtomicLong toldBytes = new AtomicLong();
    /** Nobody else can replace its files. */
    private volatile boolean trusted;

    /**
     * @param mostBytes of what files hold: their holes take nothing
     * @param freeBytes what is to stay free on the disk, whoever fills it; negative: as is usual
     * @param records keep a record beside each file, for the next process
     */
    public SpoolFolder(Path folder, long mostBytes, long freeBytes, boolean records, Clock clock) {
        this.folder = folder;
        this.mostBytes = mostBytes;
        this.disk = SpoolDisk.of(folder, freeBytes, clock);
        this.records = records;
        this.aside = new SetAside(folder);
    }

    /**
     * Looks whether spool files may be made in a folder, and makes nothing.
     *
     * @throws StoreException EPERM: not before an operator has done something
     */
    public static void check(Path folder) throws StoreException {
        try {
            StateFolder.checkAbove(folder.resolve(PREFIX));
        } catch (StateFolder.NotTrusted e) {
            throw untrusted(e);
        } catch (IOException e) {
            throw failure("The folders above " + folder + " cannot be checked", e);
        }
    }

    private static StoreException untrusted(StateFolder.NotTrusted e) {
        return new StoreException(Errno.EPERM, "No spool file can be created: " + e.getMessage(), e);
    }

    /** A new, empty spool file. */
    Spool make() throws StoreException {
        try {
            StateFolder.makeIfMissing(folder);
            if (!trusted) {
                StateFolder.checkAbove(folder.resolve(PREFIX));
                trusted = true;
            }
            Path file = Files.createTempFile(folder, PREFIX, "");
            return Spool.of(this, file);
        } catch (StateFolder.NotTrusted e) {
            throw untrusted(e);
        } catch (IOException e) {
            throw failure(
                    "No spool file can be created in " + folder + " (set another folder with the option spool)", e);
        }
    }

    /** A record for a new spool file; it does not count yet. */
    DirtyFileRecord record(Spool spool, DirtyFileRecord.Content content) throws StoreException {
        if (!records) {
            return DirtyFileRecord.unstored(content);
        }
        return DirtyFileRecord.make(
                spool.file().resolveSibling(spool.file().getFileName() + DirtyFileRecord.SUFFIX), content);
    }

    /** The records that an earlier process left in a folder of this volume's own; what it kept without one counts now. */
    List<Path> records() throws StoreException {
        if (Files.notExists(folder)) {
            return List.of(); // nor can it be made, for now
        }
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> all = files.toList();
            Set<Path> names = new HashSet<>(all);
            for (Path file : all) {
                try {
                    inherit(file, names);
                } catch (IOException e) {
                    LOG.warn("{} was not changed: {}", file, e.toString());
                }
            }
            aside.items().forEach(item -> count(item.content(), item.bytes()));
            return all.stream()
                    .filter(file -> file.toString().endsWith(DirtyFileRecord.SUFFIX))
                    .toList();
        } catch (UncheckedIOException e) {
            throw failure(folder + " cannot be listed", new IOException(e));
        } catch (IOException e) {
            throw failure(folder + " cannot be listed", e);
        }
    }

    /** Removes what never counted, and counts what was kept without a record. */
    private void inherit(Path file, Set<Path> all) throws IOException {
        if (file.toString().endsWith(DirtyFileRecord.SUFFIX + DirtyFileRecord.FRESH) || isLeftOrigin(file, all)) {
            Files.deleteIfExists(file);
            return;
        }
        boolean isSpool = file.getFileName().toString().matches(PREFIX + "\\d+");
        if (!isSpool || all.contains(file.resolveSibling(file.getFileName() + DirtyFileRecord.SUFFIX))) {
            return;
        }
        long bytes = heldBytes(file);
        if (bytes > 0 && count(file, bytes)) {
            LOG.warn("{} has {} bytes that an earlier process could not upload: move or delete it", file, bytes);
        }
    }

    /** Of a record that an earlier version removed. */
    private static boolean isLeftOrigin(Path file, Set<Path> all) {
        String name = file.toString();
        return name.endsWith(Origin.SUFFIX)
                && !all.contains(
                        Path.of(name.substring(0, name.length() - Origin.SUFFIX.length()) + DirtyFileRecord.SUFFIX));
    }

    /** False: it was counted before. */
    private boolean count(Path file, long bytes) {
        boolean counts = kept.putIfAbsent(file, bytes) == null;
        usedBytes.addAndGet(counts ? bytes : 0);
        return counts;
    }

    /** What recoveries set aside here. */
    public SetAside aside() {
        return aside;
    }

    /** Is there anything that somebody wrote beside this record, as far as can be told? */
    static boolean hasContent(Path record) {
        try {
            return Files.size(spoolOf(record)) > 0;
        } catch (NoSuchFileException missing) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /**
     * Moves a record and its content to what was set aside.
     *
     * @param path where the file is, or was, in Alluxio; empty: not known
     * @param why in half a sentence that follows "because"
     * @throws StoreException it could not be moved, and stays where it is; {@link #checkMoved} says so, too
     */
    void setAside(Path record, String path, String why) throws StoreException {
        Path spool = spoolOf(record);
        try {
            long bytes = Files.exists(spool) ? heldBytes(spool) : 0;
            count(aside.put(spool, path, why), bytes);
            unmoved.remove(record);
        } catch (IOException e) {
            StoreException failure = failure("Setting " + spool + " aside", e);
            unmoved.put(record, failure);
            throw failure;
        }
    }

    /**
     * Before it is noted that nothing here is from before: the next process would take what is left for content of an open file.
     *
     * @throws StoreException something that was to be set aside could not be moved; it says what to do
     */
    void checkMoved() throws StoreException {
        for (Map.Entry<Path, StoreException> left : unmoved.entrySet()) {
            StoreException why = left.getValue();
            throw StoreException.ofThisNode(
                    why.errno(),
                    "Content that must not be uploaded cannot be set aside from " + spoolOf(left.getKey())
                            + ": make room on its disk, or make it writable (" + why.getMessage() + ")",
                    why);
        }
    }

    /** As the other, of a spool file that this process made and closed. */
    void setAside(Spool spool, String path, String why) throws StoreException {
        setAside(spool.file().resolveSibling(spool.file().getFileName() + DirtyFileRecord.SUFFIX), path, why);
    }

    /** Removes a record and what belongs to it. */
    void remove(Path record) throws StoreException {
        try {
            Files.deleteIfExists(spoolOf(record));
            Files.deleteIfExists(record);
            Files.deleteIfExists(Origin.beside(record));
        } catch (IOException e) {
            throw failure("Removing " + record, e);
        }
    }

    private long heldBytes(Path file) throws IOException {
        Spool spool = Spool.of(this, file);
        long bytes = spool.heldBytes();
        spool.leave();
        return bytes;
    }

    /** The spool file that a record belongs to. */
    static Path spoolOf(Path record) {
        String name = record.getFileName().toString();
        return record.resolveSibling(name.substring(0, name.length() - DirtyFileRecord.SUFFIX.length()));
    }

    /** The spool file of an earlier process; what it takes counts, however little room there is. */
    Spool open(Path file) throws StoreException {
        try {
            Spool spool = Spool.of(this, file);
            usedBytes.addAndGet(spool.heldBytes());
            return spool;
        } catch (IOException e) {
            throw failure("The spool file " + file, e);
        }
    }

    /** Takes (or with a negative number gives back) room for what is about to be written; ENOSPC when there is none. */
    void take(long bytes) throws StoreException {
        takeHole(bytes);
        if (bytes > 0 && !disk.take(bytes)) {
            usedBytes.addAndGet(-bytes);
            throw new StoreException(Errno.ENOSPC, diskFull(), null);
        }
    }

    private String diskFull() {
        return "The disk of " + folder + " has " + disk.usableBytes() + " bytes free, of which spool_free="
                + disk.reserveBytes() + " are reserved for recovery: free space there, or mount with a spool on"
                + " another disk";
    }

    /** The same for the ends of a hole, which the disk may never hold. */
    void takeHole(long bytes) throws StoreException {
        if (bytes > mostBytes) {
            throw new StoreException(Errno.ENOSPC, full(), null);
        }
        if (usedBytes.addAndGet(bytes) <= mostBytes || bytes <= 0) {
            return;
        }
        forgetTakenAway();
        if (usedBytes.get() > mostBytes) {
            usedBytes.addAndGet(-bytes);
            throw new StoreException(Errno.ENOSPC, full(), null);
        }
    }

    /** Counts what is taken, or given back, already. */
    void count(long bytes) {
        usedBytes.addAndGet(bytes);
    }

    private String full() {
        String all = "Spool files would take more than spool_size=" + mostBytes + " bytes in " + folder;
        long bytes = kept.values().stream().mapToLong(Long::longValue).sum();
        List<Path> some = kept.keySet().stream().limit(MAX_NAMED).toList();
        if (bytes == 0) {
            return all;
        }
        String why = all + "; " + bytes + " bytes of them are content that could not be uploaded, such as " + some
                + ": move or delete these files; the log names them";
        if (toldBytes.getAndSet(bytes) != bytes) {
            LOG.warn("{}", why);
        }
        return why;
    }

    /** The file stays, though nothing here goes on with it, and so does what was taken for it. */
    void keep(Path file, long bytes) {
        kept.put(file, bytes);
    }

    /**
     * The mount has ended, and the content of this file could not be uploaded.
     *
     * @param content where that stays; null: it is lost
     */
    void failedAtEnd(String path, @Nullable Path content) {
        String rest =
                content != null ? ", whose content stays in " + content : ", which was being streamed and is lost";
        failedAtEnd.add(path + rest);
    }

    /** What could not be uploaded when the mount ended: each path, and where its content is. */
    public List<String> failedAtEnd() {
        return List.copyOf(failedAtEnd);
    }

    /** Kept files that an operator moved or deleted take no room any more. */
    private void forgetTakenAway() {
        kept.forEach((file, bytes) -> {
            if (Files.notExists(file) && kept.remove(file, bytes)) {
                usedBytes.addAndGet(-bytes);
            }
        });
    }

    /** Bytes in spool files now, kept ones included. */
    public long usedBytes() {
        forgetTakenAway();
        return usedBytes.get();
    }

    /** What may still be written to the disk, by all volumes together. */
    public long diskBytes() {
        return Math.max(0, disk.usableBytes() - disk.reserveBytes());
    }

    /** The most that spool files may take. */
    public long mostBytes() {
        return mostBytes;
    }

    static StoreException failure(String what, IOException e) {
        int errno = DiskErrno.of(e);
        boolean told = errno == Errno.ENOSPC || errno == Errno.EFBIG || errno == Errno.EROFS;
        return StoreException.ofThisNode(told ? errno : Errno.EIO, what + ": " + e, e);
    }
}

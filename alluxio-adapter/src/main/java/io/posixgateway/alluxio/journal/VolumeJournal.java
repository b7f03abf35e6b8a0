package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.Journal.Entry;
import io.posixgateway.alluxio.journal.Journal.Kind;
import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@link Journal} of a volume, and what earlier processes left beside it.
 *
 * <p>A volume with a folder of its own has one journal there, which one process after the other continues. In a folder that many share,
 * each mount has one of its own, locked as long as its process lives; one without a lock, of the same Alluxio, is adopted by whoever looks
 * first. So nobody touches what a living process, or another node, has to do. Any thread.
 */
public final class VolumeJournal implements AutoCloseable {
    /** In a volume's own folder; those that are kept and not used have a number behind it. */
    static final String NAME = "journal";

    private static final Logger LOG = LoggerFactory.getLogger(VolumeJournal.class);
    private static final String PREFIX = NAME + "-";
    private static final AtomicLong COUNT = new AtomicLong();
    private static final String PROCESS =
            Long.toHexString(ProcessHandle.current().pid()) + "."
                    + Long.toHexString(ThreadLocalRandom.current().nextLong());
    /** One look at a file at a time: two in a process would release each other's lock. */
    private static final Object ADOPTING = new Object();

    private final Journal journal;
    private final Path folder;
    private final String cluster;
    private final boolean isShared;
    /** Where entries are that an earlier version recorded, by ids below 0. Guarded by this. */
    private final Map<Long, Old> old = new HashMap<>();
    /** The lists that they are in. Guarded by this. */
    private final Set<Path> known = new HashSet<>();
    /** What the records of kept files are about that this version must not ignore. Not changed once it is open. */
    private final List<Subject> unread = new ArrayList<>();
    /** Guarded by this. */
    private long lastOldId;

    private record Old(OldList list, OldList.Item item) {}

    /** @param cluster in a folder that is shared: names the Alluxio */
    private VolumeJournal(Path folder, Journal journal, String cluster, boolean isShared) {
        this.folder = folder;
        this.journal = journal;
        this.cluster = cluster;
        this.isShared = isShared;
    }

    /**
     * Of a volume whose folder this is, and nobody else's.
     *
     * @param clusterId of the Alluxio that the volume is of; empty: not known
     */
    static VolumeJournal own(Path folder, String clusterId, Reserve reserve) {
        JournalFile.Disk disk = JournalFile.Disk.of(reserve, false);
        try {
            removeFresh(folder);
        } catch (IOException e) {
            LOG.info("Files that a process left when it was killed stay in {}: {}", folder, e.toString());
        }
        VolumeJournal own =
                new VolumeJournal(folder, Journal.open(folder.resolve(NAME), clusterId, disk), clusterId, false);
        try {
            own.lookAtKept(disk);
        } catch (IOException e) {
            postponed(folder, e);
        }
        return own;
    }

    /** Those that a process could not use, and kept: this version may understand one. */
    private void lookAtKept(JournalFile.Disk disk) throws IOException {
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, NAME + ".[0-9]*")) {
                for (Path file : files) {
                    Journal kept = Journal.open(file, cluster, disk);
                    if (journal.isUsed() && kept.isUsed() && kept.isOf(cluster)) {
                        journal.adopt(kept, true);
                        Files.delete(file);
                    } else {
                        unread.addAll(kept.withheld());
                    }
                }
            }
        }
    }

    /** What processes had not finished that were to have the place of the journal of a volume's own folder. */
    static void removeFresh(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, NAME + ".*" + JournalFile.FRESH)) {
                for (Path file : files) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    /**
     * Of a mount that shares the folder with others. Makes nothing yet.
     *
     * @param cluster the masters of the Alluxio that is mounted
     */
    public static VolumeJournal shared(Path folder, String cluster) {
        Path file = folder.resolve(PREFIX + PROCESS + "-" + COUNT.incrementAndGet());
        JournalFile.Disk disk = JournalFile.Disk.of(null, true);
        Journal journal = Journal.of(file, ByteBuffer.allocate(0), OldList.inOrder(cluster), disk);
        return new VolumeJournal(folder, journal, cluster, true);
    }

    /** Does what is left to do stand in this file of a volume's own folder? */
    static boolean isOne(Path file) {
        String name = file.getFileName().toString();
        return name.equals(NAME) || name.matches(NAME + "\\.\\d+") || OldList.isName(name);
    }

    /** Its file. */
    public Path path() {
        return journal.path();
    }

    /** Where it is kept. */
    Path folder() {
        return folder;
    }

    /** As {@link Journal#add}. */
    long add(Kind kind, Subject subject, List<String> texts) throws IOException {
        return journal.add(kind, subject, texts);
    }

    /** As {@link Journal#remove}. */
    void remove(long id) throws IOException {
        if (id < 0) {
            removeOld(id);
        } else {
            journal.remove(id);
        }
    }

    /** What is done from now on the next process finds out. */
    private synchronized void forgetOld() {
        old.clear();
    }

    private synchronized void removeOld(long id) throws IOException {
        Old entry = old.remove(id);
        if (entry != null) {
            entry.list.remove(entry.item);
        }
    }

    /** What earlier processes left of a kind, and nobody took. */
    List<Entry> take(Kind kind) {
        List<Entry> taken = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return taken;
        }
        try (Stream<Path> files = Files.list(folder)) {
            StateFolder.checkAbove(journal.path());
            for (Path file : files.sorted().toList()) {
                if (isShared) {
                    adoptIfPossible(file, kind);
                } else if (OldList.isName(file.getFileName().toString(), kind)) {
                    taken.addAll(takeIfPossible(file, kind));
                }
            }
            // Before what lists have: an earlier version, which reads no journal, recorded that later.
            taken.addAll(0, journal.take(kind));
        } catch (IOException e) {
            LOG.warn("Work that an earlier process left is postponed: {}", e.toString());
        }
        return taken;
    }

    private synchronized List<Entry> takeIfPossible(Path file, Kind kind) {
        List<Entry> taken = new ArrayList<>();
        try {
            OldList list = known.contains(file) ? null : OldList.of(file, kind, Files.readAllBytes(file));
            if (list != null && list.left().isEmpty()) {
                Files.delete(file);
            } else if (list != null) {
                known.add(file);
                for (OldList.Item item : list.left()) {
                    old.put(--lastOldId, new Old(list, item));
                    taken.add(new Entry(lastOldId, item.subject(), item.texts(), false));
                }
            }
        } catch (IOException e) {
            postponed(file, e);
        }
        return taken;
    }

    private void adoptIfPossible(Path other, Kind kind) {
        String name = other.getFileName().toString();
        boolean isJournal = name.startsWith(PREFIX) && !name.startsWith(PREFIX + PROCESS);
        if (isJournal || OldList.isName(name, kind, cluster)) {
            synchronized (ADOPTING) {
                try {
                    adopt(other, isJournal ? Kind.HEAD : kind);
                } catch (IOException e) {
                    postponed(other, e);
                }
            }
        }
    }

    /** Unless its process lives, which may put another file in the place of this one, and let this one go. */
    private void adopt(Path other, Kind kind) throws IOException {
        Object before = keyOf(other);
        try (FileChannel left = FileChannel.open(other, StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileLock lock = left.tryLock()) {
            if (lock != null && before.equals(keyOf(other)) && isAdopted(other, kind, left)) {
                Files.delete(other);
            }
        }
    }

    private static Object keyOf(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    /**
     * Returns whether the file is of no more use.
     *
     * @param kind of a list of an earlier version; of a journal, that of its first record
     */
    private boolean isAdopted(Path other, Kind kind, FileChannel left) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Channels.newInputStream(left).readAllBytes());
        if (kind != Kind.HEAD) {
            for (OldList.Item item : OldList.of(other, kind, bytes.array()).left()) {
                journal.adopt(kind, item.subject(), item.texts());
            }
        } else if (bytes.hasRemaining() && !other.toString().endsWith(JournalFile.FRESH)) {
            Journal dead = Journal.of(other, bytes, "", JournalFile.Disk.of(null, true));
            if (!dead.cluster().equals(journal.cluster())) {
                return false;
            }
            journal.adopt(dead, false);
        }
        return true;
    }

    private static void postponed(Path file, IOException failure) {
        LOG.info("Work listed in {} is postponed: {}", file, failure.toString());
    }

    /** What records of newer versions are about that this one must not ignore. */
    public List<DirtyFileRecord.Ids> withheld() {
        return Stream.concat(journal.withheld().stream(), unread.stream())
                .map(subject -> new DirtyFileRecord.Ids(subject.node(), subject.fileId()))
                .toList();
    }

    /**
     * The volume is served from now on.
     *
     * @param process how many processes served it so far, of whatever version; 0: it ends
     * @param isKnown is it known of which Alluxio the volume is? An earlier version forgets that at the end of a volume
     */
    void servedBy(long process, boolean isKnown) {
        try {
            journal.servedBy(process, isKnown);
        } catch (IOException e) {
            LOG.info("The next process will not complete renames that are recorded in {}: {}", path(), e.toString());
        }
    }

    /** The id of the Alluxio that the records are of from now on. */
    void clusterIs(String clusterId) {
        try {
            journal.clusterIs(clusterId);
        } catch (IOException e) {
            LOG.warn("The next process will not know to which Alluxio {} belongs: {}", journal.path(), e.toString());
        }
    }

    /** Releases the file, which is removed if nothing in it counts. */
    @Override
    public void close() {
        forgetOld();
        try {
            journal.close();
        } catch (IOException e) {
            LOG.warn("Closing {} failed: {}", journal.path(), e.toString());
        }
    }
}

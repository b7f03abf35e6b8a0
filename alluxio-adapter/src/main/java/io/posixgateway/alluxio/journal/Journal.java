package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.journal.JournalFrame.Subject;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process leaves to the next one of its volume, as records in a file to which is only appended. Its first record names the format
 * and the Alluxio cluster. A record counts until another one removes it.
 *
 * <p>What was cut short at the end, by a kill or a power loss, is the usual end. A damaged record in between is passed over, kept and
 * reported, and so is one of a newer version that this one must not ignore: {@link #withheld}. Reading writes nothing, so it works on a
 * disk that is full or read-only. Where more than half of the file counts no more, it is written anew; where nothing counts, it is emptied.
 *
 * <p>No call waits until the disk has a record: after a reboot nothing in it has a claim. All records are written in one place, {@link
 * #write}, where calls that are to wait for the disk could wait for it together. Guarded by its own monitor.
 */
public final class Journal implements Closeable {
    /** That this version writes, and the last one that it understands. */
    static final int FORMAT = 1;

    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);
    /** As number of a process. */
    private static final long UNKNOWN = -1;
    /** A shorter file is not worth another one. */
    private static final int MIN_BYTES = 1 << 18;

    private final JournalFile file;
    private final Map<Long, JournalFrame> live = new LinkedHashMap<>();
    private final List<ByteBuffer> damaged = new ArrayList<>();
    /** Removals that are not written yet, as the disk did not take them: what was removed must not count again. */
    private final List<JournalFrame> owed = new ArrayList<>();
    /** Of earlier processes, and not taken by anybody here. */
    private final Set<Long> inherited = new HashSet<>();

    /** Those before the service of another version. */
    private final Set<Long> old = new HashSet<>();

    private String cluster;
    /** Of the process that serves, and of the last one that said so in a head; 0: the volume ended. */
    private long serving = UNKNOWN;

    private long noted = UNKNOWN;
    /** As the last head in the file says; empty: none does. */
    private String recorded = "";
    /** Of a file whose format is newer: what its records are about that this version must not ignore. */
    private List<Subject> unread = List.of();
    /** Null: it is used; else why not, in half a sentence that follows "because". */
    private @Nullable String unusable;

    private long lastId;
    private long usedBytes;

    /** What a record is of. The number stands in the file. */
    enum Kind {
        HEAD(0),
        REMOVAL(1),
        HIDDEN(2),
        RENAME_OVER(3),
        RENAME_FREE(4),
        DIRECTORY_RENAME(5),
        CREATION(6),
        STALE_WRITE(7);

        final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    /**
     * One record.
     *
     * @param id of no other record
     * @param texts what it says of its subject
     * @param isOld another version, which does not know it, has served the volume since then
     */
    record Entry(long id, Subject subject, List<String> texts, boolean isOld) {}

    /**
     * Reads what is there, and makes nothing.
     *
     * @param cluster names the Alluxio that its volume is of; empty: not known
     */
    static Journal open(Path path, String cluster, JournalFile.Disk disk) {
        try {
            byte[] bytes = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
            return of(path, ByteBuffer.wrap(bytes), cluster, disk);
        } catch (IOException e) {
            Journal unread = new Journal(new JournalFile(path, disk), cluster);
            unread.isUnusable("it cannot be read: " + e);
            return unread;
        }
    }

    /** The same of what is there. */
    static Journal of(Path path, ByteBuffer bytes, String cluster, JournalFile.Disk disk) {
        Journal journal = new Journal(new JournalFile(path, disk), cluster);
        journal.read(JournalFrame.scan(bytes));
        return journal;
    }

    private Journal(JournalFile file, String cluster) {
        this.file = file;
        this.cluster = cluster;
    }

    private void read(JournalFrame.Scan found) {
        found.frames().forEach(this::read);
        if (unusable != null) {
            unread = notToIgnore();
        } else if (isOfAnother(cluster)) {
            unusable = another(cluster);
        }
        if (unusable != null) {
            isUnusable(unusable);
            reportWithheld();
            return;
        }
        cluster = recorded.isEmpty() ? cluster : recorded;
        file.endIs(found.endBytes());
        keepDamaged(found.damaged());
        inherited.addAll(live.keySet());
        report();
    }

    private boolean isOfAnother(String name) {
        return !recorded.isEmpty() && !name.isEmpty() && !recorded.equals(name);
    }

    private String another(String name) {
        return "they are of another Alluxio cluster (" + recorded + "; now it is " + name + ")";
    }

    /** @param why in half a sentence that follows "because" */
    private void isUnusable(String why) {
        LOG.error("{} is kept, but its records are not continued, because {}", file.path(), why);
        unusable = why;
        live.clear();
        inherited.clear();
        usedBytes = 0;
    }

    private void read(JournalFrame frame) {
        lastId = Math.max(lastId, frame.id());
        JournalFrame removed = live.remove(frame.removes());
        usedBytes -= removed == null ? 0 : removed.lengthBytes();
        if (frame.kind() == Kind.HEAD.number) {
            List<String> texts = frame.texts();
            recorded = texts.isEmpty() ? "" : texts.get(0);
            noted = texts.size() > 1 && texts.get(1).matches("\\d{1,18}") ? Long.parseLong(texts.get(1)) : UNKNOWN;
            unusable = frame.least() > FORMAT ? "it has format " + frame.version() : null;
        } else if (frame.kind() != Kind.REMOVAL.number) {
            live.put(frame.id(), frame);
            usedBytes += frame.lengthBytes();
        }
    }

    private void keepDamaged(List<ByteBuffer> parts) {
        damaged.addAll(parts);
        parts.forEach(part -> usedBytes += part.remaining());
    }

    private void report() {
        if (!damaged.isEmpty()) {
            LOG.error(
                    "{} is damaged in {} places: what was recorded there is not continued, all other records are; the"
                            + " damaged bytes stay in it",
                    file.path(),
                    damaged.size());
        }
        reportWithheld();
    }

    private void reportWithheld() {
        withheld()
                .forEach(subject -> LOG.error(
                        "{} has a record of a newer version (node {}, file {}), which stays for a gateway of that version",
                        file.path(),
                        subject.node(),
                        subject.fileId()));
    }

    /** Where it is kept. */
    Path path() {
        return file.path();
    }

    /** What the Alluxio is named that its records are of. */
    synchronized String cluster() {
        return cluster;
    }

    /** The same from now on. */
    synchronized void clusterIs(String name) throws IOException {
        if (isOfAnother(name) && !inherited.isEmpty() && inherited.equals(live.keySet())) {
            isUnusable(another(name));
        }
        cluster = name.isEmpty() ? cluster : name;
        if (!cluster.equals(recorded) && file.endBytes() > 0) {
            write(List.of());
        }
    }

    /**
     * As {@link VolumeJournal#servedBy}. Versions that read no journal count processes, too, but do not note that here. What is recorded is
     * old to the next process where that cannot be written.
     */
    synchronized void servedBy(long process, boolean isKnown) throws IOException {
        boolean isFirst = serving == UNKNOWN && noted != UNKNOWN;
        if (isFirst && (process > noted + 1 || (!isKnown && !recorded.isEmpty()))) {
            old.addAll(live.keySet());
        }
        serving = process;
        if (!live.isEmpty()) {
            write(List.of());
        }
    }

    private JournalFrame head() throws IOException {
        List<String> texts = serving == UNKNOWN ? List.of(cluster) : List.of(cluster, Long.toString(serving));
        return frame(Kind.HEAD, 0, Subject.NONE, JournalFrame.payload(texts));
    }

    private static JournalFrame frame(Kind kind, long removes, Subject subject, ByteBuffer payload) {
        return new JournalFrame(kind.number, FORMAT, FORMAT, 0, removes, subject, payload);
    }

    /**
     * Records something before it is begun.
     *
     * @return the id of the record
     * @throws IOException it is not recorded
     */
    long add(Kind kind, Subject subject, List<String> texts) throws IOException {
        return append(frame(kind, 0, subject, JournalFrame.payload(texts)));
    }

    /** As {@link #add}, of what an earlier process left in another form. */
    synchronized void adopt(Kind kind, Subject subject, List<String> texts) throws IOException {
        inherited.add(add(kind, subject, texts));
    }

    /**
     * What another journal has, of whatever version.
     *
     * @param isOld others have served the volume since then
     */
    synchronized void adopt(Journal other, boolean isOld) throws IOException {
        for (JournalFrame frame : other.live.values()) {
            long id = append(frame);
            inherited.add(id);
            if (isOld) {
                old.add(id);
            }
        }
        if (!other.damaged.isEmpty() && file.endBytes() == 0) {
            write(List.of()); // who adopts it later is to know of which Alluxio it is
        }
        for (ByteBuffer part : other.damaged) {
            file.append(bytes(List.of(), List.of(part), List.of()));
        }
        keepDamaged(other.damaged);
    }

    /** Under a new id. */
    private synchronized long append(JournalFrame frame) throws IOException {
        JournalFrame numbered = frame.numbered(lastId + 1);
        write(numbered);
        lastId++;
        live.put(lastId, numbered);
        usedBytes += numbered.lengthBytes();
        return lastId;
    }

    /**
     * It counts no more.
     *
     * @throws IOException to the next process it does
     */
    synchronized void remove(long id) throws IOException {
        JournalFrame removed = live.remove(id);
        if (removed != null) {
            inherited.remove(id);
            usedBytes -= removed.lengthBytes();
            if (usedBytes > 0 || file.endBytes() < MIN_BYTES || !file.isEmptied()) {
                owed.add(frame(Kind.REMOVAL, id, removed.subject(), ByteBuffer.allocate(0)));
                write(List.of());
                compactIfDue();
            } else {
                owed.clear();
            }
        }
    }

    /** What earlier processes left of a kind, once. */
    synchronized List<Entry> take(Kind kind) {
        return live.values().stream()
                .filter(frame -> frame.kind() == kind.number && frame.version() <= FORMAT)
                .filter(frame -> inherited.remove(frame.id()))
                .map(frame -> new Entry(frame.id(), frame.subject(), frame.texts(), old.contains(frame.id())))
                .toList();
    }

    /** What the records of newer versions are about that this one must not ignore. */
    synchronized List<Subject> withheld() {
        return Stream.concat(unread.stream(), notToIgnore().stream()).toList();
    }

    private List<Subject> notToIgnore() {
        return live.values().stream()
                .filter(frame -> frame.least() > FORMAT)
                .map(JournalFrame::subject)
                .toList();
    }

    /** Is it one that this version continues? */
    synchronized boolean isUsed() {
        return unusable == null;
    }

    /** Is it surely of this Alluxio? */
    synchronized boolean isOf(String name) {
        return !recorded.isEmpty() && recorded.equals(name);
    }

    private void write(JournalFrame frame) throws IOException {
        write(List.of(frame));
    }

    /** With what could not be written before. */
    private void write(List<JournalFrame> frames) throws IOException {
        if (unusable != null) {
            file.moveAway();
            unusable = null;
        }
        boolean named = cluster.isEmpty() || cluster.equals(recorded);
        boolean counted = serving == UNKNOWN || serving == noted;
        boolean heads = file.endBytes() == 0 || !named || !counted;
        List<JournalFrame> all = new ArrayList<>(heads ? List.of(head()) : List.of());
        all.addAll(owed);
        all.addAll(frames);
        file.append(bytes(all, List.of(), List.of()));
        recorded = heads ? cluster : recorded;
        noted = serving == UNKNOWN ? noted : serving;
        owed.clear();
    }

    private static byte[] bytes(List<JournalFrame> first, List<ByteBuffer> parts, List<JournalFrame> last) {
        int length = Stream.concat(first.stream(), last.stream())
                        .mapToInt(JournalFrame::lengthBytes)
                        .sum()
                + parts.stream().mapToInt(ByteBuffer::remaining).sum();
        ByteBuffer bytes = ByteBuffer.allocate(length);
        first.forEach(frame -> frame.putInto(bytes));
        parts.forEach(part -> bytes.put(part.duplicate()));
        last.forEach(frame -> frame.putInto(bytes));
        return bytes.array();
    }

    private void compactIfDue() throws IOException {
        long atMostBytes = Math.max(MIN_BYTES, 2 * usedBytes);
        if (usedBytes > 0 && file.endBytes() > atMostBytes && file.mayBeRewritten()) {
            try {
                // Damage lies between whole records, or it would be taken for a record that was cut short.
                file.rewrite(bytes(List.of(head()), damaged, List.copyOf(live.values())));
            } catch (RuntimeException | Error e) {
                file.notRewritten(e); // no memory, or no more threads: what was to be recorded is recorded
            }
        }
    }

    /** Releases the file, which is removed if nothing in it counts. */
    @Override
    public synchronized void close() throws IOException {
        file.close(unusable == null && usedBytes == 0);
    }
}

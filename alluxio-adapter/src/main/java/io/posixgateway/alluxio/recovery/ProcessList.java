package io.posixgateway.alluxio.recovery;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one process has left to do in Alluxio, as a list of entries in a file beside the spool files.
 *
 * <p>The file is locked as long as the process lives; one without a lock, of the same Alluxio, is inherited by the next process that
 * uses the folder. So nobody touches what a living process, or another node, has to do. Guarded by its own monitor.
 */
public abstract class ProcessList<E> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessList.class);
    private static final AtomicLong COUNT = new AtomicLong();
    private static final String PROCESS =
            Long.toHexString(ProcessHandle.current().pid()) + "."
                    + Long.toHexString(ThreadLocalRandom.current().nextLong());

    private static final Pattern WHOLE = Pattern.compile("[0-9a-f]{64}-.*");

    private final Path folder;
    private final Predicate<String> inherits;
    private final Path file;
    private final Map<String, E> present = new LinkedHashMap<>();
    private @Nullable FileChannel channel;

    /** Different for each entry of a list. */
    abstract String key(E entry);

    /** How entries are stored; the format of a kind never changes, as an older version may read the file. */
    abstract void write(E entry, DataOutputStream out) throws IOException;

    abstract E read(DataInputStream in) throws IOException;

    /**
     * Makes nothing yet.
     *
     * @param kind the beginning of the file's name
     * @param cluster names the Alluxio
     * @param own is the folder one volume's own, so that all lists in it are of the Alluxio that {@link KnownAlluxio} knows, wherever it
     *     is reached now? If not, mounts of other Alluxios may use it, too, and the name of each list says of which it is
     */
    ProcessList(Path folder, String kind, String cluster, boolean own) {
        this.folder = folder;
        String prefix = prefix(kind, inOrder(cluster));
        String whole = digest(inOrder(cluster)) + "-";
        this.inherits = own
                ? name -> name.startsWith(kind + "-")
                : name -> isOf(name, prefix, whole) || isOf(name, prefix(kind, cluster), whole);
        this.file = folder.resolve(prefix + whole + PROCESS + "-" + COUNT.incrementAndGet());
    }

    /**
     * Whether a list is of this Alluxio. An earlier version named it by 32 bits of the masters alone, and took these in the order in
     * which they were given; it still finds what this one leaves.
     */
    private static boolean isOf(String name, String prefix, String whole) {
        return name.startsWith(prefix)
                && (name.startsWith(whole, prefix.length())
                        || !WHOLE.matcher(name.substring(prefix.length())).matches());
    }

    private static String digest(String cluster) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(cluster.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static String prefix(String kind, String cluster) {
        return kind + "-" + Integer.toHexString(cluster.hashCode()) + "-";
    }

    /** The same masters in another order are the same Alluxio. */
    private static String inOrder(String cluster) {
        boolean isList = cluster.startsWith("[") && cluster.endsWith("]");
        return isList
                ? Stream.of(cluster.substring(1, cluster.length() - 1).split(", ", -1))
                        .sorted()
                        .toList()
                        .toString()
                : cluster;
    }

    /** Where it is kept. */
    public Path folder() {
        return folder;
    }

    /** Before it is begun. Returns false, and logs, if the file cannot be written: then the next process does not learn of it. */
    public synchronized boolean add(E entry) {
        try {
            FileChannel open = channel;
            if (open == null) {
                StateFolder.makeIfMissing(folder);
                open = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                channel = open;
                open.lock();
            }
            present.put(key(entry), entry);
            append(open, entry, true);
            return true;
        } catch (IOException e) {
            LOG.warn("Writing {} failed: {}", file, e.toString());
            return false;
        }
    }

    /** It is done, or was not begun. */
    public void remove(E entry) {
        remove(key(entry));
    }

    /** The same of the entry with this key. */
    public synchronized void remove(String key) {
        E entry = present.remove(key);
        FileChannel open = channel;
        if (entry == null || open == null) {
            return;
        }
        try {
            if (present.isEmpty()) {
                open.truncate(0);
            } else {
                append(open, entry, false);
            }
        } catch (IOException e) {
            LOG.warn("Writing {} failed: {}", file, e.toString());
        }
    }

    private void append(FileChannel open, E entry, boolean there) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeBoolean(there);
            write(entry, out);
        }
        ByteBuffer entryBytes = ByteBuffer.wrap(bytes.toByteArray());
        long at = open.size();
        try {
            while (entryBytes.hasRemaining()) {
                open.write(entryBytes, at + entryBytes.position());
            }
        } catch (IOException e) {
            open.truncate(at); // what comes behind a part of an entry could not be read
            throw e;
        }
    }

    /** Those that stand in the list now. */
    public synchronized List<E> present() {
        return List.copyOf(present.values());
    }

    /** Does one of this key stand in the list now? */
    public synchronized boolean has(String key) {
        return present.containsKey(key);
    }

    /** Takes over the lists of processes that are no more; returns what stands in them. */
    public List<E> inherit() {
        List<E> inherited = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return inherited;
        }
        try (Stream<Path> files = Files.list(folder)) {
            StateFolder.checkAbove(file);
            for (Path other : files.toList()) {
                String name = other.getFileName().toString();
                if (inherits.test(name) && !name.contains("-" + PROCESS)) {
                    inherited.addAll(inheritIfPossible(other));
                }
            }
        } catch (IOException e) {
            LOG.warn("Work that an earlier process left is postponed: {}", e.toString());
        }
        return inherited;
    }

    private List<E> inheritIfPossible(Path other) {
        try {
            return inherit(other);
        } catch (IOException e) {
            LOG.info("Work listed in {} is postponed: {}", other, e.toString());
            return List.of();
        }
    }

    private List<E> inherit(Path other) throws IOException {
        try (FileChannel left = FileChannel.open(other, StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileLock lock = left.tryLock()) {
            if (lock == null || !Files.exists(other)) {
                return List.of();
            }
            List<E> found = read(left);
            for (E entry : found) {
                if (!add(entry)) {
                    return List.of();
                }
            }
            Files.delete(other);
            return found;
        }
    }

    /** What was not taken off; a last entry that is cut short was never answered. */
    private List<E> read(FileChannel left) throws IOException {
        Map<String, E> entries = new LinkedHashMap<>();
        DataInputStream in = new DataInputStream(Channels.newInputStream(left));
        try {
            while (true) {
                boolean there = in.readBoolean();
                E entry = read(in);
                if (there) {
                    entries.put(key(entry), entry);
                } else {
                    entries.remove(key(entry));
                }
            }
        } catch (EOFException end) {
            return new ArrayList<>(entries.values());
        }
    }

    /** Releases the file, which is removed if nothing stands in it. */
    @Override
    public synchronized void close() {
        FileChannel open = channel;
        channel = null;
        if (open == null) {
            return;
        }
        try {
            if (present.isEmpty()) {
                Files.deleteIfExists(file);
            }
            open.close();
        } catch (IOException e) {
            LOG.warn("Closing {} failed: {}", file, e.toString());
        }
    }
}

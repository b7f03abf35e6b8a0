package io.posixgateway.alluxio.recovery;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hidden files that this process has in Alluxio: open files that were deleted, and content on its way to a name.
 *
 * <p>Each is written into a list beside the spool files before it is made, and taken off when it is gone. The list is locked
 * as long as the process lives; a list without a lock, of the same Alluxio, is inherited by the next process that uses the
 * folder, which removes what stands in it. So a hidden file of another node, or of a living process, is never touched.
 * Guarded by its own monitor.
 */
public final class HiddenFiles implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HiddenFiles.class);
    private static final String PREFIX = "hidden-";
    private static final AtomicLong COUNT = new AtomicLong();
    private static final String PROCESS =
            Long.toHexString(ProcessHandle.current().pid()) + "."
                    + Long.toHexString(ThreadLocalRandom.current().nextLong());

    private final Path folder;
    private final String prefix;
    private final String inherits;
    private final Path file;
    private final Map<String, Hidden> present = new LinkedHashMap<>();
    private @Nullable FileChannel channel;

    /**
     * One hidden file.
     *
     * @param path where it is, unless directories above it were renamed since
     * @param fileId Alluxio's; 0: it is not known yet
     * @param node that may still be open; 0: none is
     */
    public record Hidden(String path, long fileId, long node) {}

    /**
     * Makes nothing yet.
     *
     * @param cluster names the Alluxio
     * @param inherits how the names of lists begin that are of the same Alluxio
     */
    private HiddenFiles(Path folder, String cluster, String inherits) {
        this.folder = folder;
        this.inherits = inherits;
        this.prefix = PREFIX + Integer.toHexString(cluster.hashCode()) + "-";
        this.file = folder.resolve(prefix + PROCESS + "-" + COUNT.incrementAndGet());
    }

    /** In a folder that mounts of other Alluxios may use, too; the name of each list says of which it is. */
    public HiddenFiles(Path folder, String cluster) {
        this(folder, cluster, PREFIX + Integer.toHexString(cluster.hashCode()) + "-");
    }

    /** In the folder of one volume, whose lists are of the Alluxio that {@link KnownAlluxio} knows, wherever it is reached now. */
    public static HiddenFiles ofVolume(Path folder, String cluster) {
        return new HiddenFiles(folder, cluster, PREFIX);
    }

    /** Before it is made. False, and a line in the log, if the list cannot be written: then it may outlive this process. */
    public synchronized boolean add(Hidden hidden) {
        try {
            FileChannel open = channel;
            if (open == null) {
                StateFolder.makeIfMissing(folder);
                open = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                channel = open;
                open.lock();
            }
            present.put(hidden.path(), hidden);
            append(open, hidden, true);
            return true;
        } catch (IOException e) {
            LOG.warn("Writing the list of hidden files {} failed: {}", file, e.toString());
            return false;
        }
    }

    /** It is gone, or was not made. */
    public synchronized void remove(String path) {
        Hidden hidden = present.remove(path);
        FileChannel open = channel;
        if (hidden == null || open == null) {
            return;
        }
        try {
            if (present.isEmpty()) {
                open.truncate(0);
            } else {
                append(open, hidden, false);
            }
        } catch (IOException e) {
            LOG.warn("Writing the list of hidden files {} failed: {}", file, e.toString());
        }
    }

    /** The deleted file of this node is gone, wherever it was. */
    public void forget(long node) {
        present().stream().filter(hidden -> hidden.node() == node).forEach(hidden -> remove(hidden.path()));
    }

    private static void append(FileChannel open, Hidden hidden, boolean there) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeBoolean(there);
            out.writeLong(hidden.fileId());
            out.writeLong(hidden.node());
            out.writeUTF(hidden.path());
        }
        open.write(ByteBuffer.wrap(bytes.toByteArray()), open.size());
    }

    /** Those that stand in the list now. */
    public synchronized List<Hidden> present() {
        return List.copyOf(present.values());
    }

    /** Takes over the lists of processes that are no more; returns what stands in them. */
    public List<Hidden> inherit() {
        List<Hidden> inherited = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return inherited;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path other : files.toList()) {
                String name = other.getFileName().toString();
                if (name.startsWith(inherits) && !name.contains(PROCESS)) {
                    inherited.addAll(inheritIfPossible(other));
                }
            }
        } catch (IOException e) {
            LOG.warn("Hidden files that an earlier process left stay for now: {}", e.toString());
        }
        return inherited;
    }

    private List<Hidden> inheritIfPossible(Path other) {
        try {
            return inherit(other);
        } catch (IOException e) {
            LOG.info("Hidden files in {} stay for now: {}", other, e.toString());
            return List.of();
        }
    }

    private List<Hidden> inherit(Path other) throws IOException {
        try (FileChannel left = FileChannel.open(other, StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileLock lock = left.tryLock()) {
            if (lock == null || !Files.exists(other)) {
                return List.of();
            }
            List<Hidden> found = read(left);
            for (Hidden hidden : found) {
                if (!add(hidden)) {
                    return List.of();
                }
            }
            Files.delete(other);
            return found;
        }
    }

    /** What was not taken off; a last entry that is cut short was never answered. */
    private static List<Hidden> read(FileChannel left) throws IOException {
        Map<String, Hidden> entries = new LinkedHashMap<>();
        DataInputStream in = new DataInputStream(Channels.newInputStream(left));
        try {
            while (true) {
                boolean there = in.readBoolean();
                long fileId = in.readLong();
                long node = in.readLong();
                Hidden hidden = new Hidden(in.readUTF(), fileId, node);
                if (there) {
                    entries.put(hidden.path(), hidden);
                } else {
                    entries.remove(hidden.path());
                }
            }
        } catch (java.io.EOFException end) {
            return new ArrayList<>(entries.values());
        }
    }

    /** Lets go of the list, which is removed if nothing stands in it. */
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
            LOG.warn("Closing the list of hidden files {} failed: {}", file, e.toString());
        }
    }
}

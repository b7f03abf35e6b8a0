package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which file ids belong to nodes that began with another one: pairs {node, file id}, the last of a node counts, file id 0
 * takes it back. A disk that takes nothing keeps nobody from reading them; each pair to store then asks whether it takes one by now.
 * Not written by a channel, which an interrupt of a thread that serves a request would close. Guarded by its own monitor.
 */
public final class NodeIdRemapLog {
    private static final int PAIR_BYTES = 2 * Long.BYTES;
    /** As file id: the kernel does not know the node any more. */
    public static final long NOBODY = 0;

    /** So much of what no longer counts is not worth a new file. */
    private static final int MAX_WASTED_BYTES = 1 << 20;

    private final Path file;
    private final Reserve reserve;
    private final Pairs inherited;
    /** Null while the disk takes nothing, or once closed. */
    private @Nullable RandomAccessFile open;

    private long endBytes;
    /** What stands in a file that cannot be written counts no more. */
    private boolean emptied;

    private boolean closed;
    /** That a pair is missing is logged. */
    private boolean told;

    private final ByteBuffer pair = ByteBuffer.allocate(PAIR_BYTES);

    /**
     * File ids by node.
     *
     * @param directories stored negative, so that they are known as such before Alluxio is asked
     */
    private record Pairs(Map<Long, Long> files, Map<Long, Long> directories) {
        private void put(long node, long fileId) {
            files.remove(node);
            directories.remove(node);
            if (fileId > NOBODY) {
                files.put(node, fileId);
            } else if (fileId < NOBODY) {
                directories.put(node, -fileId);
            }
        }

        private int size() {
            return files.size() + directories.size();
        }
    }

    private NodeIdRemapLog(Path file, Pairs inherited, Reserve reserve) {
        this.file = file;
        this.reserve = reserve;
        this.inherited = inherited;
    }

    /**
     * Reads what an earlier process left. Writes it anew, without what no longer counts, only where that is much and there is room;
     * a disk that is full, or takes nothing any more, keeps nobody from reading.
     */
    static NodeIdRemapLog open(Path file, Reserve reserve) throws IOException {
        Pairs pairs = Files.exists(file) ? read(file) : new Pairs(new HashMap<>(), new HashMap<>());
        if (Files.exists(file) && Files.size(file) > MAX_WASTED_BYTES + 2L * pairs.size() * PAIR_BYTES) {
            compact(file, pairs);
        }
        NodeIdRemapLog log = new NodeIdRemapLog(file, pairs, reserve);
        try {
            log.opened();
        } catch (IOException e) {
            if (!DiskErrno.takesNothing(e)) {
                throw e;
            }
            org.slf4j.LoggerFactory.getLogger(NodeIdRemapLog.class)
                    .warn("The log of node ids was read, but cannot be written yet: {}", e.toString());
        }
        return log;
    }

    private synchronized RandomAccessFile opened() throws IOException {
        RandomAccessFile there = open;
        if (there == null) {
            if (closed) {
                throw new ClosedChannelException();
            }
            StateFolder.makeParentIfMissing(file);
            // Made by a channel, whose failure says why: that of the next line has another text.
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                    .close();
            there = new RandomAccessFile(file.toFile(), "rw");
            endBytes = emptied ? 0 : there.length() / PAIR_BYTES * PAIR_BYTES;
            there.setLength(endBytes);
            emptied = false;
            open = there;
        }
        return there;
    }

    private static void compact(Path file, Pairs pairs) {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        ByteBuffer bytes = ByteBuffer.allocate(pairs.size() * PAIR_BYTES);
        pairs.files.forEach((node, id) -> bytes.putLong(node).putLong(id));
        pairs.directories.forEach((node, id) -> bytes.putLong(node).putLong(-id));
        try {
            Files.write(fresh, bytes.array());
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(NodeIdRemapLog.class)
                    .info("The log of node ids cannot be compacted: {}", e.toString());
        }
    }

    private static Pairs read(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        Pairs pairs = new Pairs(new HashMap<>(), new HashMap<>());
        while (bytes.remaining() >= PAIR_BYTES) {
            long node = bytes.getLong();
            pairs.put(node, bytes.getLong());
        }
        return pairs;
    }

    /** The pairs of files that an earlier process left. */
    public Map<Long, Long> inherited() {
        return inherited.files;
    }

    /** The same of directories. */
    public Map<Long, Long> inheritedDirectories() {
        return inherited.directories;
    }

    /** The node's content is, or is about to be, in this file. */
    public void moved(long node, long fileId) throws StoreException {
        try {
            append(node, fileId);
        } catch (IOException e) {
            throw StoreException.ofThisNode(
                    DiskErrno.takesNothing(e) ? DiskErrno.of(e) : Errno.EIO,
                    "Writing the log of node ids failed: " + e,
                    e);
        }
    }

    /** The same of what happened already, or of a node that the kernel knows no more (then {@link #NOBODY}). */
    public void noticed(long node, long fileId) {
        try {
            append(node, fileId);
        } catch (IOException e) {
            tell(e);
        }
    }

    private synchronized void tell(IOException failure) {
        if (!told) {
            org.slf4j.LoggerFactory.getLogger(NodeIdRemapLog.class)
                    .warn("Entries are missing in the log of node ids: {}", failure.toString());
        }
        told = true;
    }

    /** The node of a directory is, or is about to be, this one in Alluxio. */
    public void directoryMoved(long node, long fileId) {
        noticed(node, -fileId);
    }

    /** Nobody knows any of the nodes. */
    public synchronized void clear() throws StoreException {
        inherited.files.clear();
        inherited.directories.clear();
        RandomAccessFile there = open;
        if (there == null) {
            emptied = true;
            return;
        }
        try {
            there.setLength(0);
            endBytes = 0;
        } catch (IOException e) {
            throw StoreException.ofThisNode(Errno.EIO, "Emptying the log of node ids failed: " + e, e);
        }
    }

    private synchronized void append(long node, long fileId) throws IOException {
        RandomAccessFile there = opened();
        pair.clear().putLong(node).putLong(fileId);
        try {
            reserve.write(() -> {
                there.seek(endBytes);
                there.write(pair.array());
            });
            endBytes += PAIR_BYTES;
            told = false;
        } catch (IOException e) {
            there.setLength(endBytes);
            throw e;
        }
    }

    synchronized void close() {
        RandomAccessFile there = open;
        open = null;
        closed = true;
        if (there == null) {
            return;
        }
        try {
            there.close();
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(NodeIdRemapLog.class)
                    .warn("Closing the log of node ids failed: {}", e.toString());
        }
    }
}

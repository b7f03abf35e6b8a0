package io.posixgateway.alluxio.recovery;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/**
 * Which file ids belong to nodes that began with another one: pairs {node, file id}, the last of a node counts, file id 0
 * takes it back. Guarded by its own monitor.
 */
public final class NodeLog {
    private static final int PAIR_BYTES = 2 * Long.BYTES;
    /** As file id: the kernel does not know the node any more. */
    public static final long NOBODY = 0;

    /** So much of what no longer counts is not worth a new file. */
    private static final int MOST_WASTED_BYTES = 1 << 20;

    private final Reserve reserve;
    private final FileChannel channel;
    private final Pairs inherited;
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

    private NodeLog(FileChannel channel, Pairs inherited, Reserve reserve) {
        this.reserve = reserve;
        this.channel = channel;
        this.inherited = inherited;
    }

    /**
     * Reads what an earlier process left. Writes it anew, without what no longer counts, only where that is much and there is room;
     * a disk that is full, or takes nothing any more, keeps nobody from reading.
     */
    static NodeLog open(Path file, Reserve reserve) throws IOException {
        Pairs pairs = Files.exists(file) ? read(file) : new Pairs(new HashMap<>(), new HashMap<>());
        if (Files.exists(file) && Files.size(file) > MOST_WASTED_BYTES + 2L * pairs.size() * PAIR_BYTES) {
            compact(file, pairs);
        }
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        long whole = channel.size() / PAIR_BYTES * PAIR_BYTES;
        channel.truncate(whole).position(whole);
        return new NodeLog(channel, pairs, reserve);
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
            org.slf4j.LoggerFactory.getLogger(NodeLog.class).info("The log of nodes stays long: {}", e.toString());
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
            throw new StoreException(
                    DiskErrno.isFull(e) ? Errno.ENOSPC : Errno.EIO, "Writing the log of nodes failed: " + e, e);
        }
    }

    /** The same of what happened already, or of a node that the kernel knows no more (then {@link #NOBODY}). */
    public void noticed(long node, long fileId) {
        try {
            append(node, fileId);
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(NodeLog.class)
                    .warn("A pair is missing in the log of nodes: {}", e.toString());
        }
    }

    /** The node of a directory is, or is about to be, this one in Alluxio. */
    public void directoryMoved(long node, long fileId) {
        noticed(node, -fileId);
    }

    /** Nobody knows any of the nodes. */
    public synchronized void clear() throws StoreException {
        try {
            channel.truncate(0);
            inherited.files.clear();
            inherited.directories.clear();
        } catch (IOException e) {
            throw new StoreException(Errno.EIO, "Emptying the log of nodes failed: " + e, e);
        }
    }

    private synchronized void append(long node, long fileId) throws IOException {
        pair.clear().putLong(node).putLong(fileId).flip();
        long before = channel.position();
        try {
            reserve.write(channel, pair);
        } catch (IOException e) {
            channel.truncate(before);
            throw e;
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            org.slf4j.LoggerFactory.getLogger(NodeLog.class).warn("Closing the log of nodes failed: {}", e.toString());
        }
    }
}

package io.posixgateway.alluxio.store;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A file or a directory as the master holds it. Guarded by the cluster's lock, but for what is volatile. */
final class MemoryInode {
    /** Of a block's id, the lower bits are its place in the file; of a file's id they are all ones. */
    static final int SEQUENCE_BITS = 24;

    static final long BLOCK_BYTES = 16 << 20;
    private static final long SEQUENCES = (1L << SEQUENCE_BITS) - 1;

    final long id;
    final boolean directory;
    String name;

    @Nullable
    MemoryInode parent;
    /** Of a directory, in the order of names. What is being renamed may be found under its old name with its new one. */
    final NavigableMap<String, MemoryInode> children = new TreeMap<>();

    volatile boolean complete;
    volatile boolean persisted;
    /** The job service is to persist it. */
    boolean scheduled;
    /** Marked by the master: it was in workers only, and a worker that had a part of it is gone. */
    boolean lost;
    /** Of a directory: its names were loaded from the UFS. */
    boolean childrenLoaded;
    /** Of the root: what its UFS is. */
    StoreNames storeNames = StoreNames.ALL;
    /** Of the file in the UFS as it was last seen; empty: it was not. */
    String fingerprint = "";

    long lengthBytes;
    /** Lengths of its blocks. */
    List<Long> blocks = new ArrayList<>();

    int mode;
    String owner = MemoryUfs.USER;
    String group = MemoryUfs.USER;
    long modifiedMillis;
    /** When the master made it. */
    long createdMillis;

    final Map<String, byte[]> xattrs = new HashMap<>();

    private MemoryInode(long id, boolean directory, String name) {
        this.id = id;
        this.directory = directory;
        this.name = name;
    }

    static MemoryInode directory(long number, String name) {
        return new MemoryInode(number, true, name);
    }

    static MemoryInode file(long container, String name) {
        return new MemoryInode(container << SEQUENCE_BITS | SEQUENCES, false, name);
    }

    long blockId(int sequence) {
        return blockId(id, sequence);
    }

    static long blockId(long fileId, int sequence) {
        return (fileId & ~SEQUENCES) | sequence;
    }

    static long fileId(long blockId) {
        return blockId | SEQUENCES;
    }

    /** Lays blocks out for this length. */
    void hasLength(long bytes) {
        lengthBytes = bytes;
        blocks = new ArrayList<>();
        for (long at = 0; at < bytes; at += BLOCK_BYTES) {
            blocks.add(Math.min(BLOCK_BYTES, bytes - at));
        }
    }

    /** Of the same file before it was loaded anew. */
    void takeAttributes(MemoryInode before) {
        mode = before.mode;
        owner = before.owner;
        group = before.group;
        xattrs.putAll(before.xattrs);
    }

    String path() {
        MemoryInode above = parent;
        if (above == null) {
            return "/";
        }
        return above.parent == null ? "/" + name : above.path() + "/" + name;
    }

    FileStatus status() {
        return new FileStatus(
                id,
                name,
                directory,
                complete || directory,
                directory ? children.size() : complete ? lengthBytes : 0,
                directory ? 0 : BLOCK_BYTES,
                mode,
                owner,
                group,
                modifiedMillis,
                modifiedMillis,
                Map.copyOf(xattrs),
                (int) (createdMillis / 1000),
                top().storeNames);
    }

    private MemoryInode top() {
        MemoryInode above = parent;
        return above == null ? this : above.top();
    }
}

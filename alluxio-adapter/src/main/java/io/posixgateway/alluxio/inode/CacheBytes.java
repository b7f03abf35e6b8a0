package io.posixgateway.alluxio.inode;

import io.posixgateway.fuse.spi.Name;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that the nodes of a table take, with their names, their attributes and the names known to be missing: estimated
 * by what such objects were measured to take. Any thread.
 */
public final class CacheBytes {
    /** A file without its name: the inode, its facts, its places in the tables. */
    private static final int A_NODE = 150;
    /** A missing name without its bytes: the entry of its map, what leads to the name, when it was missed. */
    private static final int A_MISSING = 120;
    /** An extended attribute without its name and value. */
    private static final int AN_XATTR = 120;
    /** Of a file that shows another number than its own. */
    static final int A_NUMBER = 110;

    private final long most;
    private final AtomicLong beside = new AtomicLong();

    /** @param most above this, nodes that nobody uses are dropped */
    public CacheBytes(long most) {
        this.most = most;
    }

    public long most() {
        return most;
    }

    /** Of so many nodes and all that is beside them. */
    long sum(int nodes) {
        return (long) nodes * A_NODE + beside.get();
    }

    boolean tooMany(int nodes) {
        return sum(nodes) > most;
    }

    void add(long bytes) {
        beside.addAndGet(bytes);
    }

    /** Of an array. */
    static long of(int length) {
        return length + 23L & ~7L;
    }

    static long ofMissing(Name name) {
        return A_MISSING + of(name.length());
    }

    static long ofXattr(String name, byte[] value) {
        return AN_XATTR + of(name.length()) + of(value.length);
    }
}

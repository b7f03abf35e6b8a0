package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that the nodes of a table take, with their names, their attributes and the names known to be missing: estimated
 * by what such objects were measured to take. The account of one volume in the {@link CacheBudget} of the process. Any thread.
 */
public final class MemoryAccounting {
    /** So much more or less is told to the budget, which all volumes share. */
    static final int STEP_BYTES = 1 << 16;

    /** A file without its name: the inode, its attributes, its places in the tables. */
    private static final int A_NODE = 150;
    /** A missing name without its bytes: the entry of its map, what leads to the name, when it was missed. */
    private static final int A_MISSING = 128;
    /** An extended attribute without its name and value. */
    private static final int AN_XATTR = 120;
    /** Of a file that shows another number than its own. */
    static final int A_NUMBER = 110;

    private static final long CLOSED = Long.MIN_VALUE;

    private final long most;
    private final CacheBudget budget;
    private final AtomicLong beside = new AtomicLong();
    /** What the budget was told; {@link #CLOSED}: it is told nothing any more. */
    private final AtomicLong told = new AtomicLong();

    /** Of a table that shares with none. */
    public MemoryAccounting(long most) {
        this(most, CacheBudget.unlimited());
    }

    /**
     * @param most ceiling of this table: above it, nodes that nobody uses are dropped
     * @param budget shared with other tables
     */
    public MemoryAccounting(long most, CacheBudget budget) {
        this.most = most;
        this.budget = budget;
    }

    public long most() {
        return most;
    }

    CacheBudget budget() {
        return budget;
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

    /** Tells the budget, where there is much to tell. */
    void tell(int nodes) {
        long now = sum(nodes);
        long before = told.get();
        if (before != CLOSED && Math.abs(now - before) >= STEP_BYTES && told.compareAndSet(before, now)) {
            budget.add(now - before);
        }
    }

    /** The table is no more: nothing of it counts. */
    void close() {
        long before = told.getAndSet(CLOSED);
        if (before != CLOSED) {
            budget.add(-before);
        }
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

package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/**
 * The nodes of a table that neither the kernel knows nor anybody has open: kept as a cache, first come first dropped, within
 * the ceilings of the table and the {@link CacheBudget} of the process. Any thread.
 */
final class IdleNodes implements CacheBudget.Member {
    /** So many of the idle nodes that came last stay however many there are: somebody may be about to use them. */
    private static final int MAX_FRESH = 1024;
    /** So many idle nodes are looked at to make room for one. */
    private static final int MAX_TRIES = 4;
    /** The same where some take much memory. */
    private static final int MAX_TRIES_FOR_BYTES = 512;

    private final int most;
    private final MemoryAccounting bytes;
    private final CacheBudget budget;
    private final InodeMap nodes;
    private final PruneCandidates pruneCandidates;
    private final Clock clock;
    private final Predicate<Inode> drop;
    private final IdleList idle = new IdleList();
    private final LongAdder evicted = new LongAdder();

    /**
     * @param most nodes of the table
     * @param drop takes a node out of the table; false: it is in use, or leads to others
     */
    IdleNodes(
            int most,
            MemoryAccounting bytes,
            InodeMap nodes,
            PruneCandidates pruneCandidates,
            Clock clock,
            Predicate<Inode> drop) {
        this.most = most;
        this.bytes = bytes;
        this.budget = bytes.budget();
        this.nodes = nodes;
        this.pruneCandidates = pruneCandidates;
        this.clock = clock;
        this.drop = drop;
        budget.join(this);
    }

    /** Nodes dropped so far to make room for others. */
    long evicted() {
        return evicted.sum();
    }

    /** It is idle; in the queue it is once at most. */
    void add(Inode inode) {
        if (inode.startResting()) {
            idle.add(inode, clock.nanos());
        }
    }

    /** Keeps an idle inode as a cache, dropping older ones when there are too many. */
    void rest(Inode inode) {
        add(inode);
        int size = nodes.size();
        bytes.tell(size);
        int tries = bytes.tooMany(size) ? MAX_TRIES_FOR_BYTES : MAX_TRIES;
        while (isTooMuch() && tries-- > 0) {
            Inode oldest = idle.poll(fresh());
            if (oldest == null) {
                break;
            }
            evict(oldest);
        }
        pruneCandidates.look();
        budget.look();
    }

    private boolean isTooMuch() {
        int size = nodes.size();
        return size > most
                || bytes.tooMany(size)
                || budget.isTooMuch(bytes.sum(size))
                || pruneCandidates.isTooMuch(size);
    }

    private int fresh() {
        return Math.min(MAX_FRESH, most / 2);
    }

    private boolean evict(Inode oldest) {
        oldest.stopResting();
        boolean dropped = drop.test(oldest);
        if (dropped) {
            evicted.increment();
        }
        return dropped;
    }

    /** Names that are missing, and attributes, came without a node: they are told here. */
    @Override
    public long bytes() {
        int size = nodes.size();
        bytes.tell(size);
        return bytes.sum(size);
    }

    @Override
    public long oldestNanos() {
        return idle.oldestNanos(fresh());
    }

    @Override
    public int evict(int count) {
        int dropped = 0;
        for (int left = idle.size(); left > 0 && dropped < count; left--) {
            Inode oldest = idle.poll(fresh());
            if (oldest == null) {
                break;
            }
            dropped += evict(oldest) ? 1 : 0;
        }
        bytes.tell(nodes.size());
        return dropped;
    }

    @Override
    public void pruneTo(long wanted) {
        pruneCandidates.pruneTo(wanted);
    }

    /** The table is no more, and shares nothing. */
    void close() {
        budget.leave(this);
        bytes.close();
    }
}

package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.time.Clock;
import java.util.ArrayList;
import java.util.List;

/**
 * When the kernel knows so many more nodes than are to be kept that it is to be asked to let go of some, and of which. Any thread;
 * never waits.
 */
public final class PruneCandidates {
    /** So many times the limit. */
    private static final int TIMES = 2;
    /** Of no use for so long where fewer files were found than had to go. */
    private static final long IN_VAIN_NANOS = 60_000_000_000L;
    /** This part of the limit is made free at once. */
    private static final int SHARE = 16;

    private final InodeMap nodes;
    private final MemoryAccounting bytes;
    private final int most;
    private final Clock clock;
    private volatile Runnable crowded = () -> {};
    /** More than this is too much for the process. */
    private volatile long pruneToBytes = Long.MAX_VALUE;
    /** Since when it is of no use to ask for it, and whether it is; see {@link #some}. */
    private volatile long inVainNanos;

    private volatile boolean inVain;
    // Guarded by this.
    private int nextStripe;

    PruneCandidates(InodeMap nodes, MemoryAccounting bytes, int most, Clock clock) {
        this.nodes = nodes;
        this.bytes = bytes;
        this.most = most;
        this.clock = clock;
    }

    /** A node was added. */
    void look() {
        if (isThere() && !(inVain && clock.nanos() - inVainNanos < IN_VAIN_NANOS)) {
            crowded.run();
        }
    }

    private boolean isThere() {
        int size = nodes.size();
        return size > (long) TIMES * most || bytes.sum(size) / TIMES > bytes.most() || isTooMuch(size);
    }

    /** Do so many nodes take more than the process has room for? */
    boolean isTooMuch(int size) {
        return bytes.sum(size) > pruneToBytes;
    }

    /** The process has no room for more than this, as other volumes need it; {@link Long#MAX_VALUE}: it has. */
    void pruneTo(long wanted) {
        pruneToBytes = wanted;
        look();
    }

    /** So many nodes are too many for the process. */
    private long tooMany(int size) {
        long sum = bytes.sum(size);
        return sum <= pruneToBytes ? 0 : (long) (size * (double) (sum - pruneToBytes) / sum);
    }

    /** This is run, often, while the kernel knows more nodes than are to be kept, by whoever adds one; it must not wait. */
    public void whenThere(Runnable hears) {
        crowded = hears;
    }

    /**
     * Files that nobody has open, of which the kernel is to let go so that they can be dropped, others each time; none where that is
     * not needed.
     */
    public List<Inode> some(int atMost) {
        List<Inode> found = new ArrayList<>();
        if (!isThere()) {
            return found;
        }
        int size = nodes.size();
        long over = Math.max(size - (long) TIMES * most, tooMany(size));
        long wanted = Math.min(atMost, Math.max(over, 0) + Math.max(1, Math.min(most, size) / SHARE));
        for (int looked = 0; looked < nodes.stripes() && found.size() < wanted; looked++) {
            for (Inode inode : nodes.some(nextStripe())) {
                if (found.size() < wanted && !inode.isDirectory() && inode.isKnown() && inode.handles() == 0) {
                    found.add(inode);
                }
            }
        }
        inVainNanos = clock.nanos();
        inVain = found.size() < wanted; // what makes the crowd is open, or directories
        return found;
    }

    private synchronized int nextStripe() {
        nextStripe = (nextStripe + 1) % nodes.stripes();
        return nextStripe;
    }
}

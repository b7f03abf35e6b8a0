package io.posixgateway.alluxio.meta;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The memory that the cached metadata of all volumes of a process may take together. Any thread.
 *
 * <p>Each table counts itself, by steps of some {@value MemoryAccounting#STEP_BYTES} bytes. Near the limit the {@link #balance} evicts, on
 * a thread that holds no table's lock, what was unused longest in the volumes that hold more than an equal share: none can
 * take what the others hold of theirs. What cannot be evicted, since the kernel knows it, the kernel is asked to forget, in
 * the same volumes. A table that grows faster than that evicts from itself at the limit. Where nothing of this helps, as all is in
 * use, the others give back what they have.
 */
public final class CacheBudget {
    /** No table goes below this by {@link #shrink}: without names no call can be answered. */
    private static final long MIN_BYTES = 4L << 20;
    /** This part of the limit is kept free. */
    private static final int FREE_PART = 16;
    /** Where all is in use, it is looked again when so much more is. */
    private static final int STUCK_PART = 64;
    /** So many are evicted before it is looked again where. */
    private static final int BATCH = 256;

    private final long mostBytes;
    private final Executor balancer;
    private final AtomicBoolean balancing = new AtomicBoolean();
    private final AtomicLong usedBytes = new AtomicLong();
    private final List<Member> members = new CopyOnWriteArrayList<>();
    private volatile long limitBytes;
    /** Below this, another balance would find no more than the last one. */
    private volatile long stuckBytes;

    /** The cache of one volume. */
    interface Member {
        long bytes();

        /** When what was unused longest became so; {@link Long#MAX_VALUE}: nothing can be evicted. */
        long oldestNanos();

        /** Evicts so many at most, the oldest first; returns how many. Not under a table's lock. */
        int evict(int nodes);

        /** The kernel is to forget files until no more than this is taken; {@link Long#MAX_VALUE}: it need not. */
        void pruneTo(long bytes);
    }

    /**
     * @param mostBytes at least some megabytes, or {@link Long#MAX_VALUE}
     * @param balancer runs {@link #balance} soon; under no lock of a caller that matters here
     */
    public CacheBudget(long mostBytes, Executor balancer) {
        this.mostBytes = mostBytes;
        this.limitBytes = mostBytes;
        this.balancer = balancer;
    }

    /** Of a table that shares with none. */
    static CacheBudget unlimited() {
        return new CacheBudget(Long.MAX_VALUE, work -> {});
    }

    void join(Member member) {
        members.add(member);
    }

    void leave(Member member) {
        members.remove(member);
    }

    void add(long bytes) {
        usedBytes.addAndGet(bytes);
    }

    /** What all tables take together, by their last counts. */
    public long usedBytes() {
        return usedBytes.get();
    }

    /** What they may take now. */
    public long limitBytes() {
        return limitBytes;
    }

    /** What they may take where memory is not short. */
    public long mostBytes() {
        return mostBytes;
    }

    /** Volumes that share it. */
    public int volumes() {
        return members.size();
    }

    /** Is a table of so many bytes to make room by itself, at once? */
    boolean isTooMuch(long ownBytes) {
        return usedBytes.get() > limitBytes && (ownBytes > share() || isDesperate());
    }

    /** Does what is in use not leave room for the others' shares? */
    private boolean isDesperate() {
        return usedBytes.get() - limitBytes > limitBytes / FREE_PART;
    }

    private long targetBytes() {
        return limitBytes - limitBytes / FREE_PART;
    }

    /** Something was added: has somebody balance soon, where that is needed. Never waits. */
    void look() {
        if (usedBytes.get() > Math.max(targetBytes(), stuckBytes) && balancing.compareAndSet(false, true)) {
            balancer.execute(() -> {
                balancing.set(false);
                balance();
            });
        }
    }

    /** Memory is short: a quarter of what is taken goes, and does not come back before {@link #grow}. */
    public void shrink() {
        limitBytes = Math.max(Math.min(MIN_BYTES, mostBytes), Math.min(limitBytes, usedBytes.get()) / 4 * 3);
        balance();
    }

    /** Memory is not short: a part of what {@link #shrink} took is allowed again. */
    public void grow() {
        long step = mostBytes / FREE_PART;
        limitBytes = mostBytes - limitBytes <= step ? mostBytes : limitBytes + step;
    }

    /** Was everything given back that can be? */
    public boolean isSpent() {
        return limitBytes <= Math.min(MIN_BYTES, mostBytes);
    }

    /** Evicts until there is some room, if there is anything to evict. Not under a table's lock; once a second, besides. */
    public void balance() {
        Set<Member> spent = new HashSet<>();
        while (usedBytes.get() > targetBytes()) {
            Member next = next(spent);
            if (next == null) {
                break;
            }
            if (next.evict(BATCH) == 0) {
                spent.add(next);
            }
        }
        prune();
        long used = usedBytes.get();
        stuckBytes = used > targetBytes() ? used + limitBytes / STUCK_PART : 0;
    }

    /** Where to evict next; null: nowhere. */
    private @Nullable Member next(Set<Member> spent) {
        long least = isDesperate() ? 0 : share();
        return members.stream()
                .filter(member ->
                        member.bytes() > least && !spent.contains(member) && member.oldestNanos() != Long.MAX_VALUE)
                .min(Comparator.comparing((Member member) -> member.bytes() <= share())
                        .thenComparingLong(Member::oldestNanos))
                .orElse(null);
    }

    private long share() {
        return targetBytes() / Math.max(1, members.size());
    }

    /** What is too much is what the kernel knows: those beyond their share give it back, each in proportion. */
    private void prune() {
        long tooMuch = usedBytes.get() - targetBytes();
        long share = share();
        long beyond = members.stream()
                .mapToLong(member -> Math.max(0, member.bytes() - share))
                .sum();
        for (Member member : members) {
            long bytes = member.bytes();
            boolean gives = tooMuch > 0 && bytes > share;
            double part = (double) (bytes - share) / beyond;
            member.pruneTo(gives ? bytes - (long) (part * Math.min(tooMuch, beyond)) : Long.MAX_VALUE);
        }
    }
}

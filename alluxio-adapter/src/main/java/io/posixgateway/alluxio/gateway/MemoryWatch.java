package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.meta.CacheBudget;
import io.posixgateway.alluxio.read.BufferBudget;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a process away from the end of its memory: the heap's, and its control group's. One thread {@link #look looks}, once a
 * second; any thread may ask.
 *
 * <pre>
 *         85 %                  90 %
 *  CALM ────────▶ NEAR ───────────────────▶ SHORT
 *    ▲  below 80 %  │ ▲      below 88 %       │
 *    └──────────────┘ └───────────────────────┘
 * </pre>
 *
 * Beyond 85 % a quarter of the cached metadata goes, and all other caches, again after each {@value #SETTLE_LOOKS} looks: it
 * takes the collector a while to give memory back. When no cache is left, each try costs as much and brings little: the next one
 * comes after twice the time, {@value #MAX_SETTLE_LOOKS} looks at most, until the process is calm, or gets short anew. In SHORT no new
 * volume is taken, besides. In CALM the caches may grow again, a sixteenth with each look.
 */
public final class MemoryWatch {
    private static final Logger LOG = LoggerFactory.getLogger(MemoryWatch.class);
    private static final double CALM = 0.80;
    private static final double NEAR = 0.85;
    private static final double SHORT = 0.90;
    private static final double SHORT_NO_MORE = 0.88;
    /** All tasks waited for memory in so much of the last ten seconds: that is near, however much is left. */
    private static final double STALLED_PERCENT = 20;

    private static final int SETTLE_LOOKS = 10;
    private static final int MAX_SETTLE_LOOKS = 640;

    private final Supplier<MemoryGroup.Reading> group;
    private final Supplier<MemoryGroup.Reading> heap;
    private final CacheBudget cache;
    private final Runnable otherCaches;
    private volatile State state = State.CALM;
    private volatile MemoryGroup.Reading nearest = MemoryGroup.Reading.NONE;
    private volatile boolean byHeap;
    private final AtomicLong refused = new AtomicLong();
    /** Since caches were given back; of the one thread that looks. */
    private int looks = SETTLE_LOOKS;
    /** So many before it is tried again; of the same thread. */
    private int settleLooks = SETTLE_LOOKS;

    /** How near the process is. */
    enum State {
        CALM,
        NEAR,
        SHORT
    }

    /**
     * @param heap what lives in it, as the last collection left it
     * @param otherCaches gives back what can be made anew, but for metadata
     */
    public MemoryWatch(
            Supplier<MemoryGroup.Reading> group,
            Supplier<MemoryGroup.Reading> heap,
            CacheBudget cache,
            Runnable otherCaches) {
        this.group = group;
        this.heap = heap;
        this.cache = cache;
        this.otherCaches = otherCaches;
    }

    /** Of this process. */
    public static MemoryWatch ofProcess(CacheBudget cache) {
        MemoryGroup group = MemoryGroup.ofProcess();
        return new MemoryWatch(group::read, MemoryWatch::heapNow, cache, MemoryWatch::giveBack);
    }

    private static void giveBack() {
        BufferBudget.giveBackUnused();
        SpareHeap.giveBack();
    }

    /** The generation in which nearly all that lives is. */
    private static MemoryGroup.Reading heapNow() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage left = pool.getName().contains("Old Gen") ? pool.getCollectionUsage() : null;
            if (left != null) {
                // What a concurrent cycle frees is seen in the second number alone.
                long live = Math.min(left.getUsed(), pool.getUsage().getUsed());
                return new MemoryGroup.Reading(live, Runtime.getRuntime().maxMemory(), 0);
            }
        }
        return MemoryGroup.Reading.NONE;
    }

    /** Looks at the memory and does what the state asks for. */
    public void look() {
        MemoryGroup.Reading ofGroup = group.get();
        MemoryGroup.Reading ofHeap = heap.get();
        byHeap = ofHeap.part() > ofGroup.part();
        nearest = byHeap ? ofHeap : ofGroup;
        boolean near = nearest.part() >= NEAR || ofGroup.stalledPercent() >= STALLED_PERCENT;
        State before = state;
        State now = next(before, near, nearest.part());
        state = now;
        if (now != before) {
            log(before, now);
        }
        boolean worse = now == State.SHORT && before != State.SHORT;
        if (now == State.CALM || worse) {
            settleLooks = SETTLE_LOOKS;
        }
        looks++;
        if (near && looks > settleLooks) {
            giveBackAll();
        } else if (now == State.CALM) {
            cache.grow();
        }
        cache.balance();
    }

    private void giveBackAll() {
        looks = 0;
        settleLooks = cache.isSpent() ? Math.min(2 * settleLooks, MAX_SETTLE_LOOKS) : SETTLE_LOOKS;
        cache.shrink();
        otherCaches.run();
    }

    private static State next(State before, boolean near, double part) {
        if (part >= SHORT || (part >= SHORT_NO_MORE && before == State.SHORT)) {
            return State.SHORT;
        }
        return near || (part >= CALM && before != State.CALM) ? State.NEAR : State.CALM;
    }

    private void log(State before, State now) {
        if (now == State.SHORT) {
            LOG.error("Memory is short: {}; caches are evicted, and new volumes are refused", words());
        } else if (before == State.CALM) {
            LOG.warn("Memory is getting short: {}; caches are evicted", words());
        } else {
            LOG.info("Memory is {}: {}", now == State.CALM ? "sufficient again" : "less short", words());
        }
    }

    /** What is nearest to its limit, and how near. */
    private String words() {
        MemoryGroup.Reading now = nearest;
        return (now.usedBytes() >> 20) + " of " + (now.limitBytes() >> 20) + " MiB of "
                + (byHeap ? "the heap (POSIX_GATEWAY_HEAP)" : "the memory limit of the container, or control group")
                + " are in use";
    }

    State state() {
        return state;
    }

    /** As metrics show it. */
    public MemoryCounts counts() {
        MemoryGroup.Reading now = nearest;
        return new MemoryCounts(
                cache.usedBytes(),
                cache.limitBytes(),
                cache.volumes(),
                now.part(),
                state.name().toLowerCase(Locale.ROOT),
                refused.get());
    }

    /** Why no new volume can be taken, and what to do, which counts as refused; null: one can be. */
    @Nullable
    String refuse() {
        if (state != State.SHORT) {
            return null;
        }
        refused.incrementAndGet();
        return "this gateway accepts no new volume for now: " + words()
                + ", although its caches were evicted; the attach is retried. Raise the memory limit"
                + " (node.gateway.resources.limits.memory), or run fewer pods with volumes on this node";
    }
}

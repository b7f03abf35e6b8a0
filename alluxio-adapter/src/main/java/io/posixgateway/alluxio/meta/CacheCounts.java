package io.posixgateway.alluxio.meta;

import java.util.concurrent.atomic.LongAdder;

/**
 * How often a question was answered from memory (a hit), and how often it was put to Alluxio (a miss). Any thread; adding
 * takes no lock.
 */
public final class CacheCounts {
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    public void hit() {
        hits.increment();
    }

    public void miss() {
        misses.increment();
    }

    public long hits() {
        return hits.sum();
    }

    public long misses() {
        return misses.sum();
    }
}

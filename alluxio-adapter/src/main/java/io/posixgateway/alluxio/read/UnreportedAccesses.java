package io.posixgateway.alluxio.read;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Ids of blocks that were read and that the worker was not told of, at most so many; what finds no room is left out until it
 * is read again. Any thread; nothing waits, and to add one allocates nothing.
 *
 * <p>A hash table of which nothing is taken but all at once. An id is in one of a few places that follow each other; it may be
 * in two of them when it was added while all were taken, and is then told twice, which does no harm. 0 marks an empty place.
 */
final class UnreportedAccesses {
    static final int MAX = 1 << 16;
    private static final int PLACES_OF_ONE = 16;

    private final AtomicLongArray places = new AtomicLongArray(MAX);

    void add(long blockId) {
        int first = (int) ((blockId * 0x9E3779B97F4A7C15L) >>> 48);
        for (int i = 0; i < PLACES_OF_ONE; i++) {
            int at = (first + i) % MAX;
            long there = places.get(at);
            if (there == 0) {
                there = places.compareAndExchange(at, 0, blockId);
            }
            if (there == 0 || there == blockId) {
                return;
            }
        }
    }

    List<Long> takeAll() {
        List<Long> all = new ArrayList<>();
        for (int at = 0; at < MAX; at++) {
            long blockId = places.get(at) == 0 ? 0 : places.getAndSet(at, 0);
            if (blockId != 0) {
                all.add(blockId);
            }
        }
        return all;
    }
}

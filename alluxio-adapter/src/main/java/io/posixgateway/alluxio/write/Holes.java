package io.posixgateway.alluxio.write;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The ranges of a spool file that hold nothing and read as zeros. Guarded as the spool is.
 *
 * <p>Their bounds are multiples of a block of the disk: a block of which any byte was written is held. A file without holes, as
 * nearly all are, costs nothing here. Of a file with more than {@link #MAX} holes, one that is written in its middle is taken
 * for held from its beginning on, which is more than is true.
 */
final class Holes {
    static final int MAX = 1 << 16;

    private static final long BLOCK_BYTES = 4096;

    /** End by beginning; no two touch. Null: there are none. */
    private @Nullable NavigableMap<Long, Long> ends;

    private long bytes;

    /** What all of them take together. */
    long bytes() {
        return bytes;
    }

    boolean isEmpty() {
        return bytes == 0;
    }

    private static long roundDown(long offset) {
        return offset & -BLOCK_BYTES;
    }

    private static long roundUp(long offset) {
        return roundDown(offset + BLOCK_BYTES - 1);
    }

    /** How many bytes of whole blocks lie in this range. */
    static long wholeBytes(long from, long to) {
        return Math.max(0, roundDown(to) - roundUp(from));
    }

    /** The range holds nothing from now on; returns what is held less. */
    long add(long from, long to) {
        long begin = roundUp(from);
        long end = roundDown(to);
        if (begin >= end) {
            return 0;
        }
        long before = bytes;
        if (ends == null) {
            ends = new TreeMap<>();
        }
        NavigableMap<Long, Long> all = ends;
        Map.Entry<Long, Long> near = all.floorEntry(end);
        while (near != null && near.getValue() >= begin) {
            begin = Math.min(begin, near.getKey());
            end = Math.max(end, near.getValue());
            remove(all, near);
            near = all.floorEntry(end);
        }
        all.put(begin, end);
        bytes += end - begin;
        return bytes - before;
    }

    private void remove(NavigableMap<Long, Long> all, Map.Entry<Long, Long> hole) {
        all.remove(hole.getKey());
        bytes -= hole.getValue() - hole.getKey();
    }

    /** How much more will be held once this range is. */
    long filledBy(long from, long to) {
        NavigableMap<Long, Long> all = ends;
        if (all == null || from >= to) {
            return 0;
        }
        long begin = begin(all, roundDown(from), roundUp(to));
        long end = roundUp(to);
        long sum = 0;
        Map.Entry<Long, Long> hole = all.lowerEntry(end);
        while (hole != null && hole.getValue() > begin) {
            sum += Math.min(end, hole.getValue()) - Math.max(begin, hole.getKey());
            hole = all.lowerEntry(hole.getKey());
        }
        return sum;
    }

    /** From where on the range is taken for held. */
    private static long begin(NavigableMap<Long, Long> all, long from, long to) {
        if (all.size() < MAX) {
            return from;
        }
        Map.Entry<Long, Long> around = all.floorEntry(from);
        boolean splits = around != null && around.getKey() < from && around.getValue() > to;
        return splits ? around.getKey() : from;
    }

    /** The range is held from now on. */
    void fill(long from, long to) {
        NavigableMap<Long, Long> all = ends;
        if (all == null || from >= to) {
            return;
        }
        long begin = begin(all, roundDown(from), roundUp(to));
        long end = roundUp(to);
        Map.Entry<Long, Long> hole = all.lowerEntry(end);
        while (hole != null && hole.getValue() > begin) {
            remove(all, hole);
            put(all, hole.getKey(), Math.min(begin, hole.getValue()));
            put(all, Math.max(end, hole.getKey()), hole.getValue());
            hole = all.lowerEntry(hole.getKey());
        }
        if (all.isEmpty()) {
            ends = null;
        }
    }

    private void put(NavigableMap<Long, Long> all, long begin, long end) {
        if (begin < end) {
            all.put(begin, end);
            bytes += end - begin;
        }
    }

    /** Nothing is behind this offset any more. */
    void cut(long at) {
        NavigableMap<Long, Long> all = ends;
        if (all == null) {
            return;
        }
        long end = roundDown(at);
        Map.Entry<Long, Long> last = all.lastEntry();
        while (last != null && last.getValue() > end) {
            remove(all, last);
            put(all, last.getKey(), Math.min(end, last.getValue()));
            last = all.lastEntry();
        }
        if (all.isEmpty()) {
            ends = null;
        }
    }

    /** Where the hole ends that this offset is in; the offset itself where it is in none. */
    long endAt(long offset) {
        NavigableMap<Long, Long> all = ends;
        Map.Entry<Long, Long> hole = all == null ? null : all.floorEntry(offset);
        return hole == null ? offset : Math.max(offset, hole.getValue());
    }

    /** Where the first hole begins at or behind this offset, or the limit. */
    long beginBehind(long offset, long limit) {
        NavigableMap<Long, Long> all = ends;
        Long begin = all == null ? null : all.ceilingKey(offset);
        return begin == null ? limit : Math.min(begin, limit);
    }
}

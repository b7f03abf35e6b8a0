package io.posixgateway.alluxio.meta;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table from positive longs to objects that finds without allocating. Any thread.
 *
 * <p>Striped: each stripe is an open-addressing table of its own under its own monitor, held for a few instructions. Key 0
 * marks an empty place.
 */
public final class LongMap<V> {
    private static final int STRIPES = 32;

    private final Stripe<V>[] stripes;

    @SuppressWarnings({"unchecked", "rawtypes"})
    public LongMap() {
        stripes = new Stripe[STRIPES];
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe<>();
        }
    }

    public @Nullable V get(long key) {
        return stripe(key).get(key);
    }

    /** Returns what was there before. */
    public @Nullable V put(long key, V value) {
        return stripe(key).put(key, value, true);
    }

    /** Puts it unless something is there, which is then returned. */
    public @Nullable V putIfAbsent(long key, V value) {
        return stripe(key).put(key, value, false);
    }

    public @Nullable V remove(long key) {
        return stripe(key).remove(key);
    }

    /** Removes all, stripe by stripe. */
    public void clear() {
        for (Stripe<V> stripe : stripes) {
            stripe.clear();
        }
    }

    /** How many there are; exact only when nobody changes the table. */
    public int size() {
        int sum = 0;
        for (Stripe<V> stripe : stripes) {
            sum += stripe.size;
        }
        return sum;
    }

    /** Calls for each value, stripe by stripe, under no lock. */
    public void forEach(Consumer<V> action) {
        for (Stripe<V> stripe : stripes) {
            stripe.snapshot().forEach(action);
        }
    }

    /** The values that there are now. */
    public List<V> all() {
        List<V> all = new ArrayList<>();
        forEach(all::add);
        return all;
    }

    private Stripe<V> stripe(long key) {
        return stripes[(int) (mix(key) >>> 59)];
    }

    private static long mix(long key) {
        return key * 0x9E3779B97F4A7C15L;
    }

    private static final class Stripe<V> {
        private long[] keys = new long[16];
        private @Nullable Object[] values = new @Nullable Object[16];
        private volatile int size;

        synchronized @Nullable V get(long key) {
            return valueAt(find(key));
        }

        @SuppressWarnings("unchecked")
        private @Nullable V valueAt(int at) {
            return (V) values[at];
        }

        /** Where the key is, or the empty place where it would go. */
        private int find(long key) {
            int mask = keys.length - 1;
            int at = (int) (mix(key) >>> 20) & mask;
            while (keys[at] != 0 && keys[at] != key) {
                at = (at + 1) & mask;
            }
            return at;
        }

        @SuppressWarnings("NonAtomicVolatileUpdate")
        synchronized @Nullable V put(long key, V value, boolean replace) {
            int at = find(key);
            if (keys[at] == key) {
                V before = valueAt(at);
                if (replace) {
                    values[at] = value;
                }
                return before;
            }
            keys[at] = key;
            values[at] = value;
            size++;
            if (size * 2 > keys.length) {
                grow();
            }
            return null;
        }

        @SuppressWarnings("NonAtomicVolatileUpdate")
        synchronized @Nullable V remove(long key) {
            int at = find(key);
            if (keys[at] != key) {
                return null;
            }
            V before = valueAt(at);
            size--;
            closeGap(at);
            return before;
        }

        /** Moves those behind a freed place up, so that searches still find them. */
        private void closeGap(int freed) {
            int mask = keys.length - 1;
            int gap = freed;
            int at = (gap + 1) & mask;
            while (keys[at] != 0) {
                int home = (int) (mix(keys[at]) >>> 20) & mask;
                if (((at - home) & mask) >= ((at - gap) & mask)) {
                    keys[gap] = keys[at];
                    values[gap] = values[at];
                    gap = at;
                }
                at = (at + 1) & mask;
            }
            keys[gap] = 0;
            values[gap] = null;
        }

        private void grow() {
            long[] oldKeys = keys;
            @Nullable Object[] oldValues = values;
            keys = new long[oldKeys.length * 2];
            values = new @Nullable Object[oldKeys.length * 2];
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldKeys[i] != 0) {
                    int at = find(oldKeys[i]);
                    keys[at] = oldKeys[i];
                    values[at] = oldValues[i];
                }
            }
        }

        synchronized void clear() {
            keys = new long[16];
            values = new @Nullable Object[16];
            size = 0;
        }

        synchronized java.util.List<V> snapshot() {
            java.util.List<V> all = new java.util.ArrayList<>(size);
            for (int i = 0; i < keys.length; i++) {
                V value = valueAt(i);
                if (value != null) {
                    all.add(value);
                }
            }
            return all;
        }
    }
}

package io.posixgateway.alluxio.meta;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Inodes by node id, four to twelve bytes each; finds without allocating. Any thread.
 *
 * <p>Striped: each stripe is an open-addressing table of its own under its own monitor, held for a few instructions.
 */
final class InodeMap {
    private static final int STRIPES = 32;

    private final Stripe[] stripes = new Stripe[STRIPES];

    InodeMap() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    @Nullable
    Inode get(long node) {
        return stripe(node).get(node);
    }

    /** Puts it unless its node id is there, whose inode is then returned. */
    @Nullable
    Inode putIfAbsent(Inode inode) {
        return stripe(inode.node()).putIfAbsent(inode);
    }

    void remove(long node) {
        stripe(node).remove(node);
    }

    /** How many there are; exact only when nobody changes the table. */
    int size() {
        int sum = 0;
        for (Stripe stripe : stripes) {
            sum += stripe.size;
        }
        return sum;
    }

    /** The inodes of one stripe of {@link #stripes}, as they are at some time meanwhile. */
    List<Inode> some(int stripe) {
        return stripes[stripe].copy();
    }

    int stripes() {
        return STRIPES;
    }

    private Stripe stripe(long node) {
        return stripes[(int) (mix(node) >>> 59)];
    }

    private static long mix(long node) {
        return node * 0x9E3779B97F4A7C15L;
    }

    private static final class Stripe {
        private @Nullable Inode[] places = new @Nullable Inode[16];
        private volatile int size;

        synchronized @Nullable Inode get(long node) {
            return places[place(node)];
        }

        /** Where the node is, or the empty place where it would go. */
        private int place(long node) {
            int mask = places.length - 1;
            int at = home(node, mask);
            for (Inode there = places[at]; there != null && there.node() != node; there = places[at]) {
                at = (at + 1) & mask;
            }
            return at;
        }

        private static int home(long node, int mask) {
            return (int) (mix(node) >>> 20) & mask;
        }

        @SuppressWarnings("NonAtomicVolatileUpdate")
        synchronized @Nullable Inode putIfAbsent(Inode inode) {
            int at = place(inode.node());
            Inode before = places[at];
            if (before != null) {
                return before;
            }
            places[at] = inode;
            size++;
            if (size * 4 > places.length * 3) {
                grow();
            }
            return null;
        }

        @SuppressWarnings("NonAtomicVolatileUpdate")
        synchronized void remove(long node) {
            int at = place(node);
            if (places[at] != null) {
                size--;
                closeGap(at);
            }
        }

        /** Moves those behind a freed place up, so that searches still find them. */
        private void closeGap(int freed) {
            int mask = places.length - 1;
            int gap = freed;
            int at = (gap + 1) & mask;
            for (Inode there = places[at]; there != null; there = places[at]) {
                if (((at - home(there.node(), mask)) & mask) >= ((at - gap) & mask)) {
                    places[gap] = there;
                    gap = at;
                }
                at = (at + 1) & mask;
            }
            places[gap] = null;
        }

        synchronized List<Inode> copy() {
            List<Inode> all = new ArrayList<>(size);
            for (Inode inode : places) {
                if (inode != null) {
                    all.add(inode);
                }
            }
            return all;
        }

        private void grow() {
            @Nullable Inode[] old = places;
            places = new @Nullable Inode[old.length * 2];
            for (Inode inode : old) {
                if (inode != null) {
                    places[place(inode.node())] = inode;
                }
            }
        }
    }
}

package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.FileSystem;

/**
 * The ids of nodes: a file's id in Alluxio plus a base, and above it a mark that tells nodes of one file id apart. Any thread.
 *
 * <pre>
 *   bits 60-62  generation: how many processes served the session before, and how many Alluxios answered, modulo 8
 *   bits 56-59  turn: 0 for the first node of a file, 1 for that of a file of another Alluxio than the first, more for those split off
 *   bits  0-55  file id + 2; Alluxio's ids are a counter above 24 bits that stays below
 * </pre>
 *
 * <p>File ids begin anew when Alluxio is formatted. From then on every node has a mark that no node of before has, so that an id of
 * before is never taken for a file of now: {@link #isForeign}. Of nodes that were split off, as only the files of a read-only mount are,
 * that holds until eight more processes have served the session, and the kernel still knows the node.
 */
public final class NodeIds {
    static final int BASE = 2;
    static final int MAX_TURN = 14;

    private static final int MARK_SHIFT = 56;
    private static final int GENERATIONS = 8;
    private static final int TURNS = 16;
    /** Of the first node of a file of another Alluxio than the first: the generation says of which. */
    private static final int LATER = 1;

    private static final int FIRST = -1;

    private volatile int generation;
    /** The generation in which the Alluxio that answers now did so first; FIRST: no other one did. */
    private volatile int began = FIRST;

    /**
     * Before any node but the root is made.
     *
     * @param now how many generations there were before this one, as far as that could be stored
     * @param first the one that {@link #beginAnew} returned last; negative: none
     */
    public void startAt(int now, int first) {
        generation = Math.max(now, first);
        began = first < 0 ? FIRST : first;
    }

    /** All nodes of before are foreign from now on; returns the generation that begins. */
    int beginAnew() {
        int next = generation + 1;
        if (began != FIRST && next % GENERATIONS == began % GENERATIONS) {
            next++;
        }
        generation = next;
        began = next;
        return next;
    }

    /** The generation that the Alluxio that answers began with; negative: it is the first one. */
    public int began() {
        return began;
    }

    /** The id of a file's node, unless that was split off or began with another file. */
    public long of(long fileId) {
        return began == FIRST ? plain(fileId) : marked(fileId, began, LATER);
    }

    /** The id of the node that is split off in this turn; turn 0: the file's own. */
    long split(long fileId, int turn) {
        return turn == 0 ? of(fileId) : marked(fileId, generation, turn + LATER);
    }

    /** Is it the node of a file of another Alluxio, or of this one before it was formatted? */
    public boolean isForeign(long node) {
        int first = began;
        if (first == FIRST || node == FileSystem.ROOT) {
            return false;
        }
        int mark = (int) (node >>> MARK_SHIFT) & (GENERATIONS * TURNS - 1);
        int age = Math.floorMod(mark / TURNS - first, GENERATIONS);
        int turn = mark % TURNS;
        return turn == 0 || (turn == LATER ? age != 0 : age > generation - first);
    }

    static long plain(long fileId) {
        return fileId + BASE;
    }

    static long fileId(long node) {
        return (node & ((1L << MARK_SHIFT) - 1)) - BASE;
    }

    private static long marked(long fileId, int generation, int turn) {
        long mark = (long) (generation % GENERATIONS) * TURNS + turn;
        return plain(fileId) | mark << MARK_SHIFT;
    }
}

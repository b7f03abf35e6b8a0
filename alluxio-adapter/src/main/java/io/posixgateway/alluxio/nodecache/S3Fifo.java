package io.posixgateway.alluxio.nodecache;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which pieces stay: S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi: FIFO queues are all you need for cache eviction, SOSP 2023). New pieces enter
 * a small queue of a twentieth of the room and leave it soon, unless they were read again there; who returns while it is remembered as a ghost
 * enters the main queue.
 *
 * <pre>
 *   new ─► small ──(read twice)──► main ─┐ not stale: to its end
 *             └──(else)──► ghost ──┘  ◄──┘
 * </pre>
 *
 * <p>Scans of data larger than the cache, such as the epochs of a training, read everything equally often: a cache that replaces then
 * loses what it would need next. Therefore, unlike in the paper, a newcomer replaces a piece of main only when that is stale: not read for
 * {@link #STALE} times as long as pieces of main usually are until they are read again. Time is counted in pieces that are added. Each
 * newcomer advances the hand of main by one piece. Newcomers are ghosts that return, and one of {@link #AGING} pieces that leave the small
 * queue, so that main follows a change to other data, too. And while main has room, new pieces fill it.
 *
 * <p>Open pieces are not evicted, and count. Guarded by the table's monitor.
 */
final class S3Fifo {
    static final int AGING = 4;
    static final int STALE = 4;
    private static final int SMALL_PART = 20;

    private final PieceQueue small = new PieceQueue();
    private final PieceQueue main = new PieceQueue();
    private final GhostTable ghosts = new GhostTable();
    private int left;
    private int now;
    /** How long pieces of main are usually not read, on average over as many reads as it has pieces; negative: none was read again. */
    private double reuse = -1;

    long bytes() {
        return small.bytes() + main.bytes();
    }

    int size() {
        return small.size() + main.size();
    }

    void accessed(Piece piece) {
        if (piece.accesses < Piece.MAX_ACCESSES) {
            piece.accesses++;
        }
        if (piece.queue == main) {
            int age = now - piece.readAt;
            reuse = reuse < 0 ? age : reuse + (age - reuse) / main.size();
        }
        piece.readAt = now;
    }

    /**
     * Enters a piece, for which there is room.
     *
     * @param wanted somebody asked to have it here, before it is read: it enters main
     */
    void add(Piece piece, long limitBytes, boolean wanted) {
        piece.readAt = ++now;
        if (wanted || hasRoom(piece, limitBytes) || (isGhost(piece) && replaces())) {
            main.addLast(piece);
        } else {
            small.addLast(piece);
        }
    }

    private boolean isGhost(Piece piece) {
        return ghosts.remove(piece.file.hash(piece.index), main.size());
    }

    private boolean hasRoom(Piece piece, long limitBytes) {
        return main.bytes() + piece.bytes() <= limitBytes - limitBytes / SMALL_PART;
    }

    /** Advances the hand; true: what was there is evicted next, and a newcomer may take its place in main. */
    private boolean replaces() {
        Piece next = main.first();
        if (next == null) {
            return true;
        }
        if (!isStale(next)) {
            main.addLast(next);
            return false;
        }
        next.accesses = 0;
        small.addFirst(next);
        return true;
    }

    private boolean isStale(Piece piece) {
        double usual = reuse < 0 ? (double) STALE * main.size() : Math.max(reuse, main.size());
        return now - piece.readAt > STALE * usual;
    }

    /**
     * Evicts the next piece.
     *
     * @param victims gets it
     * @return false: all are open
     */
    boolean evict(List<Piece> victims) {
        int triesOfSmall = small.size() * 2 + 1;
        int tries = triesOfSmall + main.size() + 1;
        for (int i = 0; i < tries; i++) {
            Piece victim = small.size() == 0 || i >= triesOfSmall ? fromMain() : fromSmall();
            if (victim != null) {
                victims.add(victim);
                return true;
            }
        }
        return false;
    }

    /** Where the small queue has none. */
    private @Nullable Piece fromMain() {
        Piece next = main.first();
        if (next == null) {
            return null;
        }
        if (next.pins > 0) {
            main.addLast(next);
            return null;
        }
        main.remove(next);
        return next;
    }

    private @Nullable Piece fromSmall() {
        Piece next = small.first();
        if (next == null) {
            return null;
        }
        boolean isWanted = next.accesses > 1 || ++left % AGING == 0;
        if (isWanted && replaces()) {
            main.addLast(next);
            return null;
        }
        if (next.pins > 0 || next.accesses > 1) {
            next.accesses = 0;
            small.addLast(next);
            return null;
        }
        small.remove(next);
        ghosts.add(next.file.hash(next.index), main.size());
        return next;
    }

    /** It is no longer there. */
    void remove(Piece piece) {
        if (piece.queue != null) {
            piece.queue.remove(piece);
        }
    }
}

package io.posixgateway.alluxio.nodecache;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the pieces of a cache: which there are, how they are used, and which are evicted next. Any thread; the monitor is held
 * for a few instructions, and never while a disk is waited for.
 */
final class PieceTable {
    private final int maxPieces;
    private final Map<Piece, Piece> pieces = new HashMap<>();
    private final S3Fifo order = new S3Fifo();
    private long limitBytes;
    private int pinned;

    /**
     * @param limitBytes of all pieces together
     * @param maxPieces how many, as each takes memory
     */
    PieceTable(long limitBytes, int maxPieces) {
        this.limitBytes = limitBytes;
        this.maxPieces = maxPieces;
    }

    synchronized void clear() {
        all().forEach(order::remove);
        pieces.clear();
    }

    /** @param wanted see {@link S3Fifo#add} */
    synchronized void enter(Piece piece, boolean wanted) {
        Piece other = pieces.put(piece, piece);
        if (other != null) {
            order.remove(other);
        }
        order.add(piece, limitBytes, wanted);
    }

    /** False: it is not there, or another one is in its place. */
    synchronized boolean leave(Piece piece) {
        Piece there = pieces.remove(piece);
        if (there == null) {
            return false;
        }
        order.remove(there);
        return true;
    }

    /** As {@link #leave}, of this piece itself: false, too, where an equal one is in its place. */
    synchronized boolean leaveItself(Piece piece) {
        return holds(piece) && leave(piece);
    }

    /** False: another one is in its place, or none. */
    @SuppressWarnings("ReferenceEquality") // an equal one may have been written since
    synchronized boolean holds(Piece piece) {
        return pieces.get(piece) == piece;
    }

    synchronized List<Piece> all() {
        return new ArrayList<>(pieces.values());
    }

    /** Volumes want it to be at least so large. */
    synchronized void raiseLimit(long bytes) {
        limitBytes = Math.max(limitBytes, bytes);
    }

    synchronized boolean has(CacheKey file, int index) {
        return pieces.containsKey(new Piece(file, index, 0, false));
    }

    /** Is it there, and known to be what was written? */
    synchronized boolean hasVerified(CacheKey file, int index) {
        Piece piece = pieces.get(new Piece(file, index, 0, false));
        return piece != null && piece.verified;
    }

    /** A piece that is not evicted until {@link #unpin}; null: it is not there. */
    synchronized @Nullable Piece pin(CacheKey file, int index) {
        Piece piece = pieces.get(new Piece(file, index, 0, false));
        if (piece != null) {
            pinned += piece.pins == 0 ? 1 : 0;
            piece.pins++;
            order.accessed(piece);
        }
        return piece;
    }

    synchronized void unpin(Piece piece) {
        piece.pins--;
        pinned -= piece.pins == 0 ? 1 : 0;
    }

    /** Evicts pieces until all have so many bytes, and one more may come; fewer where too many are open. Returns them. */
    synchronized List<Piece> evictTo(long bytes) {
        List<Piece> victims = new ArrayList<>();
        boolean more = true;
        while (more && (order.bytes() > Math.max(0, bytes) || order.size() >= maxPieces)) {
            more = order.evict(victims);
        }
        victims.forEach(pieces::remove);
        return victims;
    }

    /** Is there room for one more of so many bytes? */
    synchronized boolean hasRoom(int bytes) {
        return order.bytes() + bytes <= limitBytes && order.size() < maxPieces;
    }

    synchronized int size() {
        return pieces.size();
    }

    synchronized long bytes() {
        return order.bytes();
    }

    synchronized int pinned() {
        return pinned;
    }

    synchronized long limitBytes() {
        return limitBytes;
    }
}

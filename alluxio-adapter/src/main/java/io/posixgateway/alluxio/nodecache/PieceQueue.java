package io.posixgateway.alluxio.nodecache;

import org.jspecify.annotations.Nullable;

/** A FIFO queue of pieces that counts their bytes; a piece is in one at most. Guarded by the table's monitor. */
final class PieceQueue {
    private @Nullable Piece first;
    private @Nullable Piece last;
    private long bytes;
    private int size;

    long bytes() {
        return bytes;
    }

    int size() {
        return size;
    }

    /** The oldest one. */
    @Nullable
    Piece first() {
        return first;
    }

    void addLast(Piece piece) {
        enter(piece);
        piece.before = last;
        if (last == null) {
            first = piece;
        } else {
            last.behind = piece;
        }
        last = piece;
    }

    void addFirst(Piece piece) {
        enter(piece);
        piece.behind = first;
        if (first == null) {
            last = piece;
        } else {
            first.before = piece;
        }
        first = piece;
    }

    private void enter(Piece piece) {
        if (piece.queue != null) {
            piece.queue.remove(piece);
        }
        piece.queue = this;
        bytes += piece.bytes();
        size++;
    }

    void remove(Piece piece) {
        Piece before = piece.before;
        Piece behind = piece.behind;
        if (before == null) {
            first = behind;
        } else {
            before.behind = behind;
        }
        if (behind == null) {
            last = before;
        } else {
            behind.before = before;
        }
        piece.before = null;
        piece.behind = null;
        piece.queue = null;
        bytes -= piece.bytes();
        size--;
    }
}

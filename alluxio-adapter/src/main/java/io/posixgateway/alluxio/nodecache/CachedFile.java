package io.posixgateway.alluxio.nodecache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One version of a file for one reader, who closes it. Holds the pieces open that were read last. Any thread. */
public final class CachedFile implements AutoCloseable {
    /** Requests of one sequence arrive slightly out of order, around the border of two pieces. */
    private static final int MAX_OPEN = 2;

    private final CacheVolume volume;
    private final CacheKey key;
    private final @Nullable OpenPiece[] open = new @Nullable OpenPiece[MAX_OPEN];
    private boolean closed;

    /** Compared by reference: a piece may be opened twice. */
    private static final class OpenPiece {
        private final Piece piece;
        private final FolderDisk.Opened file;

        OpenPiece(Piece piece, FolderDisk.Opened file) {
            this.piece = piece;
            this.file = file;
        }
    }

    CachedFile(CacheVolume volume, CacheKey key) {
        this.volume = volume;
        this.key = key;
    }

    /**
     * Fills the buffer from this offset on, as far as the file goes.
     *
     * @param mayWait false: what the disk would have to be waited for is left out
     * @return -1: a part is not here, or cannot be read now, and then the buffer's position is as it was
     */
    public int read(long offset, ByteBuffer into, boolean mayWait) {
        if (volume.cache().isSuspended()) {
            return -1;
        }
        int start = into.position();
        int limit = into.limit();
        long end = Math.min(key.lengthBytes(), offset + into.remaining());
        long at = offset;
        while (at < end) {
            int count = readPiece(at, end, into, mayWait);
            into.limit(limit);
            if (count <= 0) {
                into.position(start);
                return -1;
            }
            at += count;
        }
        int total = into.position() - start;
        volume.hit(total);
        return total;
    }

    private int readPiece(long at, long end, ByteBuffer into, boolean mayWait) {
        int index = (int) (at / CacheKey.PIECE_BYTES);
        OpenPiece piece = opened(index, mayWait);
        if (piece == null) {
            return -1;
        }
        long pieceEnd = Math.min(end, piece.piece.offset() + piece.piece.bytes());
        into.limit(into.position() + (int) (pieceEnd - at));
        int now = piece.file.readNow(at - piece.piece.offset(), into);
        if (now > 0 || !mayWait) {
            return now;
        }
        try {
            int count = piece.file.read(at - piece.piece.offset(), into);
            if (into.hasRemaining()) {
                throw new IOException(piece.piece.name() + " is cut short");
            }
            return count;
        } catch (IOException e) {
            forget(piece);
            volume.cache().unreadable(piece.piece, e);
            return -1;
        }
    }

    private @Nullable OpenPiece opened(int index, boolean mayWait) {
        OpenPiece there = kept(index);
        if (there != null && there.piece.dropped) {
            forget(there);
            there = null;
        }
        if (there != null || !mayWait) {
            return there;
        }
        Piece piece = volume.cache().pin(key, index);
        if (piece == null) {
            return null;
        }
        FolderDisk.Opened file = volume.cache().open(piece);
        if (file == null) {
            volume.cache().unpin(piece);
            return null;
        }
        OpenPiece made = new OpenPiece(piece, file);
        end(keep(made));
        return made;
    }

    private synchronized @Nullable OpenPiece kept(int index) {
        for (OpenPiece piece : open) {
            if (piece != null && piece.piece.index == index) {
                return piece;
            }
        }
        return null;
    }

    /** What it takes the place of; itself, when the file is closed: it is read once more, or not. */
    private synchronized @Nullable OpenPiece keep(OpenPiece piece) {
        if (closed) {
            return piece;
        }
        OpenPiece oldest = open[MAX_OPEN - 1];
        System.arraycopy(open, 0, open, 1, MAX_OPEN - 1);
        open[0] = piece;
        return oldest;
    }

    private void forget(OpenPiece piece) {
        boolean found = false;
        synchronized (this) {
            for (int i = 0; i < MAX_OPEN; i++) {
                if (open[i] == piece) {
                    open[i] = null;
                    found = true;
                }
            }
        }
        if (found) {
            end(piece);
        }
    }

    private void end(@Nullable OpenPiece piece) {
        if (piece == null) {
            return;
        }
        volume.cache().close(piece.piece, piece.file);
    }

    /** This part was read from Alluxio: the pieces that are whole by now are kept. The data is left as it is. */
    public void keep(long offset, ByteBuffer data) {
        volume.miss();
        ByteBuffer left = data.duplicate();
        long at = offset;
        while (left.hasRemaining()) {
            int index = (int) (at / CacheKey.PIECE_BYTES);
            int into = (int) (at - (long) index * CacheKey.PIECE_BYTES);
            int count = Math.min(left.remaining(), key.bytesOf(index) - into);
            volume.put(key, index, into, left.slice(left.position(), count));
            left.position(left.position() + count);
            at += count;
        }
    }

    @Override
    public void close() {
        volume.ended(this);
        OpenPiece[] last;
        synchronized (this) {
            closed = true;
            last = open.clone();
            Arrays.fill(open, null);
        }
        for (OpenPiece piece : last) {
            end(piece);
        }
    }
}

package io.posixgateway.alluxio.nodecache;

import org.jspecify.annotations.Nullable;

/**
 * An entry of the cache: a part of one version of a file. Equal to another one of the same part. There are up to a million, so it is small.
 * What changes is guarded by the table's monitor, unless it is volatile.
 */
final class Piece {
    /** Accesses beyond it are not counted. */
    static final byte MAX_ACCESSES = 3;

    final CacheKey file;
    final int index;
    final int crc;
    /** It is as it was written, by this process or by what was read of it. Set once. */
    volatile boolean verified;

    /** It is not what was written, or cannot be read: who has it open reads no more of it. */
    volatile boolean dropped;

    /** Of {@link S3Fifo}. */
    @Nullable
    PieceQueue queue;

    @Nullable
    Piece before;

    @Nullable
    Piece behind;

    byte accesses;
    /** When it was read last, in pieces that were added. */
    int readAt;

    /** Who has it open. */
    int pins;

    Piece(CacheKey file, int index, int crc, boolean verified) {
        this.file = file;
        this.index = index;
        this.crc = crc;
        this.verified = verified;
    }

    int bytes() {
        return file.bytesOf(index);
    }

    long offset() {
        return (long) index * CacheKey.PIECE_BYTES;
    }

    /** Where it is below the cache's folder. */
    String name() {
        long hash = file.hash(index);
        return folder() + "/" + Long.toHexString(file.fileId()) + "-" + Integer.toHexString(index) + "-"
                + Tenant.hex(hash);
    }

    String folder() {
        return "pieces/" + file.tenant().folder() + "/" + String.format("%02x", file.hash(index) & 0xff);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Piece piece && index == piece.index && file.equals(piece.file);
    }

    @Override
    public int hashCode() {
        return (int) (((file.fileId() + index) * 0x9E3779B97F4A7C15L) >>> 32); // a load computes a million
    }
}

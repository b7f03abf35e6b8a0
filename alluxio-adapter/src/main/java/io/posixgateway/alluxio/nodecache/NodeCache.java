package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.journal.DiskErrno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pieces below one folder: those that are known are in a {@link PieceTable}, a {@link PieceWriter} changes their files, and this opens
 * them. Any thread.
 *
 * <p>A piece is found from the moment on that its file has its name and its content, until it is evicted or found to be damaged. One that
 * an earlier process wrote is compared with its CRC when it is opened first, or by {@link Scrub}. All failures are misses, see {@link Outage}.
 */
final class NodeCache {
    private static final Logger LOG = LoggerFactory.getLogger(NodeCache.class);
    private static final int CHECK_BYTES = 1 << 18;

    private final FolderDisk disk;
    private final Outage outage;
    private final Executor background;
    private final OpenPieces openPieces;
    private final PieceTable table;
    private final PieceWriter writer;
    private final LongAdder dropped = new LongAdder();
    private final LongAdder scrubbed = new LongAdder();

    /**
     * @param limitBytes of all pieces together
     * @param maxPieces how many, as each takes memory
     * @param openPieces those of this and other caches
     * @param background does what nobody waits for
     */
    NodeCache(
            FolderDisk disk,
            Outage outage,
            long limitBytes,
            int maxPieces,
            OpenPieces openPieces,
            Executor background) {
        this.disk = disk;
        this.outage = outage;
        this.table = new PieceTable(limitBytes, maxPieces);
        this.writer = new PieceWriter(disk, outage, table, background);
        this.openPieces = openPieces;
        this.background = background;
    }

    static NodeCache of(FolderDisk disk, Outage outage, long limitBytes, OpenPieces openPieces, Executor background) {
        int heapPieces = (int) Math.min(1 << 22, Runtime.getRuntime().maxMemory() / 8 / 128);
        return new NodeCache(disk, outage, limitBytes, heapPieces, openPieces, background);
    }

    /** Finds out what an earlier process left. To be called before all else, again only where it threw. */
    void load() {
        writer.load();
    }

    /** Volumes want it to be at least so large. */
    void raiseLimit(long bytes) {
        table.raiseLimit(bytes);
    }

    boolean has(CacheKey file, int index) {
        return table.has(file, index);
    }

    boolean hasVerified(CacheKey file, int index) {
        return table.hasVerified(file, index);
    }

    @Nullable
    Piece pin(CacheKey file, int index) {
        return table.pin(file, index);
    }

    void unpin(Piece piece) {
        table.unpin(piece);
    }

    /** Is anything kept now? Not while the disk fails. */
    boolean mayKeep() {
        return !isSuspended() && outage.mayWrite();
    }

    /** The disk does not answer: nothing is read from it. */
    boolean isSuspended() {
        return disk.isSuspended();
    }

    /**
     * Opens a piece that was pinned. Waits for the disk.
     *
     * @return null: it cannot be read now, or its content was not what was written, and it is dropped
     */
    FolderDisk.@Nullable Opened open(Piece piece) {
        try {
            FolderDisk.Opened opened = openPieces.open(disk, piece.name());
            if (opened == null || isWhole(piece, opened)) {
                return opened;
            }
            damaged(piece);
        } catch (NoSuchFileException missing) {
            LOG.debug("A piece of the data cache is missing: {}", missing.getMessage());
        } catch (IOException e) {
            unreadable(piece, e);
            return null;
        }
        drop(piece);
        return null;
    }

    /** What {@link #open} opened; the piece is unpinned. */
    void close(Piece piece, FolderDisk.Opened opened) {
        table.unpin(piece);
        closeQuietly(piece, opened);
    }

    static void closeQuietly(Piece piece, FolderDisk.Opened opened) {
        try {
            opened.close();
        } catch (IOException e) {
            LOG.debug("Closing {} failed: {}", piece.name(), e.toString());
        }
    }

    /** False: the file is closed, and so it is where this throws. */
    private boolean isWhole(Piece piece, FolderDisk.Opened opened) throws IOException {
        boolean whole = false;
        try {
            whole = piece.verified || isVerified(piece, opened::read);
            return whole;
        } finally {
            if (!whole) {
                closeQuietly(piece, opened);
            }
        }
    }

    private static void damaged(Piece piece) {
        LOG.info("A piece of the data cache is damaged, and read again: {}", piece.name());
    }

    List<Piece> pieces() {
        return table.all();
    }

    /**
     * Compares a piece with its CRC, and drops it where they differ. It does not count as read. Waits for the disk.
     *
     * @param reads the cache's own, by a way that keeps no other reader waiting
     */
    void scrub(Piece piece, FolderDisk reads) {
        if (!table.holds(piece)) {
            return;
        }
        try (FolderDisk.Opened opened = openPieces.open(reads, piece.name())) {
            if (opened == null) {
                return;
            }
            scrubbed.increment();
            if (isVerified(piece, opened::readOnce)) {
                return;
            }
            damaged(piece);
        } catch (NoSuchFileException missing) {
            LOG.debug("A piece of the data cache is missing: {}", missing.getMessage());
        } catch (IOException e) {
            unreadable(piece, e);
            return;
        }
        drop(piece);
    }

    private interface Reading {
        int read(long offset, ByteBuffer into) throws IOException;
    }

    private static boolean isVerified(Piece piece, Reading opened) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(CHECK_BYTES);
        long at = 0;
        int count = opened.read(at, buffer);
        while (count > 0) {
            crc.update(buffer.flip());
            at += count;
            count = opened.read(at, buffer.clear());
        }
        piece.verified = at == piece.bytes() && (int) crc.getValue() == piece.crc;
        return piece.verified;
    }

    /** Reading it failed. A thread that was interrupted says nothing of a piece, nor does a disk that is suspended, or a want of descriptors. */
    void unreadable(Piece piece, IOException why) {
        boolean isUnknown = why instanceof ClosedChannelException || why instanceof DiskCalls.Suspended;
        if (!isUnknown && !DiskErrno.lacksDescriptors(why)) {
            outage.failed(why);
            drop(piece);
        }
    }

    /** It is as if it had never been there; who has it open reads no more of it, but by passthrough. */
    private void drop(Piece piece) {
        piece.dropped = true;
        if (table.leaveItself(piece)) {
            dropped.increment();
            background.execute(
                    () -> writer.removeDropped(piece)); // the lock of the disk is held while a piece is written
        }
    }

    /** As {@link PieceWriter#keep}, of what was read. */
    void keep(CacheKey file, int index, List<ByteBuffer> content) {
        writer.keep(file, index, content, false);
    }

    /** As {@link PieceWriter#keep}, of what somebody asked to have here. */
    void keepWanted(CacheKey file, int index, List<ByteBuffer> content) {
        writer.keep(file, index, content, true);
    }

    int size() {
        return table.size();
    }

    long bytes() {
        return table.bytes();
    }

    int pinned() {
        return table.pinned();
    }

    long limitBytes() {
        return table.limitBytes();
    }

    long evicted() {
        return writer.evicted();
    }

    long dropped() {
        return dropped.sum();
    }

    long scrubbed() {
        return scrubbed.sum();
    }

    long faults() {
        return outage.faults();
    }
}

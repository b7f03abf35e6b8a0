package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.journal.DiskErrno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pieces below one folder. Any thread.
 *
 * <p>A piece is found from the moment on that its file has its name and its content, until it is evicted or found to be damaged. One that
 * an earlier process wrote is compared with its CRC when it is opened first. All failures are misses, see {@link Outage}.
 *
 * <p>Two locks: {@code disk} for whatever changes files and index, one change at a time, and the monitor for what is known of pieces, which
 * is held for a few instructions. The first is taken before the second.
 */
final class NodeCache {
    private static final Logger LOG = LoggerFactory.getLogger(NodeCache.class);
    private static final int CHECK_BYTES = 1 << 18;
    /** So much of a cache is evicted when its disk is full: others may need the room, too. */
    private static final int FULL_DISK_PART = 16;
    /** What stays free on its disk: this part, or twice what the spool leaves free, which may be on it, where that is more. */
    private static final int FREE_PART = 20;

    private static final long FREE_BYTES = 2L << 30;
    /** Of a small disk, no more than this part. */
    private static final int MAX_FREE_PART = 4;

    private final Object diskLock = new Object();
    private final FolderDisk disk;
    private final Outage outage;
    private final CacheIndex index;
    private final Executor background;
    private final OpenPieces openPieces;
    private final int maxPieces;
    private final Map<Piece, Piece> pieces = new HashMap<>();
    private final S3Fifo order = new S3Fifo();
    private long limitBytes;
    private int pinned;
    private final LongAdder evicted = new LongAdder();
    private final LongAdder dropped = new LongAdder();

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
        this.index = new CacheIndex(disk);
        this.limitBytes = limitBytes;
        this.maxPieces = maxPieces;
        this.openPieces = openPieces;
        this.background = background;
    }

    static NodeCache of(FolderDisk disk, Outage outage, long limitBytes, OpenPieces openPieces, Executor background) {
        int heapPieces = (int) Math.min(1 << 22, Runtime.getRuntime().maxMemory() / 8 / 128);
        return new NodeCache(disk, outage, limitBytes, heapPieces, openPieces, background);
    }

    /** Finds out what an earlier process left. To be called before all else, again only where it threw. */
    void load() {
        synchronized (diskLock) {
            forget();
            try {
                boolean known = isLoaded();
                if (!known) {
                    discard("pieces", "trash/" + UUID.randomUUID());
                }
                disk.empty("tmp");
                if (index.wantsRewrite(pieces.size())) {
                    index.rewrite(all());
                }
                background.execute(this::emptyTrash);
                long loaded = disk.modifiedMillis("tmp"); // it was just made
                background.execute(() -> new UnknownPieces(disk, all(), loaded, background).remove());
            } catch (IOException e) {
                outage.failed(e);
            }
        }
    }

    private boolean isLoaded() {
        boolean known = false;
        try {
            known = index.load(new Loader());
        } catch (IOException | InternalError e) { // the mapping meets a bad part of the disk
            outage.failed(e);
        }
        if (!known) {
            forget();
        }
        return known;
    }

    private synchronized void forget() {
        all().forEach(order::remove);
        pieces.clear();
    }

    /** Of the index. */
    private final class Loader implements CacheIndex.Visitor {
        @Override
        public void added(Piece piece) {
            enter(piece);
        }

        @Override
        public void removed(Piece piece) {
            leave(piece);
        }
    }

    private void discard(String folder, String into) throws IOException {
        try {
            disk.rename(folder, into);
        } catch (NoSuchFileException missing) {
            LOG.debug("{} is not there", missing.getMessage());
        }
    }

    private void emptyTrash() {
        try {
            disk.empty("trash");
        } catch (IOException e) {
            outage.failed(e);
        }
    }

    private synchronized void enter(Piece piece) {
        Piece other = pieces.put(piece, piece);
        if (other != null) {
            order.remove(other);
        }
        order.add(piece, limitBytes);
    }

    /** False: it is not there, or another one is in its place. */
    private synchronized boolean leave(Piece piece) {
        Piece there = pieces.remove(piece);
        if (there == null) {
            return false;
        }
        order.remove(there);
        return true;
    }

    private synchronized List<Piece> all() {
        return new ArrayList<>(pieces.values());
    }

    /** Volumes want it to be at least so large. */
    synchronized void raiseLimit(long bytes) {
        limitBytes = Math.max(limitBytes, bytes);
    }

    synchronized boolean has(CacheKey file, int piece) {
        return pieces.containsKey(new Piece(file, piece, 0, false));
    }

    /** Is it there, and known to be what was written? */
    synchronized boolean hasVerified(CacheKey file, int index) {
        Piece piece = pieces.get(new Piece(file, index, 0, false));
        return piece != null && piece.verified;
    }

    /** Is anything kept now? Not while the disk fails. */
    boolean mayKeep() {
        return !isSuspended() && outage.mayWrite();
    }

    /** The disk does not answer: nothing is read from it. */
    boolean isSuspended() {
        return disk.isSuspended();
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
            LOG.info("A piece of the data cache is damaged, and read again: {}", piece.name());
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
        unpin(piece);
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
            whole = piece.verified || isVerified(piece, opened);
            return whole;
        } finally {
            if (!whole) {
                closeQuietly(piece, opened);
            }
        }
    }

    private boolean isVerified(Piece piece, FolderDisk.Opened opened) throws IOException {
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

    /** It is as if it had never been there; who has it open keeps it. */
    private void drop(Piece piece) {
        if (leave(piece)) {
            dropped.increment();
            background.execute(() -> removeDropped(piece)); // the lock of the disk is held while a piece is written
        }
    }

    private void removeDropped(Piece piece) {
        synchronized (diskLock) {
            try {
                if (!has(piece.file, piece.index)) {
                    removeFiles(List.of(piece));
                }
            } catch (IOException e) {
                outage.failed(e);
            }
        }
    }

    private void removeFiles(List<Piece> gone) throws IOException {
        for (Piece piece : gone) {
            disk.delete(piece.name());
        }
        if (!gone.isEmpty()) {
            index.remove(gone);
        }
    }

    /**
     * Keeps a piece, if there is room or room can be made. Waits for the disk.
     *
     * @param content all of it, each buffer from its beginning to its limit; unchanged
     */
    void keep(CacheKey file, int pieceIndex, List<ByteBuffer> content) {
        CRC32C crc = new CRC32C();
        content.forEach(part -> crc.update(part.duplicate()));
        Piece piece = new Piece(file, pieceIndex, (int) crc.getValue(), true);
        synchronized (diskLock) {
            if (!outage.mayWrite() || has(file, pieceIndex)) {
                return;
            }
            try {
                if (!isRoomMade(piece.bytes())) {
                    return;
                }
                write(piece, content);
                outage.succeeded();
            } catch (IOException e) {
                outage.failed(e);
                failed(e);
            }
        }
    }

    private void write(Piece piece, List<ByteBuffer> content) throws IOException {
        String temporary = "tmp/" + piece.name().replace('/', '-');
        boolean written = false;
        try {
            disk.write(temporary, content, true); // what is not written back would read as zeros
            if (index.wantsRewrite(size())) {
                index.rewrite(all());
            }
            index.add(piece);
            disk.rename(temporary, piece.name());
            written = true;
        } finally {
            if (!written) {
                deleteQuietly(temporary);
            }
        }
        enter(piece);
    }

    private void deleteQuietly(String temporary) {
        try {
            disk.delete(temporary);
        } catch (IOException e) {
            LOG.debug("Removing {} failed: {}", temporary, e.toString());
        }
    }

    /** A full disk makes the cache smaller, so that the next try finds room, or others do. */
    private void failed(IOException why) {
        if (DiskErrno.isFull(why)) {
            try {
                evictTo(bytes() - bytes() / FULL_DISK_PART);
            } catch (IOException e) {
                outage.failed(e);
            }
        }
    }

    private boolean isRoomMade(int bytes) throws IOException {
        long limit;
        synchronized (this) {
            limit = limitBytes;
        }
        evictTo(limit - bytes);
        long lacking = lackingBytes(bytes);
        if (lacking > 0) {
            evictTo(bytes() - lacking);
            if (lackingBytes(bytes) > 0) {
                return false;
            }
        }
        synchronized (this) {
            return order.bytes() + bytes <= limitBytes && order.size() < maxPieces;
        }
    }

    /** What the disk lacks of the room for so much more and of what stays free there, whoever took it. */
    private long lackingBytes(int more) {
        long total = disk.totalBytes();
        long free = Math.max(total / FREE_PART, Math.min(FREE_BYTES, total / MAX_FREE_PART));
        return total == 0 ? 0 : free + more - disk.usableBytes();
    }

    /** Fewer are evicted where too many are open. */
    private void evictTo(long bytes) throws IOException {
        List<Piece> victims = new ArrayList<>();
        synchronized (this) {
            boolean more = true;
            while (more && (order.bytes() > Math.max(0, bytes) || order.size() >= maxPieces)) {
                more = order.evict(victims);
            }
            victims.forEach(pieces::remove);
        }
        evicted.add(victims.size());
        removeFiles(victims);
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

    long evicted() {
        return evicted.sum();
    }

    long dropped() {
        return dropped.sum();
    }

    long faults() {
        return outage.faults();
    }
}

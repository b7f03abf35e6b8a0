package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.journal.DiskErrno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes the files of a cache and its index, one change at a time: a piece enters the table once its file has its name, and left it before
 * its file goes. Any thread; waits for the disk, and for others that do, with a lock that is taken before the table's monitor.
 */
final class PieceWriter {
    private static final Logger LOG = LoggerFactory.getLogger(PieceWriter.class);
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
    private final PieceTable table;
    private final CacheIndex index;
    private final Executor background;
    private final LongAdder evicted = new LongAdder();

    PieceWriter(FolderDisk disk, Outage outage, PieceTable table, Executor background) {
        this.disk = disk;
        this.outage = outage;
        this.table = table;
        this.index = new CacheIndex(disk);
        this.background = background;
    }

    /** Finds out what an earlier process left. To be called before all else, again only where it threw. */
    void load() {
        synchronized (diskLock) {
            table.clear();
            try {
                boolean known = isLoaded();
                if (!known) {
                    discard("pieces", "trash/" + UUID.randomUUID());
                }
                disk.empty("tmp");
                if (index.wantsRewrite(table.size())) {
                    index.rewrite(table.all());
                }
                background.execute(this::emptyTrash);
                long loaded = disk.modifiedMillis("tmp"); // it was just made
                background.execute(() -> new UnknownPieces(disk, table.all(), loaded, background).remove());
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
            table.clear();
        }
        return known;
    }

    /** Of the index. */
    private final class Loader implements CacheIndex.Visitor {
        @Override
        public void added(Piece piece) {
            table.enter(piece, false);
        }

        @Override
        public void removed(Piece piece) {
            table.leave(piece);
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

    /** A piece that is no longer known; one that is kept again meanwhile stays. Waits for the disk. */
    void removeDropped(Piece piece) {
        synchronized (diskLock) {
            try {
                if (!table.has(piece.file, piece.index)) {
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
     * @param wanted see {@link S3Fifo#add}
     */
    void keep(CacheKey file, int pieceIndex, List<ByteBuffer> content, boolean wanted) {
        CRC32C crc = new CRC32C();
        content.forEach(part -> crc.update(part.duplicate()));
        Piece piece = new Piece(file, pieceIndex, (int) crc.getValue(), true);
        synchronized (diskLock) {
            if (!outage.mayWrite() || table.has(file, pieceIndex)) {
                return;
            }
            try {
                if (!isRoomMade(piece.bytes())) {
                    return;
                }
                write(piece, content);
                table.enter(piece, wanted);
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
            if (index.wantsRewrite(table.size())) {
                index.rewrite(table.all());
            }
            index.add(piece);
            disk.rename(temporary, piece.name());
            written = true;
        } finally {
            if (!written) {
                deleteQuietly(temporary);
            }
        }
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
                evictTo(table.bytes() - table.bytes() / FULL_DISK_PART);
            } catch (IOException e) {
                outage.failed(e);
            }
        }
    }

    private boolean isRoomMade(int bytes) throws IOException {
        evictTo(table.limitBytes() - bytes);
        long lacking = lackingBytes(bytes);
        if (lacking > 0) {
            evictTo(table.bytes() - lacking);
            if (lackingBytes(bytes) > 0) {
                return false;
            }
        }
        return table.hasRoom(bytes);
    }

    /** What the disk lacks of the room for so much more and of what stays free there, whoever took it. */
    private long lackingBytes(int more) {
        long total = disk.totalBytes();
        long free = Math.max(total / FREE_PART, Math.min(FREE_BYTES, total / MAX_FREE_PART));
        return total == 0 ? 0 : free + more - disk.usableBytes();
    }

    private void evictTo(long bytes) throws IOException {
        List<Piece> victims = table.evictTo(bytes);
        evicted.add(victims.size());
        removeFiles(victims);
    }

    long evicted() {
        return evicted.sum();
    }
}

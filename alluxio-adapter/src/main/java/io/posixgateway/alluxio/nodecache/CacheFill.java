package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Brings files into the cache that somebody asked for, a piece at a time. Until it is closed nothing of them is evicted, so it brings as
 * much as there is room for, and other pieces make room. One thread; waits for the cache's disk, with a limit.
 */
public final class CacheFill implements AutoCloseable {
    private static final long LOOK_NANOS = 1_000_000_000L;

    private final CacheVolume volume;
    private final List<Piece> pinned = new ArrayList<>();
    /** Null: it is another's, or none was needed yet. */
    private @Nullable ByteBuffer memory;

    private boolean full;

    /** Where the content of a file comes from. */
    public interface Source {
        /** Fills the buffer from this offset on. */
        void read(long offset, ByteBuffer into) throws StoreException;
    }

    CacheFill(CacheVolume volume) {
        this.volume = volume;
    }

    /**
     * Has a piece in the cache, from where it is not evicted now.
     *
     * @return false: there is no room for it
     * @throws StoreException the source fails, or the cache's disk does
     */
    public boolean fill(CacheKey file, int index, Source source) throws StoreException {
        if (isPinned(file, index)) {
            return true;
        }
        return !full && bring(file, index, source);
    }

    private boolean bring(CacheKey file, int index, Source source) throws StoreException {
        NodeCache cache = volume.cache();
        if (!cache.mayKeep()) {
            throw failing();
        }
        ByteBuffer content = memory == null ? ByteBuffer.allocate(CacheKey.PIECE_BYTES) : memory;
        memory = content;
        source.read((long) index * CacheKey.PIECE_BYTES, content.clear().limit(file.bytesOf(index)));
        keep(file, index, content.flip());
        boolean kept = isPinned(file, index);
        if (!kept && !cache.mayKeep()) {
            throw failing();
        }
        full = !kept;
        return kept;
    }

    private boolean isPinned(CacheKey file, int index) {
        Piece piece = volume.cache().pin(file, index);
        if (piece != null) {
            pinned.add(piece);
        }
        return piece != null;
    }

    /** On the thread that writes, behind what others read. */
    private void keep(CacheKey file, int index, ByteBuffer content) throws StoreException {
        CountDownLatch done = new CountDownLatch(1);
        boolean isBegun = volume.later(() -> {
            try {
                volume.cache().keepWanted(file, index, List.of(content));
            } finally {
                done.countDown();
            }
        });
        try {
            while (isBegun && !volume.clock().await(done, LOOK_NANOS)) {
                isBegun = !volume.cache().isSuspended();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            isBegun = false;
        }
        if (!isBegun) {
            memory = null;
            throw failing();
        }
    }

    private static StoreException failing() {
        return new StoreException(
                Errno.EIO, "The data cache cannot be written to now: see the gateway's log, and its disk", null);
    }

    /** What was brought may be evicted. */
    @Override
    public void close() {
        pinned.forEach(volume.cache()::unpin);
        pinned.clear();
    }
}

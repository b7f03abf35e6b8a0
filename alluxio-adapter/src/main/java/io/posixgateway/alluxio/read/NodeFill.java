package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.nodecache.CacheFill;
import io.posixgateway.alluxio.nodecache.CacheKey;
import io.posixgateway.alluxio.nodecache.CacheVolume;
import io.posixgateway.alluxio.read.FileReader.Extent;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;

/**
 * Brings the content of files to this node: into its data cache, see {@link CacheFill}, unless block files here have it. One thread; waits
 * for Alluxio.
 */
public final class NodeFill implements AutoCloseable {
    private static final int CHUNK_BYTES = 1 << 20;

    private final FileReaders readers;
    private final CacheVolume cache;
    private final CacheFill fill;

    /** Is told of each piece of a file. */
    public interface Progress {
        /**
         * @param isHere false: the cache has no room for it
         * @return false: nobody waits for the rest
         */
        boolean piece(long bytes, boolean isHere);
    }

    NodeFill(FileReaders readers, CacheVolume cache) {
        this.readers = readers;
        this.cache = cache;
        this.fill = cache.fill();
    }

    /**
     * Brings a file.
     *
     * @return false: nobody waits for the rest
     * @throws StoreException also when the cache cannot be used now
     */
    public boolean bring(Extent extent, FileReaders.PathFinder finder, Progress progress) throws StoreException {
        CacheKey key = key(extent);
        try (FileReader reader = readers.uncached(extent, finder)) {
            for (int index = 0; index < key.pieces(); index++) {
                boolean isHere =
                        isLocal(extent, key, index) || fill.fill(key, index, (at, into) -> read(reader, at, into));
                if (!progress.piece(key.bytesOf(index), isHere)) {
                    return false;
                }
            }
        }
        return true;
    }

    /** How much of a file is here. */
    public long bytesHere(Extent extent) throws StoreException {
        CacheKey key = key(extent);
        long bytes = 0;
        for (int index = 0; index < key.pieces(); index++) {
            bytes += isLocal(extent, key, index) || cache.has(key, index) ? key.bytesOf(index) : 0;
        }
        return bytes;
    }

    private CacheKey key(Extent extent) throws StoreException {
        CacheKey key = cache.key(extent.fileId(), extent.lengthBytes(), extent.version(), true);
        if (key == null) {
            throw new StoreException(Errno.EIO, "The data cache cannot be used now: see the gateway's log", null);
        }
        return key;
    }

    private boolean isLocal(Extent extent, CacheKey key, int index) {
        long blockBytes = Math.max(1, extent.blockBytes());
        long from = (long) index * CacheKey.PIECE_BYTES;
        long last = (from + key.bytesOf(index) - 1) / blockBytes;
        long block = from / blockBytes;
        while (block <= last && readers.blocks().has(extent.firstBlock() + block)) {
            block++;
        }
        return block > last && readers.blocks().mayOpen();
    }

    private static void read(FileReader reader, long offset, ByteBuffer into) throws StoreException {
        int end = into.limit();
        long at = offset;
        while (into.position() < end) {
            at += reader.read(at, into.limit(Math.min(end, into.position() + CHUNK_BYTES)));
        }
    }

    @Override
    public void close() {
        fill.close();
    }
}

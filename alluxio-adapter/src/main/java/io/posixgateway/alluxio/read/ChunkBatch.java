package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.store.StoreReader;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Chunks one after the other that one call brings, each told of as soon as it is full: a call costs its worker as much as some
 * hundred KiB do. For one thread, which may be another than the one that asked.
 */
final class ChunkBatch implements StoreReader.ScatterTarget {
    /** Told that a chunk is full. */
    interface Full {
        void fetched(Chunk chunk, int count);
    }

    private final List<Chunk> chunks;
    private final Full full;
    private int index;
    private int wantedBytes;
    private ByteBuffer room;

    /** @param chunks one at least */
    ChunkBatch(List<Chunk> chunks, Full full) {
        this.chunks = chunks;
        this.full = full;
        this.room = chunks.get(0).room();
        chunks.forEach(chunk -> wantedBytes += chunk.lengthBytes());
    }

    @Override
    public int bytes() {
        return wantedBytes - room.position();
    }

    @Override
    public ByteBuffer next() {
        return room;
    }

    @Override
    public void came() {
        if (room.hasRemaining()) {
            return;
        }
        Chunk chunk = chunks.get(index);
        index++;
        if (index < chunks.size()) {
            wantedBytes -= chunk.lengthBytes();
            room = chunks.get(index).room();
        }
        full.fetched(chunk, chunk.lengthBytes());
    }
}

package io.posixgateway.alluxio.store;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads blocks from workers by their numbers, and what none has from the UFS by the path that the file had when it was opened, whatever
 * file is there by now; what it read so counts only if it is of this file. For one thread, but for {@link #rangeAvailable} and
 * {@link #readRange}.
 */
final class MemoryReader implements StoreReader {
    /** What changed so lately is not kept by workers, as its path may still change hands. */
    private static final long SETTLED_MILLIS = 30_000;

    private final MemoryStore store;
    private final Opened file;
    private final boolean keeps;
    /** By which the UFS is read. */
    private String path;

    /** What the master said when it was opened. */
    record Opened(
            String path,
            long fileId,
            boolean readable,
            boolean isEmptyDirectory,
            boolean persisted,
            boolean lost,
            long lengthBytes,
            long modifiedMillis,
            List<Long> blocks) {
        static Opened of(MemoryInode inode) {
            return new Opened(
                    inode.path(),
                    inode.id,
                    inode.complete && !inode.directory,
                    inode.directory && inode.children.isEmpty(),
                    inode.persisted,
                    inode.lost,
                    inode.lengthBytes,
                    inode.modifiedMillis,
                    List.copyOf(inode.blocks));
        }
    }

    /** @param keeps true if workers keep what is read of it, however young it is */
    MemoryReader(MemoryStore store, Opened file, boolean keeps) {
        this.store = store;
        this.file = file;
        this.path = file.path;
        this.keeps = keeps;
    }

    @Override
    public int read(long offset, ByteBuffer into) throws StoreException {
        return store.faults().call(StoreCall.READ, file.path, () -> readNow(offset, into));
    }

    private int readNow(long offset, ByteBuffer into) throws StoreException {
        if (!file.readable && !file.isEmptyDirectory) {
            throw new StoreException(Errno.EIO, "Cannot read from " + file.path + ", which is incomplete", null);
        }
        int start = into.position();
        while (into.hasRemaining() && offset + into.position() - start < file.lengthBytes) {
            long at = offset + into.position() - start;
            int sequence = (int) (at / MemoryInode.BLOCK_BYTES);
            byte[] block = block(sequence);
            int from = (int) (at % MemoryInode.BLOCK_BYTES);
            long left = Math.min(block.length - from, file.lengthBytes - at);
            into.put(block, from, (int) Math.min(into.remaining(), left));
        }
        return into.position() - start;
    }

    private byte[] block(int sequence) throws StoreException {
        long id = MemoryInode.blockId(file.fileId, sequence);
        byte[] cached = store.memory().read(id);
        return cached != null ? cached : fromUfs(sequence, id);
    }

    private byte[] fromUfs(int sequence, long id) throws StoreException {
        if (file.lost) {
            throw StoreParts.lost(file.path);
        }
        byte[] block = ofPath(path, sequence);
        while (!StoreParts.isOfFile(store, store.memory().ufs().seenByAlluxio(), path, file.fileId)) {
            String now = Existing.orNull(() -> store.pathOf(file.fileId));
            path = now == null ? path : now;
            block = ofPath(path, sequence);
        }
        boolean settled = store.memory().clock().millis() - file.modifiedMillis >= SETTLED_MILLIS;
        if (keeps || settled) {
            keep(id, block);
        }
        return block;
    }

    private byte[] ofPath(String at, int sequence) throws StoreException {
        if (store.memory().workers().stream().noneMatch(MemoryWorker::isRunning)) {
            throw StoreParts.unanswered("No worker answers that could read " + file.path);
        }
        byte @Nullable [] all = file.persisted ? store.memory().ufs().read(at) : null;
        int from = sequence * (int) MemoryInode.BLOCK_BYTES;
        int length = file.blocks.get(sequence).intValue();
        if (all == null || all.length < from + length) {
            throw new StoreException(Errno.EIO, "Nobody has block " + sequence + " of " + file.path, null);
        }
        store.countUfs(length);
        return Arrays.copyOfRange(all, from, from + length);
    }

    /** Where there is room. */
    private void keep(long id, byte[] block) {
        for (MemoryWorker worker : store.memory().workers()) {
            try {
                if (worker.isRunning()) {
                    worker.put(id, block);
                    return;
                }
            } catch (StoreException full) {
                assert full.errno() == Errno.ENOSPC;
            }
        }
    }

    /** Has workers keep all of it. */
    void fetch() throws StoreException {
        for (int i = 0; i < file.blocks.size(); i++) {
            block(i);
        }
    }

    @Override
    public int readOnce(long offset, ByteBuffer into) throws StoreException {
        return read(offset, into);
    }

    @Override
    public long rangeAvailable(long offset) {
        int sequence = (int) (offset / MemoryInode.BLOCK_BYTES);
        boolean placed = file.readable
                && sequence < file.blocks.size()
                && store.memory().read(MemoryInode.blockId(file.fileId, sequence)) != null;
        return placed ? MemoryInode.BLOCK_BYTES - offset % MemoryInode.BLOCK_BYTES : 0;
    }

    @Override
    public int readRange(long offset, ScatterTarget rooms) throws StoreException {
        return store.faults().call(StoreCall.READ, file.path, () -> readFromWorker(offset, rooms));
    }

    private int readFromWorker(long offset, ScatterTarget rooms) {
        int sequence = (int) (offset / MemoryInode.BLOCK_BYTES);
        byte @Nullable [] block = file.readable && sequence < file.blocks.size()
                ? store.memory().read(MemoryInode.blockId(file.fileId, sequence))
                : null;
        if (block == null) {
            return -1;
        }
        int from = (int) (offset % MemoryInode.BLOCK_BYTES);
        int came = 0;
        while (rooms.bytes() > 0 && from + came < block.length) {
            ByteBuffer room = rooms.next();
            int part = Math.min(Math.min(rooms.bytes(), room.remaining()), block.length - from - came);
            room.put(block, from + came, part);
            came += part;
            rooms.came();
        }
        return came > 0 ? came : -1;
    }

    @Override
    public void close() {}
}

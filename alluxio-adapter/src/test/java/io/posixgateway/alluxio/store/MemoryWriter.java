package io.posixgateway.alluxio.store;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.fuse.spi.Errno;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file through one worker: to the UFS at the path at which it was made, wherever the file is by then, and the master is
 * told by that path, too. For one thread.
 */
final class MemoryWriter implements StoreWriter {
    private final MemoryStore store;
    private final MemoryCluster cluster;
    private final String path;
    private final long fileId;
    private final long madeMillis;
    private final int mode;
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private final List<Long> cached = new ArrayList<>();
    private @Nullable MemoryWorker worker;
    private @Nullable MemoryWorker unanswered;
    private boolean closed;

    MemoryWriter(MemoryStore store, String path, MemoryStore.Made made, int mode) {
        this.store = store;
        this.cluster = store.memory();
        this.path = path;
        this.fileId = made.fileId();
        this.madeMillis = made.millis();
        this.mode = mode;
    }

    @Override
    public long fileId() {
        return fileId;
    }

    @Override
    public long madeMillis() {
        return madeMillis;
    }

    @Override
    public long blockBytes() {
        return MemoryInode.BLOCK_BYTES;
    }

    @Override
    public boolean isAt(String other) {
        return path.equals(other);
    }

    @Override
    public void expect(long lengthBytes) {}

    private MemoryWorker worker() throws StoreException {
        MemoryWorker known = worker;
        if (known == null) {
            known = store.workerToWrite(path);
            worker = known;
        }
        return known;
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws StoreException {
        if (closed) {
            return;
        }
        store.faults().call(StoreCall.WRITE, path, () -> {
            content.write(bytes, from, count);
            checkAnswers(worker());
            return count;
        });
    }

    /** One that is stopped will write, when it goes on, what it was sent, unless that was cancelled: then it removes what is there. */
    private void checkAnswers(MemoryWorker asked) throws StoreException {
        if (asked.isRunning()) {
            return;
        }
        store.suspect(asked);
        if (!asked.isKilled()) {
            unanswered = asked;
        }
        throw StoreParts.unanswered("Worker " + asked.host() + " does not answer for " + path);
    }

    @Override
    public void complete() throws StoreException {
        if (closed) {
            return;
        }
        store.faults().call(StoreCall.COMPLETE, path, () -> {
            MemoryWorker through = worker();
            checkAnswers(through);
            closed = true;
            try {
                completeThrough(through);
            } catch (StoreException e) {
                dropBlocks();
                throw lost(e);
            }
            return path;
        });
    }

    private void completeThrough(MemoryWorker through) throws StoreException {
        byte[] bytes = content.toByteArray();
        if (!store.type().persists()) {
            for (int at = 0; at < bytes.length; at += (int) MemoryInode.BLOCK_BYTES) {
                byte[] block = block(bytes, at);
                long id = cluster.ask(master -> master.newBlock(path, block.length));
                if (MemoryInode.fileId(id) != fileId) {
                    throw new StoreException(Errno.EIO, path + " is another file now", null);
                }
                through.put(id, block);
                cached.add(id);
            }
            cluster.ask(master -> {
                master.complete(path, null);
                return path;
            });
            return;
        }
        cluster.ufs().write(path, bytes, mode);
        if (store.type().caches()) {
            cache(through, bytes);
        }
        cluster.ask(master -> {
            master.complete(path, (long) bytes.length);
            return path;
        });
    }

    private static byte[] block(byte[] bytes, int at) {
        return Arrays.copyOfRange(bytes, at, (int) Math.min(bytes.length, at + MemoryInode.BLOCK_BYTES));
    }

    /** That there is no room for it is no failure: it is in the UFS. */
    private void cache(MemoryWorker through, byte[] bytes) {
        try {
            for (int at = 0; at < bytes.length; at += (int) MemoryInode.BLOCK_BYTES) {
                long id = MemoryInode.blockId(fileId, at / (int) MemoryInode.BLOCK_BYTES);
                through.put(id, block(bytes, at));
                cached.add(id);
            }
        } catch (StoreException full) {
            assert full.errno() == Errno.ENOSPC;
        }
    }

    private void dropBlocks() {
        MemoryWorker through = worker;
        if (through != null) {
            cached.forEach(through::remove);
        }
    }

    private static StoreException lost(StoreException failure) {
        return failure.errno() == Errno.ENOSPC
                ? failure
                : new StoreException(Errno.EIO, "complete: " + failure.getMessage(), failure);
    }

    @Override
    public boolean isQuiescent() {
        return unanswered == null || unanswered.isRunning() || unanswered.isKilled();
    }

    @Override
    public void cancel() {
        if (closed) {
            return;
        }
        closed = true;
        dropBlocks();
        MemoryWorker stopped = unanswered;
        if (stopped != null && store.type().persists()) {
            byte[] sent = content.toByteArray();
            stopped.whenItGoesOn(() -> lateWrite(sent));
        }
    }

    private void lateWrite(byte[] sent) {
        if (cluster.staleWorkerWritesRemove()) {
            cluster.ufs().delete(path);
        } else {
            cluster.ufs().write(path, sent, mode);
        }
    }
}

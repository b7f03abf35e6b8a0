package io.posixgateway.alluxio.store;

import io.posixgateway.alluxio.client.StoreParts;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes over an object through one worker, at the path at which it began. Once it has been written to, a worker that is told to cancel,
 * or whose client's process ends, uploads what it has, and then deletes the object. For one thread.
 */
final class MemoryOverwriter implements StoreWriter {
    private final MemoryStore store;
    private final MemoryCluster cluster;
    private final String path;
    private final long fileId;
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private final Runnable aborted = this::abort;
    private @Nullable MemoryWorker worker;
    private boolean closed;

    MemoryOverwriter(MemoryStore store, String path, long fileId) {
        this.store = store;
        this.cluster = store.memory();
        this.path = path;
        this.fileId = fileId;
    }

    @Override
    public long fileId() {
        return fileId;
    }

    @Override
    public long madeMillis() {
        return 0;
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

    /** The stream is open from here on. */
    private void begin() throws StoreException {
        MemoryWorker known = worker;
        if (known == null) {
            known = store.workerToWrite(path);
            worker = known;
            store.faults().whenGone(aborted);
        }
        if (!known.isRunning()) {
            store.suspect(known);
            throw StoreParts.unanswered("Worker " + known.host() + " does not answer for " + path);
        }
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws StoreException {
        if (closed) {
            return;
        }
        store.faults().call(StoreCall.WRITE, path, () -> {
            content.write(bytes, from, count);
            begin();
            return count;
        });
    }

    @Override
    public void complete() throws StoreException {
        if (closed) {
            return;
        }
        store.faults().call(StoreCall.COMPLETE, path, () -> {
            begin();
            closed = true;
            store.faults().notWhenGone(aborted);
            cluster.ufs().write(path, content.toByteArray());
            return path;
        });
    }

    @Override
    public boolean isQuiescent() {
        MemoryWorker used = worker;
        return closed && (used == null || used.isRunning() || used.isKilled());
    }

    @Override
    public void cancel() {
        if (!closed) {
            abort();
        }
    }

    private void abort() {
        closed = true;
        store.faults().notWhenGone(aborted);
        MemoryWorker used = worker;
        if (used == null || used.isKilled()) {
            return;
        }
        if (used.isRunning()) {
            cluster.ufs().delete(path);
        } else {
            used.whenItGoesOn(() -> cluster.ufs().delete(path));
        }
    }
}

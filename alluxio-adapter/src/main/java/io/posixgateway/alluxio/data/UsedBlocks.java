package io.posixgateway.alluxio.data;

import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.jni.FreeThread;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the worker from time to time which of its blocks were read as files: it does not see that, and makes room by deleting
 * what was not used for longest. Any thread; has one of its own.
 */
final class UsedBlocks implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UsedBlocks.class);
    private static final long PAUSE_MILLIS = 5_000;

    private final BlockFiles blocks;
    private final Store store;
    // Guarded by this.
    private @Nullable Thread thread;

    UsedBlocks(BlockFiles blocks, Store store) {
        this.blocks = blocks;
        this.store = store;
    }

    /** There are block files here. Again and again. */
    synchronized void start() {
        if (thread == null) {
            Thread started = new FreeThread(this::run, "used-blocks");
            started.start();
            thread = started;
        }
    }

    private void run() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                Thread.sleep(PAUSE_MILLIS);
                tell(blocks.takeUsed());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tell(List<Long> used) {
        if (used.isEmpty()) {
            return;
        }
        try {
            blocks.told(store.use(used));
        } catch (StoreException e) {
            LOG.debug("The worker does not hear of {} used blocks: {}", used.size(), e.getMessage());
        }
    }

    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}

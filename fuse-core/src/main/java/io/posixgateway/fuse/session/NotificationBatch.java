package io.posixgateway.fuse.session;

import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Notifications one behind the other in one message to the process that carries them. One thread. */
final class NotificationBatch implements Kernel.Batch {
    private static final int BYTES = 8 << 10;

    private final KernelLink kernel;
    private final ByteBuffer message = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());
    private int used;

    NotificationBatch(KernelLink kernel) {
        this.kernel = kernel;
    }

    @Override
    public void invalidateInode(long node, long offset, long lengthBytes) {
        makeRoom();
        used += NotificationFormat.invalidateInode(message, used, node, offset, lengthBytes);
    }

    @Override
    public void invalidateEntry(long parent, Name name) {
        if (name.length() <= Name.MAX_BYTES) {
            makeRoom();
            used += NotificationFormat.invalidateEntry(message, used, parent, name);
        }
    }

    private void makeRoom() {
        if (BYTES - used < NotificationFormat.MAX_BYTES) {
            close();
        }
    }

    @Override
    public void close() {
        if (used > 0) {
            kernel.sendWaiting(message, used);
            used = 0;
        }
    }
}

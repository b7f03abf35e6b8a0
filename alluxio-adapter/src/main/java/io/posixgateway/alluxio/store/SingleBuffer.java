package io.posixgateway.alluxio.store;

import java.nio.ByteBuffer;

/** A buffer that is filled by itself. */
record SingleBuffer(ByteBuffer next) implements StoreReader.ScatterTarget {
    @Override
    public int bytes() {
        return next.remaining();
    }

    @Override
    public void came() {
        // It is seen in the buffer.
    }
}

package io.posixgateway.alluxio.client;

import java.nio.ByteBuffer;

/** A buffer that is filled by itself. */
record OneRoom(ByteBuffer next) implements FileSource.Rooms {
    @Override
    public int bytes() {
        return next.remaining();
    }

    @Override
    public void came() {
        // It is seen in the buffer.
    }
}

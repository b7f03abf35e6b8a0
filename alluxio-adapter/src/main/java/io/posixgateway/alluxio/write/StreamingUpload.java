package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import java.nio.ByteBuffer;

/** The content of a new file that goes straight to Alluxio while it is written. Guarded by the dirty file that owns it. */
final class StreamingUpload implements DirtyState {
    private static final int PIECE_BYTES = 1 << 20;

    final StoreWriter sink;
    private final byte[] piece = new byte[PIECE_BYTES];
    private long lengthBytes;

    /** @param lengthBytes what the sink has already */
    StreamingUpload(StoreWriter sink, long lengthBytes) {
        this.sink = sink;
        this.lengthBytes = lengthBytes;
    }

    @Override
    public Phase phase() {
        return Phase.STREAMING;
    }

    long lengthBytes() {
        return lengthBytes;
    }

    /** At the end of what is there. Waits. */
    int append(ByteBuffer data) throws StoreException {
        int count = data.remaining();
        while (data.hasRemaining()) {
            int part = Math.min(PIECE_BYTES, data.remaining());
            data.get(piece, 0, part);
            sink.write(piece, 0, part);
            lengthBytes += part;
        }
        return count;
    }
}

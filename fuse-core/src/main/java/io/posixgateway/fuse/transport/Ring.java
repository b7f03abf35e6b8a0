package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Uring;
import java.nio.ByteBuffer;

/** What a queue asks of the kernel: {@link Uring}, whose methods these are. A test puts failures in its place. */
interface Ring {
    Ring KERNEL = new Ring() {
        @Override
        public long open(long[] geometry, ByteBuffer box) {
            return Uring.open(geometry, box);
        }

        @Override
        public int enter(long ring, int commits, int spinMicros) {
            return Uring.enter(ring, commits, spinMicros);
        }

        @Override
        public void grow(long ring, long address, int count) {
            Uring.grow(ring, address, count);
        }

        @Override
        public void flush(long ring, int commits) {
            Uring.flush(ring, commits);
        }

        @Override
        public void wake(long ring) {
            Uring.wake(ring);
        }

        @Override
        public void close(long ring) {
            Uring.close(ring);
        }
    };

    long open(long[] geometry, ByteBuffer box);

    int enter(long ring, int commits, int spinMicros);

    void grow(long ring, long address, int count);

    void flush(long ring, int commits);

    void wake(long ring);

    void close(long ring);
}

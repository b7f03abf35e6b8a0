package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.wire.Layouts;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A ring entry: header, arguments and payload apart, the reply's body in the payload's place.
 *
 * <p>It is the kernel's, or its queue thread's, or handed over. The reply to one handed over goes back to the queue's
 * thread, which alone may commit it.
 */
final class UringExchange extends Exchange {
    private final UringQueue queue;
    private final int slot;
    private final ByteBuffer memory;
    private boolean handedOver;

    /** The next in the queue's list of finished ones; written before this is put into it. */
    @Nullable
    UringExchange next;

    UringExchange(UringQueue queue, int slot, ByteBuffer memory) {
        super(memory, 0, memory, Uring.ARGUMENTS_AT, memory, Uring.HEADER_BYTES);
        this.queue = queue;
        this.slot = slot;
        this.memory = memory;
    }

    int slot() {
        return slot;
    }

    @Override
    public ByteBuffer payload() {
        return memory;
    }

    @Override
    public int payloadAt(int argumentBytes) {
        return Uring.HEADER_BYTES;
    }

    @Override
    public int payloadBytes(int argumentBytes) {
        int bytes = memory.getInt(Layouts.IN_HEADER_LEN) - HEADER_BYTES - argumentBytes;
        return Math.min(bytes, memory.getInt(Uring.PAYLOAD_SIZE_AT));
    }

    @Override
    public @Nullable Exchange offload() {
        handedOver = true;
        queue.handedOver();
        return this;
    }

    @Override
    public int reply(int error, int bodyBytes) {
        int body = error == 0 ? bodyBytes : 0;
        memory.putInt(0, Layouts.OUT_HEADER_BYTES + body);
        memory.putInt(4, error);
        memory.putLong(8, memory.getLong(Uring.COMMIT_ID_AT));
        memory.putInt(Uring.PAYLOAD_SIZE_AT, body);
        if (handedOver) {
            handedOver = false;
            return queue.finished(this);
        }
        queue.commit(this);
        return 0;
    }

    /** NOTIFY_REPLY: nobody reads an answer, but an entry must be committed to be used again. */
    @Override
    public void noReply() {
        reply(0, 0);
    }

    /** It stays in its slot, as one that had begun. */
    @Override
    public void leave() {
        if (handedOver) {
            handedOver = false;
            queue.left();
        }
    }
}

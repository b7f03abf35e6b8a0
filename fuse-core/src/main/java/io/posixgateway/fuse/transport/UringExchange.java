package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A ring entry: header, arguments and payload apart, the reply's body in the payload's place.
 *
 * <p>It is the kernel's, or its queue thread's, or handed over. The reply to one handed over goes back to the queue's
 * thread, which alone may commit it. One that its queue added holds no more memory than it needs.
 */
final class UringExchange extends Exchange {
    private final UringQueue queue;
    private final int slot;
    private final ByteBuffer memory;
    private final @Nullable AddedEntries added;
    private final long address;
    private boolean handedOver;
    /** Of an added one: more than the first pages are in use. The queue's thread alone. */
    private boolean wide;

    /** The next in the queue's list of finished ones; written before this is put into it. */
    @Nullable
    UringExchange next;

    /** @param added null: it is one of the first */
    UringExchange(UringQueue queue, int slot, long address, int bytes, @Nullable AddedEntries added) {
        this(queue, slot, address, Native.buffer(address, bytes).order(ByteOrder.nativeOrder()), added);
    }

    UringExchange(UringQueue queue, int slot, long address, ByteBuffer memory, @Nullable AddedEntries added) {
        super(memory, 0, memory, Uring.ARGUMENTS_AT, memory, Uring.HEADER_BYTES);
        this.queue = queue;
        this.slot = slot;
        this.address = address;
        this.memory = memory;
        this.added = added;
    }

    /** On the queue's thread: a request is there. */
    void arrived() {
        if (added != null && !wide && isLarge()) {
            wide = true;
            added.widened();
        }
    }

    /** On the queue's thread: the reply is there, and goes to the kernel. */
    void goes() {
        arrived();
        if (added != null && wide && !isLarge()) {
            wide = false;
            added.narrow(address);
        }
    }

    private boolean isLarge() {
        return memory.getInt(Uring.PAYLOAD_SIZE_AT) > AddedEntries.MIN_PAGE_BYTES;
    }

    /** The file that its request is about; 0: none, or nobody knows. */
    long file() {
        return switch (Opcode.of(memory.getInt(Layouts.IN_HEADER_OPCODE))) {
            case OPEN, READ, WRITE, FSYNC, FLUSH, FALLOCATE -> memory.getLong(Layouts.IN_HEADER_NODEID);
            default -> 0;
        };
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

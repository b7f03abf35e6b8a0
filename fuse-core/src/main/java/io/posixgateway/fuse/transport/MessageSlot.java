package io.posixgateway.fuse.transport;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A message as it comes over /dev/fuse: contiguous, from the beginning of the slot; the reply's body lies on a page border
 * of its own, its header right before.
 *
 * <p>A slot is a lane's, or handed over, or free. A reply to a lane's request waits for the lane, which sends it together
 * with its next receive; a reply to a handed-over one is sent at once, and frees the slot. A parked slot is one request's alone, in
 * memory of its own, and is gone with the reply.
 */
final class MessageSlot extends Exchange {
    static final int REPLY_AT = 4096;
    private static final int REPLY_HEADER_AT = REPLY_AT - Layouts.OUT_HEADER_BYTES;

    /** Replies whose length the request does not say; the longest one is the target of a link. */
    private static final int SHORT_REPLY_BYTES = 4096;

    /** In the place of an index: a parked slot. */
    private static final int PARKED = -1;

    private final MessageSlots pool;
    private final int index;
    private final long address;
    private final ByteBuffer memory;

    private @Nullable DeviceWorker lane;
    private int fd = -1;
    private int messageBytes;

    /** It was used since its memory was given back. Of its pool, guarded by that. */
    boolean used;

    MessageSlot(MessageSlots pool, int index, long address, ByteBuffer memory) {
        super(memory, 0, memory, HEADER_BYTES, memory, REPLY_AT);
        assert memory.order() == ByteOrder.nativeOrder();
        this.pool = pool;
        this.index = index;
        this.address = address;
        this.memory = memory;
    }

    /** A request of another slot, in memory of its own. */
    static MessageSlot parked(MessageSlot from, long address, ByteBuffer memory) {
        MessageSlot copy = new MessageSlot(from.pool, PARKED, address, memory);
        memory.put(0, from.memory, 0, from.messageBytes);
        copy.messageBytes = from.messageBytes;
        copy.fd = from.fd;
        return copy;
    }

    @Override
    public @Nullable Exchange park() {
        return pool.park(this, messageBytes);
    }

    @Override
    public boolean isParked() {
        return index == PARKED;
    }

    /** Nobody hears that it failed, and what it is to end would stay. */
    boolean hasToBeDone() {
        return switch (Opcode.of(memory.getInt(Layouts.IN_HEADER_OPCODE))) {
            case RELEASE, RELEASEDIR, DESTROY -> true;
            default -> false;
        };
    }

    /** The body of its reply is not longer. */
    int mostReplyBytes() {
        int most = memory.capacity() - REPLY_AT;
        return switch (Opcode.of(memory.getInt(Layouts.IN_HEADER_OPCODE))) {
            case READ, READDIR, READDIRPLUS ->
                Math.max(0, Math.min(memory.getInt(HEADER_BYTES + Layouts.READ_IN_SIZE), most));
            case GETXATTR, LISTXATTR, IOCTL, UNKNOWN -> most;
            default -> Math.min(SHORT_REPLY_BYTES, most);
        };
    }

    /** Of the request. */
    int messageBytes() {
        return messageBytes;
    }

    int index() {
        return index;
    }

    long address() {
        return address;
    }

    int capacity() {
        return memory.capacity();
    }

    long replyAddress() {
        return address + REPLY_HEADER_AT;
    }

    /** A message of this length was received into the slot, on this lane's thread. */
    void begin(DeviceWorker receiver, int bytes) {
        lane = receiver;
        fd = receiver.fd;
        messageBytes = bytes;
    }

    boolean isInit() {
        return memory.getInt(Layouts.IN_HEADER_OPCODE) == Opcode.INIT.code();
    }

    @Override
    public ByteBuffer payload() {
        return memory;
    }

    @Override
    public int payloadAt(int argumentBytes) {
        return HEADER_BYTES + argumentBytes;
    }

    @Override
    public int payloadBytes(int argumentBytes) {
        return messageBytes - HEADER_BYTES - argumentBytes;
    }

    @Override
    public @Nullable Exchange offload() {
        DeviceWorker owner = lane;
        if (owner == null) {
            return null;
        }
        MessageSlot fresh = pool.take();
        if (fresh == null) {
            return park();
        }
        owner.current = fresh;
        lane = null;
        pool.handedOver();
        return this;
    }

    @Override
    public int reply(int error, int bodyBytes) {
        int body = error == 0 ? bodyBytes : 0;
        memory.putInt(REPLY_HEADER_AT, Layouts.OUT_HEADER_BYTES + body);
        memory.putInt(REPLY_HEADER_AT + 4, error);
        memory.putLong(REPLY_HEADER_AT + 8, memory.getLong(Layouts.IN_HEADER_UNIQUE));
        if (lane != null) {
            assert !lane.replyPending : "two replies to one request";
            lane.replyPending = true;
            return 0;
        }
        int result = Native.writeMessage(fd, replyAddress());
        pool.handedBack(this);
        return result;
    }

    @Override
    public void noReply() {
        if (lane == null) {
            pool.handedBack(this);
        }
    }
}

package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.transport.Exchange;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An exchange in memory, in either of the two shapes that transports have, which counts its answers. */
public final class MemoryExchange extends Exchange {
    public static final int BUFFER_BYTES = (1 << 20) + 4096;

    /** How the parts of a message lie. */
    public enum Shape {
        /** As on /dev/fuse: header, arguments and payload follow one another; the reply has a place of its own. */
        CONTIGUOUS,
        /** As on io_uring: the three lie apart, and the reply overwrites the payload. */
        APART
    }

    /** What {@link #offload} gives. */
    public enum Offload {
        SAME,
        COPY,
        NONE
    }

    private final Shape shape;
    private final ByteBuffer message;
    private final ByteBuffer payload;
    private volatile Offload offload;
    private volatile CountDownLatch answered = new CountDownLatch(1);
    private int messageBytes;
    private int pid = 77;
    private @Nullable MemoryExchange copy;

    /** The answers so far, and what the last one said. */
    public volatile int answers;

    public volatile int error;
    public volatile int bodyBytes;
    public volatile boolean unanswered;
    /** The last request was to be finished much later. */
    public volatile boolean parked;

    public static MemoryExchange of(Shape shape, Offload offload) {
        ByteBuffer message = buffer();
        ByteBuffer payload = shape == Shape.CONTIGUOUS ? message : buffer();
        ByteBuffer reply = shape == Shape.CONTIGUOUS ? buffer() : payload;
        return new MemoryExchange(shape, offload, message, payload, reply);
    }

    private MemoryExchange(Shape shape, Offload offload, ByteBuffer message, ByteBuffer payload, ByteBuffer reply) {
        super(message, 0, message, HEADER_BYTES, reply, shape == Shape.CONTIGUOUS ? Layouts.OUT_HEADER_BYTES : 0);
        this.shape = shape;
        this.offload = offload;
        this.message = message;
        this.payload = payload;
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.nativeOrder());
    }

    /** From now on; any thread. */
    public void handsOver(Offload what) {
        offload = what;
    }

    /** The requests that follow are of this process. */
    public void asProcess(int asking) {
        pid = asking;
    }

    /** Puts a request; the length said is the true one. */
    public void ask(int opcode, long unique, long node, byte[] arguments, byte[] data) {
        answers = 0;
        unanswered = false;
        parked = false;
        answered = new CountDownLatch(1);
        messageBytes = HEADER_BYTES + arguments.length + data.length;
        message.putInt(Layouts.IN_HEADER_LEN, messageBytes);
        message.putInt(Layouts.IN_HEADER_OPCODE, opcode);
        message.putLong(Layouts.IN_HEADER_UNIQUE, unique);
        message.putLong(Layouts.IN_HEADER_NODEID, node);
        message.putInt(Layouts.IN_HEADER_UID, 1000);
        message.putInt(Layouts.IN_HEADER_GID, 1000);
        message.putInt(Layouts.IN_HEADER_PID, pid);
        message.put(HEADER_BYTES, arguments);
        payload.put(shape == Shape.CONTIGUOUS ? HEADER_BYTES + arguments.length : 0, data);
    }

    public void ask(Opcode opcode, long node, byte[] arguments, byte[] data) {
        ask(opcode.code(), 4, node, arguments, data);
    }

    /** Waits for the answer, which may come from the pool. */
    public void awaitAnswer() throws InterruptedException {
        MemoryExchange last = copy != null ? copy : this;
        if (!last.answered.await(60, TimeUnit.SECONDS)) {
            throw new AssertionError("no answer within 60 s");
        }
        if (last != this) {
            error = last.error;
            bodyBytes = last.bodyBytes;
            answers = last.answers;
        }
    }

    public MemoryExchange answeredBy() {
        return copy != null ? copy : this;
    }

    @Override
    public ByteBuffer payload() {
        return payload;
    }

    @Override
    public int payloadAt(int argumentBytes) {
        return shape == Shape.CONTIGUOUS ? HEADER_BYTES + argumentBytes : 0;
    }

    @Override
    public int payloadBytes(int argumentBytes) {
        return messageBytes - HEADER_BYTES - argumentBytes;
    }

    @Override
    public @Nullable Exchange offload() {
        return switch (offload) {
            case SAME -> this;
            case COPY -> copied();
            case NONE -> null;
        };
    }

    @Override
    public @Nullable Exchange park() {
        parked = true;
        return offload();
    }

    private MemoryExchange copied() {
        MemoryExchange other = of(shape, Offload.SAME);
        other.message.put(0, message, 0, BUFFER_BYTES);
        other.payload.put(0, payload, 0, BUFFER_BYTES);
        other.messageBytes = messageBytes;
        copy = other;
        return other;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public int reply(int error, int bodyBytes) {
        this.error = error;
        this.bodyBytes = bodyBytes;
        answers++;
        answered.countDown();
        return 0;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void noReply() {
        unanswered = true;
        answers++;
        answered.countDown();
    }
}

package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.transport.Exchange;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/** An exchange in memory that counts what became of its requests. */
final class TestExchange extends Exchange {
    private static final int REPLY_AT = 128;

    /** Replies, and requests left to the next process. */
    final AtomicInteger ended = new AtomicInteger();

    /** Of the last reply; 0: it had none. */
    volatile int error;

    private final ByteBuffer message;

    TestExchange() {
        this(ByteBuffer.allocate(512).order(ByteOrder.nativeOrder()));
    }

    private TestExchange(ByteBuffer message) {
        super(message, 0, message, HEADER_BYTES, message, REPLY_AT);
        this.message = message;
    }

    /** Puts a request with zeros as its arguments, the first of which may be given. */
    TestExchange ask(Opcode opcode, long unique, long argument) {
        message.putInt(Layouts.IN_HEADER_OPCODE, opcode.code());
        message.putLong(Layouts.IN_HEADER_UNIQUE, unique);
        message.putLong(Layouts.IN_HEADER_NODEID, 1);
        message.putLong(HEADER_BYTES, argument);
        return this;
    }

    /** Counts from zero again, when all that it was asked has ended. */
    TestExchange anew() {
        ended.set(0);
        error = 0;
        return this;
    }

    /** Waits until so many requests have ended; false: they do not within a minute. */
    boolean awaitEnded(int count) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (ended.get() < count && System.nanoTime() - deadline < 0) {
            Thread.yield();
        }
        return ended.get() >= count;
    }

    @Override
    public ByteBuffer payload() {
        return message;
    }

    @Override
    public int payloadAt(int argumentBytes) {
        return HEADER_BYTES + argumentBytes;
    }

    @Override
    public int payloadBytes(int argumentBytes) {
        return 0;
    }

    @Override
    public Exchange offload() {
        return this;
    }

    @Override
    public int reply(int replied, int bodyBytes) {
        error = replied;
        ended.incrementAndGet();
        return 0;
    }

    @Override
    public void noReply() {
        ended.incrementAndGet();
    }
}

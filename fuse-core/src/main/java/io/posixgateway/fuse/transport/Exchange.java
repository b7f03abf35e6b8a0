package io.posixgateway.fuse.transport;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One request and the room for its reply, in the transport's memory; used again for request after request.
 *
 * <p>On /dev/fuse and libfuse a message is contiguous: header, arguments, payload. On io_uring the three lie apart, and the
 * reply's body overwrites the payload: <b>whoever needs a name copies it before anything is put into the reply.</b>
 *
 * <p>Exactly one of {@link #reply}, {@link #noReply} and {@link #leave} is called per request, on any thread if {@link #offload} or
 * {@link #park} gave leave and else on the transport's thread before the handler returns. All buffers are direct, native order,
 * accessed by absolute positions.
 */
public abstract class Exchange {
    /** struct fuse_in_header: 40 bytes. */
    public static final int HEADER_BYTES = 40;

    private final ByteBuffer header;
    private final int headerAt;
    private final ByteBuffer arguments;
    private final int argumentsAt;
    private final ByteBuffer reply;
    private final int replyAt;

    /** What the handler keeps with this exchange, made once and used for every request. */
    public @Nullable Object attachment;

    protected Exchange(
            ByteBuffer header, int headerAt, ByteBuffer arguments, int argumentsAt, ByteBuffer reply, int replyAt) {
        this.header = header;
        this.headerAt = headerAt;
        this.arguments = arguments;
        this.argumentsAt = argumentsAt;
        this.reply = reply;
        this.replyAt = replyAt;
    }

    /** Holds the fuse_in_header at {@link #headerAt}. */
    public final ByteBuffer header() {
        return header;
    }

    public final int headerAt() {
        return headerAt;
    }

    /** Holds the operation's fixed arguments (struct fuse_read_in, …) at {@link #argumentsAt}. */
    public final ByteBuffer arguments() {
        return arguments;
    }

    public final int argumentsAt() {
        return argumentsAt;
    }

    /** Holds what follows the arguments (names, data to write) at {@link #payloadAt}. */
    public abstract ByteBuffer payload();

    /** @param argumentBytes size of the operation's fixed arguments */
    public abstract int payloadAt(int argumentBytes);

    /** Bytes of payload; negative: the message is shorter than its arguments. */
    public abstract int payloadBytes(int argumentBytes);

    /** Where the body of the reply goes, from {@link #replyAt} on, up to {@link #replyCapacity} bytes. */
    public final ByteBuffer reply() {
        return reply;
    }

    public final int replyAt() {
        return replyAt;
    }

    public final int replyCapacity() {
        return reply.capacity() - replyAt;
    }

    /**
     * Asks to finish this request on another thread. On the transport's thread, while handling.
     *
     * @return the exchange to finish (this one, or a copy), or null: there is no room for it to wait in
     */
    public abstract @Nullable Exchange offload();

    /**
     * Asks to finish this request on another thread, much later. On the transport's thread, while handling. Where a transport can do
     * so, the request then holds none of the slots that others need.
     *
     * @return the exchange to finish (this one, or a copy), or null: nothing more can be parked
     */
    public @Nullable Exchange park() {
        return offload();
    }

    /** Is it of one request alone, so that nothing is left of it after the reply? */
    public boolean isParked() {
        return false;
    }

    /**
     * Sends the reply.
     *
     * @param error 0 or a negative errno (then no body goes)
     * @param bodyBytes bytes put at {@link #replyAt}
     * @return 0, or a negative errno: the kernel did not take it (ENOENT: the caller was interrupted and is gone)
     */
    public abstract int reply(int error, int bodyBytes);

    /** Ends a request that gets no answer (FORGET, INTERRUPT and the like). */
    public abstract void noReply();

    /** Leaves a request unanswered to the next process that serves the session, in place of a reply. */
    public void leave() {
        noReply();
    }
}

package io.posixgateway.alluxio.client;

import alluxio.exception.status.DeadlineExceededException;
import alluxio.exception.status.UnavailableException;
import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.GrpcSerializationUtils;
import alluxio.grpc.ReadRequest;
import alluxio.shaded.client.io.grpc.CallOptions;
import alluxio.shaded.client.io.grpc.Channel;
import alluxio.shaded.client.io.grpc.ClientCall;
import alluxio.shaded.client.io.grpc.Detachable;
import alluxio.shaded.client.io.grpc.Metadata;
import alluxio.shaded.client.io.grpc.MethodDescriptor;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.shaded.client.io.grpc.internal.ReadableBuffer;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call that brings a part of a block from its worker, in one read or in several, one after the other. The thread that reads waits for
 * all it wants, and the one that receives puts what came where it is wanted, as long as it is in the CPU's cache.
 *
 * <p>Between two reads nothing is taken from the connection: what lies here then is the window of the call, and what is left of one message.
 *
 * <p>Alluxio's own reader hands each message on twice, to a thread of gRPC's and to the one that waits; to bring a GiB takes it
 * half as much CPU time again. What comes is a message {@code ReadResponse { Chunk chunk = 1 }},
 * {@code Chunk { bytes data = 1 }} of Alluxio's block_worker.proto.
 */
final class BlockReadCall extends ClientCall.Listener<InputStream> implements AutoCloseable {
    private static final MethodDescriptor<ReadRequest, InputStream> READ_BLOCK =
            BlockWorkerGrpc.getReadBlockMethod().toBuilder(
                            BlockWorkerGrpc.getReadBlockMethod().getRequestMarshaller(), new Received())
                    .build();
    /** Field 1, with a length before it. */
    private static final int FIRST_FIELD = 1 << 3 | 2;

    private final ReadRequest request;
    private final Clock clock;

    // Guarded by this.
    private @Nullable ClientCall<ReadRequest, InputStream> call;
    /** Where to put what comes; null: nothing is wanted now. */
    private StoreReader.@Nullable ScatterTarget rooms;
    /** Run whenever something came. */
    private Runnable heard = () -> {};
    /** What was not wanted of the last message; ours until it is closed. */
    private @Nullable InputStream rest;

    private int restBytes;
    private boolean requested;
    private long receivedBytes;
    private @Nullable IOException failure;
    /** Nothing more comes. */
    private boolean over;

    private boolean closed;
    private Runnable afterwards = () -> {};

    /** The worker has less than it was asked for: a file of the under file system is shorter than Alluxio believes. */
    static final class TooShort extends IOException {
        private static final long serialVersionUID = 1;

        TooShort(String message) {
            super(message);
        }
    }

    private BlockReadCall(ReadRequest request, Clock clock) {
        this.request = request;
        this.clock = clock;
    }

    /** Sends the request; {@link #read} then waits for what it brings. */
    static BlockReadCall begin(Channel worker, ReadRequest request, Clock clock) {
        BlockReadCall call = new BlockReadCall(request, clock);
        call.start(worker);
        return call;
    }

    private synchronized void start(Channel channel) {
        // Without a thread in between. All that is done on it is short.
        ClientCall<ReadRequest, InputStream> made =
                channel.newCall(READ_BLOCK, CallOptions.DEFAULT.withExecutor(Runnable::run));
        call = made;
        made.start(this, new Metadata());
        made.sendMessage(request);
    }

    /**
     * Waits until the rooms are full, or all of the request is there; an interrupt, or giving the waiting call up, ends it, and with it all
     * of this. Nothing is put into the rooms any more afterwards.
     *
     * @param into no more than is left of the request
     * @param heardOf run whenever something came
     * @param silentMillis most time without anything
     */
    void read(StoreReader.ScatterTarget into, CancellableCall waiting, Runnable heardOf, long silentMillis)
            throws IOException {
        waiting.cancelBy(this::giveUp);
        synchronized (this) {
            rooms = into;
            heard = heardOf;
            boolean done = false;
            try {
                if (waiting.isGivenUp()) {
                    giveUp();
                }
                takeRest();
                requestMore();
                await(silentMillis);
                done = true;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw (IOException) new InterruptedIOException("Interrupted").initCause(e);
            } finally {
                rooms = null;
                if (!done) {
                    abort("given up");
                }
            }
        }
    }

    private void await(long silentMillis) throws IOException, InterruptedException {
        long known = -1;
        while (isWaiting() && receivedBytes > known) {
            known = receivedBytes;
            awaitEnd(silentMillis);
        }
        if (isWaiting()) {
            throw new DeadlineExceededException("No data arrived within " + silentMillis + " ms");
        }
        if (wants()) {
            IOException why = failure;
            if (why == null) {
                throw new IOException("All that was asked for was read before");
            }
            throw why instanceof TooShort ? why : new IOException(why);
        }
    }

    private void awaitEnd(long millis) throws InterruptedException {
        long end = clock.nanos() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = end - clock.nanos(); isWaiting() && left > 0; left = end - clock.nanos()) {
            clock.waitOn(this, left);
        }
    }

    private boolean isWaiting() {
        return !over && wants();
    }

    private boolean wants() {
        StoreReader.ScatterTarget into = rooms;
        return into != null && into.bytes() > 0;
    }

    private void requestMore() {
        if (isWaiting() && !requested) {
            requested = true;
            call().request(1);
        }
    }

    private void giveUp() {
        synchronized (this) {
            if (isWaiting()) {
                end(new UnavailableException("The worker does not answer"));
            }
        }
    }

    private void abort(String why) {
        boolean inFlight = !over;
        over = true;
        dropRest();
        if (inFlight || failure != null) {
            call().cancel(why, null);
        }
    }

    private void end(@Nullable IOException why) {
        if (!over) {
            over = true;
            failure = why;
            notifyAll();
        }
    }

    @Override
    public synchronized void onMessage(InputStream message) {
        requested = false;
        if (over) {
            return;
        }
        heard.run();
        try {
            take(message);
        } catch (IOException | RuntimeException e) {
            end(new IOException("Invalid message from a worker", e));
            call().cancel("not understood", null);
            return;
        }
        if (receivedBytes == request.getLength()) {
            call().halfClose();
            end(null);
            return;
        }
        call().sendMessage(ReadRequest.newBuilder()
                .setOffsetReceived(request.getOffset() + receivedBytes)
                .build());
        requestMore();
        if (!wants()) {
            notifyAll();
        }
    }

    private ClientCall<ReadRequest, InputStream> call() {
        return Objects.requireNonNull(call);
    }

    private static ReadableBuffer bufferOf(InputStream message) {
        ReadableBuffer buffer = GrpcSerializationUtils.getBufferFromStream(message);
        if (buffer == null) {
            throw new IllegalStateException("Unexpected type of gRPC stream: " + message.getClass());
        }
        return buffer;
    }

    private void take(InputStream message) throws IOException {
        ReadableBuffer buffer = bufferOf(message);
        lengthOfField(buffer);
        int count = lengthOfField(buffer);
        if (count < 0 || count > Math.min(buffer.readableBytes(), request.getLength() - receivedBytes)) {
            throw new IOException(count + " bytes after " + receivedBytes + " of " + request.getLength());
        }
        int left = put(buffer, count);
        receivedBytes += count;
        if (left > 0) {
            rest = ((Detachable) message).detach();
            restBytes = left;
        }
    }

    private void takeRest() {
        InputStream kept = rest;
        if (kept != null) {
            restBytes = put(bufferOf(kept), restBytes);
            if (restBytes == 0) {
                dropRest();
            }
        }
    }

    private void dropRest() {
        InputStream kept = rest;
        rest = null;
        if (kept != null) {
            try {
                kept.close();
            } catch (IOException e) {
                throw new IllegalStateException("Memory was not released", e);
            }
        }
    }

    /** Puts them where they are wanted; returns how many are not. */
    private int put(ReadableBuffer buffer, int count) {
        int left = count;
        while (left > 0 && wants()) {
            StoreReader.ScatterTarget target = Objects.requireNonNull(rooms);
            ByteBuffer into = target.next();
            int limit = into.limit();
            int part = Math.min(left, into.remaining());
            into.limit(into.position() + part);
            try {
                buffer.readBytes(into);
            } finally {
                into.limit(limit);
            }
            left -= part;
            target.came();
        }
        return left;
    }

    private static int lengthOfField(ReadableBuffer message) throws IOException {
        int tag = message.readUnsignedByte();
        if (tag != FIRST_FIELD) {
            throw new IOException("Field " + tag);
        }
        int length = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += 7) {
            int part = message.readUnsignedByte();
            length |= (part & 0x7f) << shift;
            if (part < 0x80) {
                return length;
            }
        }
        throw new IOException("Invalid length");
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        Runnable then;
        synchronized (this) {
            if (!over) {
                String text = "The worker ended the stream: " + status;
                end(status.isOk() ? new TooShort(text) : new IOException(text, status.asException()));
            }
            closed = true;
            then = afterwards;
        }
        then.run();
    }

    /** Runs it when the worker has ended the call, too; on the thread that receives, or at once. */
    void afterwards(Runnable then) {
        synchronized (this) {
            if (!closed) {
                afterwards = then;
                return;
            }
        }
        then.run();
    }

    /** Nothing more is wanted: the worker ends the call. */
    @Override
    public synchronized void close() {
        dropRest();
        if (!over) {
            over = true;
            call().halfClose();
            call().request(Integer.MAX_VALUE); // and nothing of it remains in the connection
        }
    }

    /** Does not copy. */
    private static final class Received implements MethodDescriptor.Marshaller<InputStream> {
        @Override
        public InputStream stream(InputStream message) {
            throw new UnsupportedOperationException("is only received");
        }

        @Override
        public InputStream parse(InputStream stream) {
            return stream;
        }
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.block.stream.BlockWorkerClient;
import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.GrpcSerializationUtils;
import alluxio.grpc.ReadRequest;
import alluxio.shaded.client.io.grpc.CallOptions;
import alluxio.shaded.client.io.grpc.Channel;
import alluxio.shaded.client.io.grpc.ClientCall;
import alluxio.shaded.client.io.grpc.Metadata;
import alluxio.shaded.client.io.grpc.MethodDescriptor;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.shaded.client.io.grpc.internal.ReadableBuffer;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call that brings a part of a block from its worker. The thread that makes it waits for all of it, and the one that receives
 * puts what came where it is wanted, as long as it is in the CPU's cache.
 *
 * <p>Alluxio's own reader hands each message on twice, to a thread of gRPC's and to the one that waits; to bring a GiB takes it
 * half as much CPU time again. What comes is a message {@code ReadResponse { Chunk chunk = 1 }},
 * {@code Chunk { bytes data = 1 }} of Alluxio's block_worker.proto.
 */
final class BlockCall extends ClientCall.Listener<ReadableBuffer> {
    private static final MethodDescriptor<ReadRequest, ReadableBuffer> READ_BLOCK =
            BlockWorkerGrpc.getReadBlockMethod().toBuilder(
                            BlockWorkerGrpc.getReadBlockMethod().getRequestMarshaller(), new Received())
                    .build();
    /** Field 1, with a length before it. */
    private static final int FIRST_FIELD = 1 << 3 | 2;

    private final ReadRequest request;
    private final FileSource.Rooms rooms;
    private final Runnable heard;
    private final Clock clock;

    // Guarded by this.
    private @Nullable ClientCall<ReadRequest, ReadableBuffer> call;
    private long receivedBytes;
    private @Nullable IOException failure;
    private boolean over;

    private BlockCall(ReadRequest request, FileSource.Rooms rooms, Runnable heard, Clock clock) {
        this.clock = clock;
        this.request = request;
        this.rooms = rooms;
        this.heard = heard;
    }

    /**
     * Waits until all that is asked for is there; an interrupt ends it. Nothing is put into the rooms any more afterwards.
     *
     * @param request no more than there is room for
     * @param heard run whenever something came
     * @param silentMillis most time without anything
     */
    static void read(
            Channel worker, ReadRequest request, FileSource.Rooms rooms, Runnable heard, long silentMillis, Clock clock)
            throws IOException {
        BlockCall call = new BlockCall(request, rooms, heard, clock);
        call.begin(worker);
        call.await(silentMillis);
    }

    /** The connection that Alluxio's client uses for data, which it has made itself known on. */
    static Channel channelOf(BlockWorkerClient worker) throws IOException {
        try {
            Field channel = worker.getClass().getDeclaredField("mStreamingChannel");
            channel.setAccessible(true);
            return (Channel) channel.get(worker);
        } catch (ReflectiveOperationException | ClassCastException e) {
            throw new IOException("Unexpected type of Alluxio client: " + worker.getClass(), e);
        }
    }

    private synchronized void begin(Channel channel) {
        // Without a thread in between. All that is done on it is short.
        ClientCall<ReadRequest, ReadableBuffer> made =
                channel.newCall(READ_BLOCK, CallOptions.DEFAULT.withExecutor(Runnable::run));
        call = made;
        made.start(this, new Metadata());
        made.sendMessage(request);
        made.request(1);
    }

    private synchronized void await(long silentMillis) throws IOException {
        try {
            long known = -1;
            while (!over && receivedBytes > known) {
                known = receivedBytes;
                awaitEnd(silentMillis);
            }
            if (!over) {
                throw new IOException("No data arrived within " + silentMillis + " ms");
            }
            if (failure != null) {
                throw new IOException(failure);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("Interrupted").initCause(e);
        } finally {
            if (!over) {
                over = true;
                cancel("given up");
            }
        }
    }

    private void awaitEnd(long millis) throws InterruptedException {
        long end = clock.nanos() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long left = end - clock.nanos(); !over && left > 0; left = end - clock.nanos()) {
            clock.waitOn(this, left);
        }
    }

    private void cancel(String why) {
        if (call != null) {
            call.cancel(why, null);
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
    public synchronized void onMessage(ReadableBuffer message) {
        if (over) {
            return;
        }
        heard.run();
        try {
            take(message);
        } catch (IOException | RuntimeException e) {
            end(new IOException("Invalid message from a worker", e));
            cancel("not understood");
            return;
        }
        if (receivedBytes == request.getLength()) {
            call().halfClose();
            end(null);
        } else {
            call().sendMessage(ReadRequest.newBuilder()
                    .setOffsetReceived(request.getOffset() + receivedBytes)
                    .build());
            call().request(1);
        }
    }

    private ClientCall<ReadRequest, ReadableBuffer> call() {
        return Objects.requireNonNull(call);
    }

    private void take(ReadableBuffer message) throws IOException {
        lengthOfField(message);
        int count = lengthOfField(message);
        if (count < 0 || count > Math.min(message.readableBytes(), request.getLength() - receivedBytes)) {
            throw new IOException(count + " bytes after " + receivedBytes + " of " + request.getLength());
        }
        for (int left = count; left > 0; ) {
            ByteBuffer into = rooms.next();
            int limit = into.limit();
            int part = Math.min(left, into.remaining());
            into.limit(into.position() + part);
            try {
                message.readBytes(into);
            } finally {
                into.limit(limit);
            }
            left -= part;
            rooms.came();
        }
        receivedBytes += count;
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
    public synchronized void onClose(Status status, Metadata trailers) {
        if (!over) {
            end(new IOException("The worker ended the stream: " + status, status.getCause()));
        }
    }

    /** Does not copy. */
    private static final class Received implements MethodDescriptor.Marshaller<ReadableBuffer> {
        @Override
        public InputStream stream(ReadableBuffer message) {
            throw new UnsupportedOperationException("is only received");
        }

        @Override
        public ReadableBuffer parse(InputStream stream) {
            ReadableBuffer buffer = GrpcSerializationUtils.getBufferFromStream(stream);
            if (buffer == null) {
                throw new IllegalStateException("Unexpected type of gRPC stream: " + stream.getClass());
            }
            return buffer;
        }
    }
}

package io.posixgateway.alluxio.client;

import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.CacheRequest;
import alluxio.grpc.CacheResponse;
import alluxio.grpc.Chunk;
import alluxio.grpc.OpenLocalBlockRequest;
import alluxio.grpc.OpenLocalBlockResponse;
import alluxio.grpc.ReadRequest;
import alluxio.grpc.ReadResponse;
import alluxio.grpc.RemoveBlockRequest;
import alluxio.grpc.RemoveBlockResponse;
import alluxio.grpc.WriteRequest;
import alluxio.grpc.WriteResponse;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import alluxio.shaded.client.io.grpc.Server;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.shaded.client.io.grpc.netty.NettyServerBuilder;
import alluxio.shaded.client.io.grpc.stub.ServerCallStreamObserver;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import alluxio.wire.TieredIdentity;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A worker of Alluxio, over gRPC without authentication. It sends what every worker has of a block, as fast as the connection takes it, as
 * the real one does, unless a test has it refuse, stop or stay silent.
 */
final class FalseWorker implements AutoCloseable {
    private static final int PART_BYTES = 128 << 10;

    private final Server server;
    private final String name;
    /** How blocks were asked for. */
    final List<ReadRequest> requests = new CopyOnWriteArrayList<>();
    /** What it was asked to fetch. */
    final List<CacheRequest> fetched = new CopyOnWriteArrayList<>();
    /** Ids of the blocks that were put into it, and taken out. */
    final List<Long> written = new CopyOnWriteArrayList<>();

    final List<Long> removed = new CopyOnWriteArrayList<>();

    final AtomicInteger cancelled = new AtomicInteger();
    /** In all. */
    final AtomicLong sentBytes = new AtomicLong();

    private volatile Answering answering = request -> Status.OK;
    private volatile long mostBytes = Long.MAX_VALUE;

    /** How it answers. */
    @FunctionalInterface
    interface Answering {
        /** @return what a call ends with: OK, after all that was asked for; null: never, and nothing is sent */
        @Nullable
        Status to(ReadRequest request);
    }

    FalseWorker(String name) throws IOException {
        this.name = name;
        this.server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Blocks())
                .build()
                .start();
    }

    WorkerNetAddress address() {
        return new WorkerNetAddress()
                .setHost("127.0.0.1")
                .setDataPort(server.getPort())
                .setRpcPort(server.getPort())
                .setTieredIdentity(new TieredIdentity(List.of(new TieredIdentity.LocalityTier("node", name))));
    }

    void answer(Answering how) {
        answering = how;
    }

    /** Each call ends, as if all was sent, after so many bytes. */
    void sendAtMost(long bytes) {
        mostBytes = bytes;
    }

    static byte byteAt(long block, long offset) {
        return (byte) (block * 31 + offset + (offset >> 8) * 7);
    }

    private static ByteString content(long block, long offset, int count) {
        byte[] content = new byte[count];
        for (int i = 0; i < count; i++) {
            content[i] = byteAt(block, offset + i);
        }
        return ByteString.copyFrom(content);
    }

    /** One call. What is called here gRPC calls one after the other. */
    private final class Sending implements StreamObserver<ReadRequest> {
        private final ServerCallStreamObserver<ReadResponse> responses;
        private @Nullable ReadRequest request;
        private long sent;
        private boolean over;

        Sending(StreamObserver<ReadResponse> responses) {
            this.responses = (ServerCallStreamObserver<ReadResponse>) responses;
            this.responses.setOnReadyHandler(this::send);
            this.responses.setOnCancelHandler(cancelled::incrementAndGet);
        }

        @Override
        public void onNext(ReadRequest next) {
            if (next.hasOffsetReceived()) {
                return;
            }
            requests.add(next);
            Status status = answering.to(next);
            if (status == null) {
                over = true;
            } else if (status.isOk()) {
                request = next;
                send();
            } else {
                over = true;
                responses.onError(status.asException());
            }
        }

        private void send() {
            ReadRequest wanted = request;
            if (wanted == null || over) {
                return;
            }
            long all = Math.min(wanted.getLength(), mostBytes);
            while (sent < all && responses.isReady()) {
                int part = (int) Math.min(PART_BYTES, all - sent);
                ByteString data = content(wanted.getBlockId(), wanted.getOffset() + sent, part);
                responses.onNext(ReadResponse.newBuilder()
                        .setChunk(Chunk.newBuilder().setData(data))
                        .build());
                sent += part;
                sentBytes.addAndGet(part);
            }
            if (sent == all) {
                over = true;
                responses.onCompleted();
            }
        }

        @Override
        public void onError(Throwable failure) {
            over = true;
        }

        @Override
        public void onCompleted() {
            if (!over) {
                over = true;
                responses.onCompleted();
            }
        }
    }

    /** One block that is put into it. */
    private final class Receiving implements StreamObserver<WriteRequest> {
        private final StreamObserver<WriteResponse> responses;
        private long block;
        private long bytes;

        Receiving(StreamObserver<WriteResponse> responses) {
            this.responses = responses;
        }

        @Override
        public void onNext(WriteRequest request) {
            if (request.hasChunk()) {
                bytes += request.getChunk().getData().size();
            } else if (request.getCommand().getFlush()) {
                responses.onNext(WriteResponse.newBuilder().setOffset(bytes).build());
            } else {
                block = request.getCommand().getId();
            }
        }

        @Override
        public void onError(Throwable failure) {
            // The client gave it up.
        }

        @Override
        public void onCompleted() {
            written.add(block);
            responses.onCompleted();
        }
    }

    private final class Blocks extends BlockWorkerGrpc.BlockWorkerImplBase {
        @Override
        public StreamObserver<ReadRequest> readBlock(StreamObserver<ReadResponse> responses) {
            return new Sending(responses);
        }

        /** As for a block that it lacks. */
        @Override
        public StreamObserver<OpenLocalBlockRequest> openLocalBlock(StreamObserver<OpenLocalBlockResponse> responses) {
            responses.onError(Status.NOT_FOUND.asException());
            return new StreamObserver<>() {
                @Override
                public void onNext(OpenLocalBlockRequest request) {}

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {}
            };
        }

        @Override
        public StreamObserver<WriteRequest> writeBlock(StreamObserver<WriteResponse> responses) {
            return new Receiving(responses);
        }

        @Override
        public void removeBlock(RemoveBlockRequest request, StreamObserver<RemoveBlockResponse> responses) {
            removed.add(request.getBlockId());
            responses.onNext(RemoveBlockResponse.getDefaultInstance());
            responses.onCompleted();
        }

        @Override
        public void cache(CacheRequest request, StreamObserver<CacheResponse> responses) {
            fetched.add(request);
            responses.onNext(CacheResponse.getDefaultInstance());
            responses.onCompleted();
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
    }
}

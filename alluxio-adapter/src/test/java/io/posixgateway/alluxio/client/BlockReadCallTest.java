package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.Chunk;
import alluxio.grpc.ReadRequest;
import alluxio.grpc.ReadResponse;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import alluxio.shaded.client.io.grpc.ManagedChannel;
import alluxio.shaded.client.io.grpc.Server;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.shaded.client.io.grpc.netty.NettyChannelBuilder;
import alluxio.shaded.client.io.grpc.netty.NettyServerBuilder;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a worker on the loopback that does what a real one would never do. What real ones do, ReadPathsIT and others see. */
class BlockReadCallTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int PART_BYTES = 100_000;
    private final byte[] content = new byte[1_000_000];
    private final AtomicInteger heard = new AtomicInteger();
    private final List<Long> acknowledged = new CopyOnWriteArrayList<>();
    private final AtomicInteger calls = new AtomicInteger();
    private volatile boolean cancelled;
    private volatile boolean completed;
    private volatile Behaviour behaviour = this::sendAll;
    private Server server;
    private ManagedChannel channel;

    private interface Behaviour {
        void answer(ReadRequest request, StreamObserver<ReadResponse> answers);
    }

    private final class Worker extends BlockWorkerGrpc.BlockWorkerImplBase {
        @Override
        public StreamObserver<ReadRequest> readBlock(StreamObserver<ReadResponse> responses) {
            calls.incrementAndGet();
            return new StreamObserver<>() {
                @Override
                public void onNext(ReadRequest request) {
                    if (request.hasOffsetReceived()) {
                        acknowledged.add(request.getOffsetReceived());
                    } else {
                        behaviour.answer(request, responses);
                    }
                }

                @Override
                public void onError(Throwable failure) {
                    cancelled = true;
                }

                @Override
                public void onCompleted() {
                    completed = true;
                    responses.onCompleted();
                }
            };
        }
    }

    @BeforeEach
    void start() throws IOException {
        new Random(5).nextBytes(content);
        InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        server = NettyServerBuilder.forAddress(here)
                .addService(new Worker())
                .build()
                .start();
        channel = NettyChannelBuilder.forAddress("127.0.0.1", server.getPort())
                .usePlaintext()
                .build();
    }

    @AfterEach
    void end() {
        channel.shutdownNow();
        server.shutdownNow();
    }

    private void sendAll(ReadRequest request, StreamObserver<ReadResponse> responses) {
        send(request, responses, request.getLength());
    }

    private void send(ReadRequest request, StreamObserver<ReadResponse> responses, long count) {
        for (long sent = 0; sent < count; sent += PART_BYTES) {
            int part = (int) Math.min(PART_BYTES, count - sent);
            ByteString data = ByteString.copyFrom(content, (int) (request.getOffset() + sent), part);
            responses.onNext(ReadResponse.newBuilder()
                    .setChunk(Chunk.newBuilder().setData(data))
                    .build());
        }
    }

    private void read(int offset, ByteBuffer into) throws IOException {
        read(offset, into, 60_000, Clock.system());
    }

    private void read(int offset, ByteBuffer into, long silentMillis, Clock clock) throws IOException {
        try (BlockReadCall call = BlockReadCall.begin(channel, request(offset, into.remaining()), clock)) {
            call.read(StoreReader.ScatterTarget.of(into), new CancellableCall(), heard::incrementAndGet, silentMillis);
        }
    }

    private static ReadRequest request(int offset, int length) {
        return ReadRequest.newBuilder()
                .setBlockId(1)
                .setOffset(offset)
                .setLength(length)
                .build();
    }

    private void readOn(BlockReadCall call, ByteBuffer into, CancellableCall waiting) throws IOException {
        call.read(StoreReader.ScatterTarget.of(into), waiting, heard::incrementAndGet, 60_000);
    }

    @Test
    void bringsWhatIsAskedForAndTellsTheWorkerHowFarItIs() throws Exception {
        ByteBuffer into = ByteBuffer.allocateDirect(450_000);
        read(123_456, into);
        assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(content, 123_456, 450_000));
        assertThat(heard).hasValue(5);
        Waiting.until("all is acknowledged", LIMIT, () -> acknowledged.size() == 4);
        assertThat(acknowledged).containsExactly(223_456L, 323_456L, 423_456L, 523_456L);
    }

    @Test
    void aWorkerThatSendsMoreThanIsAskedForIsNotBelieved() {
        behaviour = (request, responses) -> send(request, responses, request.getLength() + 100);
        ByteBuffer into = ByteBuffer.allocateDirect(150_000).limit(149_000);
        assertThatThrownBy(() -> read(0, into)).hasMessageContaining("Invalid message");
        assertThat(into.position()).isEqualTo(100_000);
    }

    @Test
    void anAnswerThatEndsTooEarlyFails() {
        behaviour = (request, responses) -> {
            send(request, responses, 200_000);
            responses.onCompleted();
        };
        assertThatThrownBy(() -> read(0, ByteBuffer.allocateDirect(300_000)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ended the stream");
    }

    @Test
    void aWorkerThatRefusesIsQuoted() {
        behaviour = (request, responses) -> responses.onError(
                Status.NOT_FOUND.withDescription("no such block").asRuntimeException());
        assertThatThrownBy(() -> read(0, ByteBuffer.allocateDirect(1000)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no such block");
    }

    @Test
    void anAnswerWithoutDataIsNotUnderstood() {
        behaviour = (request, responses) -> responses.onNext(ReadResponse.getDefaultInstance());
        assertThatThrownBy(() -> read(0, ByteBuffer.allocateDirect(1000)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Invalid message");
    }

    @Test
    void silenceIsGivenUpAndNothingIsPutAnyMore() throws Exception {
        behaviour = (request, responses) -> send(request, responses, 100_000);
        ByteBuffer into = ByteBuffer.allocateDirect(300_000);
        ManualClock clock = new ManualClock();
        FutureTask<Boolean> reads = new FutureTask<>(() -> {
            read(0, into, 300, clock);
            return true;
        });
        new Thread(reads).start();
        Waiting.until("something came", LIMIT, () -> heard.get() == 1);
        Waiting.until("it is given up", LIMIT, () -> {
            clock.advance(Duration.ofMillis(300));
            return reads.isDone();
        });
        assertThatThrownBy(reads::get).hasCauseInstanceOf(IOException.class).hasMessageContaining("No data arrived");
        assertThat(into.position()).isEqualTo(100_000);
        Waiting.until("the worker is told", LIMIT, () -> cancelled);
        assertThat(into.position()).isEqualTo(100_000);
    }

    @Test
    void anInterruptEndsIt() throws Exception {
        behaviour = (request, responses) -> {};
        ByteBuffer into = ByteBuffer.allocateDirect(1000);
        AtomicInteger interrupted = new AtomicInteger();
        Thread reads = new Thread(() -> {
            try {
                read(0, into);
            } catch (IOException e) {
                interrupted.set(Thread.currentThread().isInterrupted() ? 1 : -1);
            }
        });
        reads.start();
        Waiting.until("it is asked", LIMIT, () -> calls.get() == 1);
        reads.interrupt();
        reads.join(60_000);
        assertThat(interrupted).hasValue(1);
        Waiting.until("the worker is told", LIMIT, () -> cancelled);
    }

    @Test
    void read_inParts_isOneCallAndLosesNothing() throws Exception {
        ByteBuffer into = ByteBuffer.allocateDirect(500_000);
        try (BlockReadCall call = BlockReadCall.begin(channel, request(1000, 500_000), Clock.system())) {
            for (int limit : new int[] {1, 99_999, 100_000, 250_001, 250_002, 500_000}) {
                readOn(call, into.limit(limit), new CancellableCall());
                assertThat(into.hasRemaining()).isFalse();
            }
            assertThatThrownBy(() -> readOn(call, ByteBuffer.allocate(1), new CancellableCall()))
                    .hasMessageContaining("was read before");
        }
        assertThat(into.flip()).isEqualTo(ByteBuffer.wrap(content, 1000, 500_000));
        assertThat(calls).hasValue(1);
        Waiting.until("the worker is told", LIMIT, () -> completed);
        assertThat(cancelled).isFalse();
    }

    /** A call that is cancelled is an error in the log of the worker. */
    @Test
    void close_inTheMiddle_hasTheWorkerEndTheCall() throws Exception {
        AtomicInteger afterwards = new AtomicInteger();
        try (BlockReadCall call = BlockReadCall.begin(channel, request(0, content.length), Clock.system())) {
            call.afterwards(afterwards::incrementAndGet);
            readOn(call, ByteBuffer.allocateDirect(150_000), new CancellableCall());
            assertThat(afterwards).hasValue(0);
        }
        Waiting.until("the worker has ended it", LIMIT, () -> afterwards.get() == 1);
        assertThat(completed).isTrue();
        assertThat(cancelled).isFalse();
    }

    @Test
    void giveUp_ofAWaitingCall_endsItWithoutAnInterrupt() throws Exception {
        behaviour = (request, responses) -> {};
        CancellableCall waiting = new CancellableCall();
        waiting.beginCancellable(true);
        FutureTask<String> reads = new FutureTask<>(() -> {
            try (BlockReadCall call = BlockReadCall.begin(channel, request(0, 1000), Clock.system())) {
                readOn(call, ByteBuffer.allocateDirect(1000), waiting);
                return "read";
            } catch (IOException e) {
                return (Thread.currentThread().isInterrupted() ? "interrupted " : "") + e.getMessage();
            }
        });
        new Thread(reads).start();
        Waiting.until("it is asked", LIMIT, () -> calls.get() == 1);
        waiting.giveUp(false);
        assertThat(reads.get()).contains("does not answer").doesNotContain("interrupted");
        assertThat(waiting.end()).isTrue();
        Waiting.until("the worker is told", LIMIT, () -> cancelled);
    }

    @Test
    void read_ofACallThatWasGivenUpBefore_doesNotWait() {
        behaviour = (request, responses) -> {};
        CancellableCall waiting = new CancellableCall();
        waiting.beginCancellable(true);
        waiting.giveUp(false);
        try (BlockReadCall call = BlockReadCall.begin(channel, request(0, 1000), Clock.system())) {
            assertThatThrownBy(() -> readOn(call, ByteBuffer.allocateDirect(1000), waiting))
                    .hasMessageContaining("does not answer");
        }
    }
}

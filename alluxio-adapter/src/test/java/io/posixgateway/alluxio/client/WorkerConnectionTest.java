package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import alluxio.conf.InstancedConfiguration;
import alluxio.exception.status.NotFoundException;
import alluxio.exception.status.UnavailableException;
import alluxio.grpc.GrpcChannel;
import alluxio.grpc.GrpcChannelBuilder;
import alluxio.grpc.GrpcServerAddress;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerConnectionTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int MAX = 2;

    private final OffsetClock clock = new OffsetClock();
    private final FalseWorker worker = new FalseWorker("worker");
    private final List<GrpcChannel> made = new CopyOnWriteArrayList<>();
    private final AtomicInteger connecting = new AtomicInteger();
    private volatile boolean silent;
    private final WorkerConnection connection = new WorkerConnection(this::connect, "worker", MAX, clock);

    WorkerConnectionTest() throws IOException {}

    @AfterEach
    void end() {
        connection.close();
        worker.close();
    }

    private GrpcChannel connect() throws IOException {
        boolean waits = silent;
        connecting.incrementAndGet();
        if (waits) {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                throw new UnavailableException("interrupted", e);
            }
        }
        InstancedConfiguration configuration = ClientProperties.of(new StoreOptions(
                "127.0.0.1:1", "", "THROUGH", true, Map.of("alluxio.security.authentication.type", "NOSASL")));
        InetSocketAddress address = new InetSocketAddress(
                InetAddress.getLoopbackAddress(), worker.address().getDataPort());
        GrpcChannel channel = GrpcChannelBuilder.newBuilder(
                        GrpcServerAddress.create("127.0.0.1", address), configuration)
                .build();
        made.add(channel);
        return channel;
    }

    private WorkerConnection.Use use() throws IOException, InterruptedException {
        return connection.use(null, WorkerConnection.LIMIT_NANOS);
    }

    @Test
    void use_ofSeveralCalls_sharesAFewConnections() throws Exception {
        WorkerConnection.Use first = use();
        assertThat(use()).isSameAs(first);
        Waiting.until("another is opened for the next", LIMIT, () -> made.size() == 2 && isAnother(first));
        for (int i = 0; i < 10; i++) {
            assertThat(use()).isNotNull();
        }
        assertThat(connecting).hasValue(MAX);
    }

    /** Does the next call get another one? It keeps it. */
    private boolean isAnother(WorkerConnection.Use first) throws IOException, InterruptedException {
        WorkerConnection.Use next = use();
        if (next == first) {
            next.close();
            return false;
        }
        return true;
    }

    @Test
    void use_afterACallFailed_isAnotherWhereTheConnectionMayBeBroken() throws Exception {
        WorkerConnection.Use first = use();
        first.failed(new NotFoundException("no such block"));
        WorkerConnection.Use same = use();
        assertThat(same).isSameAs(first);
        first.failed(new IOException(new UnavailableException("silent")));
        first.close();
        assertThat(made.get(0).isShutdown()).as("its other call goes on").isFalse();
        same.close();
        Waiting.until("it is closed", LIMIT, () -> made.get(0).isShutdown());
        assertThat(use()).isNotSameAs(first);
    }

    @Test
    void use_afterALongTime_closesThoseThatWereIdle() throws Exception {
        WorkerConnection.Use first = use();
        AtomicReference<WorkerConnection.Use> other = new AtomicReference<>(first);
        Waiting.until("there is another", LIMIT, () -> {
            WorkerConnection.Use next = use();
            other.set(next);
            next.close();
            return next != first;
        });
        WorkerConnection.Use second = Objects.requireNonNull(other.get());
        clock.advance(Duration.ofNanos(WorkerConnection.IDLE_NANOS));
        assertThat(use()).isSameAs(first);
        Waiting.until("it is closed", LIMIT, () -> second.channel.isShutdown());
        assertThat(first.channel.isShutdown()).isFalse();
    }

    @Test
    void use_ofAWorkerThatDoesNotAnswer_endsWhenItIsGivenUp() throws Exception {
        silent = true;
        CancellableCall call = new CancellableCall();
        call.beginCancellable(true);
        FutureTask<Boolean> waits = new FutureTask<>(() -> {
            assertThatThrownBy(() -> connection.use(call, WorkerConnection.LIMIT_NANOS))
                    .isInstanceOf(UnavailableException.class)
                    .hasMessageContaining("does not answer");
            return !Thread.currentThread().isInterrupted();
        });
        new Thread(waits).start();
        Waiting.until("it is connecting", LIMIT, () -> connecting.get() == 1);
        call.giveUp(false);
        assertThat(waits.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void use_afterConnectingTookTooLong_connectsAnew() throws Exception {
        silent = true;
        assertThatThrownBy(() -> connection.use(null, 0)).hasMessageContaining("takes too long");
        Waiting.until("it is connecting", LIMIT, () -> connecting.get() == 1);
        silent = false;
        clock.advance(Duration.ofNanos(WorkerConnection.LIMIT_NANOS));
        assertThatThrownBy(() -> use()).hasMessageContaining("takes too long");
        use().close();
        assertThat(connecting).hasValue(2);
    }

    @Test
    void close_endsThoseWhoWaitAndWhatComes() throws Exception {
        WorkerConnection.Use used = use();
        connection.close();
        assertThatThrownBy(() -> use()).hasMessageContaining("the volume has ended");
        assertThat(used.channel.isShutdown()).isFalse();
        used.close();
        Waiting.until("it is closed", LIMIT, () -> used.channel.isShutdown());
    }
}

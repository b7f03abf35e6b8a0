package io.posixgateway.alluxio.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.posixgateway.alluxio.control.LongCalls.Kind;
import io.posixgateway.alluxio.control.proto.AttachReply;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.ControlGrpc;
import io.posixgateway.alluxio.control.proto.DetachReply;
import io.posixgateway.alluxio.control.proto.DetachRequest;
import io.posixgateway.alluxio.control.proto.InfoRequest;
import io.posixgateway.alluxio.control.proto.ListRequest;
import io.posixgateway.alluxio.control.proto.StatsRequest;
import io.posixgateway.alluxio.gateway.Gateway;
import io.posixgateway.alluxio.gateway.ServiceException;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls that wait for long, and the others beside them. */
class ControlServerTest {
    /** As long as a call may take that hangs. */
    private static final long LIMIT_SECONDS = 60;

    @TempDir
    private Path folder = Path.of("");

    private final CountDownLatch alluxioIsBack = new CountDownLatch(1);
    private final Semaphore attaching = new Semaphore(0);
    private ControlServer server;
    private EventLoopGroup loop;
    private ManagedChannel channel;

    @BeforeEach
    void listen() throws IOException {
        Path socket = folder.resolve("control.sock");
        server = new ControlServer(socket, gateway(), null);
        server.start();
        loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
                .eventLoopGroup(loop)
                .channelType(EpollDomainSocketChannel.class)
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .usePlaintext()
                .build();
    }

    @AfterEach
    void end() {
        alluxioIsBack.countDown();
        channel.shutdownNow();
        server.close();
        assertThat(loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(60, TimeUnit.SECONDS))
                .isTrue();
    }

    /** Its attaches wait for an Alluxio that is away, and fail when it is back. */
    private Gateway gateway() {
        return (Gateway) Proxy.newProxyInstance(
                Gateway.class.getClassLoader(), new Class<?>[] {Gateway.class}, (proxy, method, given) -> call(method));
    }

    private @Nullable Object call(Method method) throws InterruptedException, ServiceException {
        return switch (method.getName()) {
            case "attach" -> {
                attaching.release();
                alluxioIsBack.await();
                throw new ServiceException(ServiceException.Kind.NOT_FOUND, "no such path");
            }
            case "all" -> List.of();
            case "version" -> "of the test";
            case "ready" -> true;
            case "detach" -> null;
            default -> throw new ServiceException(ServiceException.Kind.NOT_FOUND, method.getName());
        };
    }

    private ControlGrpc.ControlBlockingStub calls() {
        return ControlGrpc.newBlockingStub(channel).withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private List<ListenableFuture<AttachReply>> attach(int count) {
        List<ListenableFuture<AttachReply>> attaches = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            attaches.add(ControlGrpc.newFutureStub(channel)
                    .attach(AttachRequest.newBuilder().setVolume("v" + i).build()));
        }
        return attaches;
    }

    private void awaitAttaching(int calls) throws InterruptedException {
        assertThat(attaching.tryAcquire(calls, LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void looksAndDetaches_whileAttachesWaitForAlluxio_areAnswered() throws Exception {
        attach(20);
        awaitAttaching(16); // so many threads there were for all calls
        assertThat(calls().info(InfoRequest.getDefaultInstance()).getVersion()).isEqualTo("of the test");
        assertThat(calls().list(ListRequest.getDefaultInstance()).getVolumesList())
                .isEmpty();
        assertThat(calls().detach(DetachRequest.getDefaultInstance())).isEqualTo(DetachReply.getDefaultInstance());
        assertThatThrownBy(() -> calls().stats(StatsRequest.getDefaultInstance()))
                .hasMessageContaining(Status.Code.NOT_FOUND.name());
    }

    @Test
    void attach_beyondTheBound_isRefusedWithWhatRuns() throws Exception {
        List<ListenableFuture<AttachReply>> attaches = attach(Kind.ATTACH.most());
        awaitAttaching(Kind.ATTACH.most());
        assertThatThrownBy(() -> calls().attach(AttachRequest.getDefaultInstance()))
                .hasMessage("UNAVAILABLE: busy: 128 attaches are running; retry when one has finished, and check"
                        + " whether Alluxio answers");
        alluxioIsBack.countDown();
        for (ListenableFuture<AttachReply> each : attaches) {
            assertThatThrownBy(() -> each.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                    .hasMessageContaining("NOT_FOUND: no such path");
        }
    }
}

package io.posixgateway.alluxio.control;

import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.posixgateway.alluxio.gateway.Directories;
import io.posixgateway.alluxio.gateway.Gateway;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Listens on the control socket: mode 0600, and peers other than root and our own user are hung up on.
 *
 * <p>The socket is bound under another name, made private, and then renamed, so that it is never open to others and a
 * successor takes the name over in one step. One event loop thread; what is answered at once runs on a bounded pool, and other calls on
 * the threads of their kind ({@link LongCalls}).
 */
public final class ControlServer implements AutoCloseable {
    private static final int CALL_THREADS = 16;
    private static final int CALL_QUEUE = 256;

    private final Path socket;
    private final ThreadPoolExecutor calls;
    private final LongCalls longCalls = new LongCalls();
    private final EventLoopGroup loop;
    private final Server server;
    private final Path unbound;

    /** @param directories null: work on directories is not offered here */
    public ControlServer(Path socket, Gateway service, @Nullable Directories directories) throws IOException {
        if (!Epoll.isAvailable()) {
            throw new IOException("Unix sockets need epoll: " + Epoll.unavailabilityCause());
        }
        this.socket = socket.toAbsolutePath();
        this.unbound = this.socket.resolveSibling(
                "." + socket.getFileName() + "." + ProcessHandle.current().pid());
        this.calls = new ThreadPoolExecutor(
                CALL_THREADS,
                CALL_THREADS,
                30,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(CALL_QUEUE),
                ControlServer::thread);
        calls.allowCoreThreadTimeOut(true);
        this.loop = new MultiThreadIoEventLoopGroup(1, ControlServer::thread, EpollIoHandler.newFactory());
        this.server = NettyServerBuilder.forAddress(new DomainSocketAddress(unbound.toString()))
                .channelFactory(ControlServer::listener)
                .bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                .executor(calls)
                .maxInboundMessageSize(1 << 20)
                .addService(new ControlCalls(service, directories, longCalls))
                .build();
    }

    private static EpollServerDomainSocketChannel listener() {
        EpollServerDomainSocketChannel channel = new EpollServerDomainSocketChannel();
        channel.pipeline().addFirst(new PeerCheck());
        return channel;
    }

    static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "control");
        thread.setDaemon(true);
        return thread;
    }

    /** Listens, and takes the socket's name over from whoever had it. */
    public void start() throws IOException {
        Path folder = socket.getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IOException(
                    "the folder of the control socket " + socket + " is missing; create it, or give --socket");
        }
        Files.deleteIfExists(unbound);
        server.start();
        Files.setPosixFilePermissions(unbound, PosixFilePermissions.fromString("rw-------"));
        Files.move(unbound, socket, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Finishes the calls under way, a few seconds at most. The socket's file stays: it may be a successor's by now. */
    @Override
    public void close() {
        server.shutdown();
        try {
            if (!server.awaitTermination(3, TimeUnit.SECONDS)) {
                server.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            server.shutdownNow();
        }
        longCalls.close();
        calls.shutdown();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}

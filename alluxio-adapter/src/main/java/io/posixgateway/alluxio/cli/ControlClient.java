package io.posixgateway.alluxio.cli;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.posixgateway.alluxio.control.proto.ControlGrpc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A connection to the control socket of a gateway. */
final class ControlClient implements AutoCloseable {
    private static final long ANSWER_SECONDS = 30;

    private final Path socket;
    private final EventLoopGroup loop;
    private final ManagedChannel channel;

    /** @throws CommandException nobody listens there, or not for this user */
    ControlClient(Path socket) {
        this.socket = socket;
        if (!Files.exists(socket)) {
            throw new CommandException("nothing listens at " + socket
                    + "; is posix-gateway running? give --socket if its control socket is elsewhere");
        }
        if (!Files.isWritable(socket)) {
            throw new CommandException(
                    "the control socket " + socket + " is another user's; run this as that user or as root");
        }
        loop = new MultiThreadIoEventLoopGroup(
                1,
                task -> {
                    Thread thread = new Thread(task, "control-client");
                    thread.setDaemon(true);
                    return thread;
                },
                EpollIoHandler.newFactory());
        channel = NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toString()))
                .eventLoopGroup(loop)
                .channelType(EpollDomainSocketChannel.class)
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .maxInboundMessageSize(64 << 20)
                .usePlaintext()
                .build();
    }

    /** For calls that answer soon. */
    ControlGrpc.ControlBlockingStub calls() {
        return ControlGrpc.newBlockingStub(channel).withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS);
    }

    /** For calls that continue until they are cancelled. */
    ControlGrpc.ControlBlockingStub streams() {
        return ControlGrpc.newBlockingStub(channel);
    }

    /** What a refusal means to the user. */
    CommandException explained(StatusRuntimeException failure) {
        String said = failure.getStatus().getDescription();
        Status.Code code = failure.getStatus().getCode();
        if (code == Status.Code.UNAVAILABLE && failure.getCause() != null) {
            return new CommandException(
                    "no process answers at " + socket
                            + ": its gateway has ended, or does not accept this user; start it again, or run this as"
                            + " its user",
                    failure);
        }
        if (code == Status.Code.UNIMPLEMENTED) {
            return new CommandException(
                    "the gateway at " + socket
                            + " is of another version and cannot do this; run its version of posix-gateway",
                    failure);
        }
        if (code == Status.Code.DEADLINE_EXCEEDED) {
            return new CommandException(
                    "the gateway at " + socket + " did not respond within " + ANSWER_SECONDS
                            + " s; check whether Alluxio answers, and see the gateway's log",
                    failure);
        }
        return new CommandException(said == null ? failure.getStatus().toString() : said, failure);
    }

    @Override
    public void close() {
        channel.shutdownNow();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    }
}

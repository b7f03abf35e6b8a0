package io.posixgateway.alluxio.control;

import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands in the pipeline of the listening Unix socket and hangs up on peers other than root and our own user, by the
 * kernel's word (SO_PEERCRED).
 */
final class PeerCheck extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(PeerCheck.class);

    @Override
    public void channelRead(ChannelHandlerContext context, Object accepted) throws IOException {
        EpollDomainSocketChannel peer = (EpollDomainSocketChannel) accepted;
        int uid = peer.peerCredentials().uid();
        if (allows(uid)) {
            context.fireChannelRead(accepted);
        } else {
            LOG.warn("Rejected a process of user {} at the control socket", uid);
            peer.unsafe().closeForcibly();
        }
    }

    private static boolean allows(int uid) throws IOException {
        return uid == 0 || uid == (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }
}

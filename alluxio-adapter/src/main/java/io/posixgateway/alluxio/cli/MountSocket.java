package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.gateway.BypassEndpoint;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.alluxio.serve.MountedGateway;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where the process behind a mount listens for orders: a path that follows from the mount point, short enough for a socket. */
final class MountSocket {
    private static final Logger LOG = LoggerFactory.getLogger(MountSocket.class);
    private static final int NAME_BYTES = 10;

    private MountSocket() {}

    /** Lets a mount take orders at its socket; one that cannot have a socket is still a mount. */
    static MountedSession.Steered steer(ServedVolume volume, Path mountPoint, BypassEndpoint bypass) {
        return MountedGateway.start(volume, of(mountPoint), Main.version(), bypass)::close;
    }

    /** Where programs find block files, unless the user says otherwise. */
    static Path bypass() {
        return UmountCommand.isRoot()
                ? Path.of("/run/posix-gateway/bypass/socket")
                : folder().resolve("bypass").resolve("socket");
    }

    /** @param mountPoint absolute, its folder without symbolic links */
    static Path of(Path mountPoint) {
        return folder().resolve("mount-" + digest(mountPoint.toString()) + ".sock");
    }

    /**
     * Removes the socket of a mount whose process was killed.
     *
     * @return false when somebody listens there, whose socket it is
     */
    static boolean removedIfDead(Path mountPoint) {
        Path socket = of(mountPoint);
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            return false;
        } catch (IOException dead) {
            try {
                Files.deleteIfExists(socket);
            } catch (IOException e) {
                LOG.debug("{} stays: {}", socket, e.toString());
            }
            return true;
        }
    }

    private static Path folder() {
        if (UmountCommand.isRoot()) {
            return Path.of("/run/posix-gateway/mounts");
        }
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        return runtime == null ? StateFolder.standard().resolve("run") : Path.of(runtime, "posix-gateway");
    }

    /** Short enough for the name of a socket, and of so many bits that no two texts have the same. */
    static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, NAME_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}

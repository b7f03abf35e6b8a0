package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.bypass.BlockSet;
import io.posixgateway.alluxio.bypass.BypassCounts;
import io.posixgateway.alluxio.bypass.BypassServer;
import io.posixgateway.alluxio.bypass.BypassVolume;
import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.fuse.jni.NativeLoader;
import io.posixgateway.fuse.session.KernelConnection;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The bypass socket of this process, and the library beside it: there as soon as a volume has a use for them. Any thread. */
public final class BypassEndpoint implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BypassEndpoint.class);

    private static final String LIBRARY = "libposixgw-bypass.so";

    private final Path socket;
    private final Clock clock;
    private final List<Bypassed> volumes = new CopyOnWriteArrayList<>();
    /** Guarded by this. */
    private @Nullable BypassServer server;

    private boolean closed;

    /** @param socket in a folder of its own, which pods may see */
    public BypassEndpoint(Path socket, Clock clock) {
        this.clock = clock;
        this.socket = socket.toAbsolutePath();
    }

    /** A volume as the server sees it. */
    private record Bypassed(ServedVolume volume, long device) implements BypassVolume {
        @Override
        public boolean isConnected() {
            return volume.session().kernelConnection().isConnected();
        }

        @Override
        public long leastBytes() {
            return volume.bypassBytes();
        }

        @Override
        public BlockSet blocks(long node) {
            return volume.blockSet(node);
        }

        @Override
        public BypassCounts counts() {
            return volume.bypassCounts();
        }
    }

    /** Serves the volume's files, if it wants that. */
    public void add(ServedVolume volume) {
        if (volume.bypassBytes() <= 0) {
            return;
        }
        long device = volume.session().kernelConnection().number();
        if (device == KernelConnection.UNKNOWN) {
            LOG.warn(
                    "Volume {} has no bypass, because the keeper does not report the device of its mount: update the"
                            + " keeper",
                    volume.name());
            return;
        }
        volumes.add(new Bypassed(volume, device));
        start();
    }

    private synchronized void start() {
        if (server != null || closed) {
            return;
        }
        try {
            Path folder = socket.getParent();
            if (folder != null) {
                StateFolder.makeShown(folder);
                install(folder.resolve(LIBRARY));
            }
            server = BypassServer.start(socket, () -> List.copyOf(volumes), clock);
            LOG.info("Programs with libposixgw-bypass.so get block files through {}", socket);
        } catch (IOException e) {
            LOG.warn("Programs cannot bypass FUSE: {}", e.toString());
        }
    }

    /** Puts the library beside the socket, where pods see both; programs that run keep the one they have. */
    private static void install(Path library) throws IOException {
        Path extracted = NativeLoader.extract(LIBRARY);
        Path beside = library.resolveSibling(
                "." + LIBRARY + "." + ProcessHandle.current().pid());
        try {
            Files.copy(extracted, beside, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.move(beside, library, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(extracted);
        }
    }

    /** Its session ends. */
    void remove(ServedVolume volume) {
        volumes.removeIf(one -> one.volume() == volume);
    }

    /** See {@link BypassServer#strangers}. */
    public synchronized long strangers() {
        return server == null ? 0 : server.strangers();
    }

    @Override
    public synchronized void close() {
        closed = true;
        volumes.clear();
        if (server != null) {
            server.close();
            server = null;
        }
    }
}

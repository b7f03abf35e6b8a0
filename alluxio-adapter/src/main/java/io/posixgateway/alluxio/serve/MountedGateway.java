package io.posixgateway.alluxio.serve;

import io.posixgateway.alluxio.control.ControlServer;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.gateway.BypassEndpoint;
import io.posixgateway.alluxio.gateway.Gateway;
import io.posixgateway.alluxio.gateway.MemoryCounts;
import io.posixgateway.alluxio.gateway.MemoryWatch;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.alluxio.metrics.MetricsPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The process of one mount, steered over a private socket. Any thread. */
public final class MountedGateway implements Gateway, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MountedGateway.class);
    private static final String ONE = "this process serves one mount; ";

    private final ServedVolume volume;
    private final String version;
    private final Path socket;
    private final MetricsPage metrics;
    private final MemoryWatch memory;
    private final Watchdog watchdog;
    private final BypassEndpoint bypass;
    /** Null: nobody listens. */
    private @Nullable ControlServer control;

    private MountedGateway(ServedVolume volume, Path socket, String version, BypassEndpoint bypass) {
        this.volume = volume;
        this.bypass = bypass;
        this.version = version;
        this.socket = socket;
        this.metrics = new MetricsPage(this);
        this.memory = MemoryWatch.ofProcess(volume.details().inodes().budget());
        this.watchdog =
                new Watchdog(this::all, memory, volume.session().metrics().clock());
    }

    /**
     * Looks after the volume, and listens; what an earlier process left at the socket's path is replaced. Where nobody can listen the
     * log says why, and the volume is looked after all the same: nothing else interrupts a call of an Alluxio that hangs.
     *
     * @param bypass where the volume's files are offered already, if at all; closed with this
     */
    public static MountedGateway start(ServedVolume volume, Path socket, String version, BypassEndpoint bypass) {
        MountedGateway gateway = new MountedGateway(volume, socket, version, bypass);
        gateway.watchdog.start();
        try {
            gateway.listen();
        } catch (IOException e) {
            LOG.warn("stats, info, warmup, sync, profile and doctor cannot reach this mount: {}", e.toString());
        }
        return gateway;
    }

    private void listen() throws IOException {
        StateFolder.checkAbove(socket);
        Path folder = socket.toAbsolutePath().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            Path above = folder.getParent();
            if (above != null) {
                // The bypass socket is below it, too, and for everybody.
                Files.createDirectories(above);
            }
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        ControlServer listening = new ControlServer(socket, this, null);
        control = listening;
        listening.start();
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public boolean ready() {
        return !volume.session().ended();
    }

    @Override
    public List<ServedVolume> all() {
        return List.of(volume);
    }

    @Override
    public ServedVolume named(String name) throws ServiceException {
        if (!name.equals(volume.name())) {
            throw new ServiceException(
                    Kind.NOT_FOUND,
                    ONE + "its volume is '" + volume.name() + "', not '" + name + "'; give '" + volume.name() + "'");
        }
        return volume;
    }

    @Override
    public ServedVolume attach(AttachRequest request) throws ServiceException {
        throw new ServiceException(Kind.PRECONDITION, ONE + "attach volumes to posix-gateway serve");
    }

    @Override
    public void detach(String name) throws ServiceException {
        throw new ServiceException(Kind.PRECONDITION, ONE + "end it with posix-gateway umount " + volume.name());
    }

    @Override
    public int drain() throws ServiceException {
        throw new ServiceException(
                Kind.PRECONDITION,
                ONE + "no other process could continue it; end it with posix-gateway umount " + volume.name());
    }

    @Override
    public long bypassStrangers() {
        return bypass.strangers();
    }

    @Override
    public int unkeptSessions() {
        return 0;
    }

    @Override
    public int refusedSessions() {
        return 0;
    }

    @Override
    public MemoryCounts memory() {
        return memory.counts();
    }

    @Override
    public String metrics() throws IOException {
        return metrics.text();
    }

    /** Ends what it began; the session is not closed. */
    @Override
    public void close() {
        watchdog.close();
        bypass.close();
        volume.accessLog().close();
        if (control != null) {
            control.close();
            removeSocket();
        }
    }

    private void removeSocket() {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException e) {
            LOG.debug("Removing {}: {}", socket, e.toString());
        }
    }
}

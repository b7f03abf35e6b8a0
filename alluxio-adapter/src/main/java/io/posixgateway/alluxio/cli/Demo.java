package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.embedded.EmbeddedOptions.UnderStore;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.gateway.FileSystemFactory;
import io.posixgateway.alluxio.gateway.MountOptions;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.options.OptionValues;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A real Alluxio with sample data, mounted. Made in steps; {@link #close} takes back whatever was made, in reverse order,
 * and may be called by the shutdown hook while a step is under way.
 */
final class Demo implements AutoCloseable {
    private final Path mountPoint;
    private final boolean madeMountPoint;
    private @Nullable EmbeddedAlluxio alluxio;
    private @Nullable FuseSession session;
    private @Nullable AlluxioFileSystem files;
    private MountedSession.@Nullable Steered steered;
    private boolean closed;

    /** @param mountPoint is made if missing, and then removed at the end */
    Demo(Path mountPoint) throws IOException {
        this.mountPoint = mountPoint;
        this.madeMountPoint = !Files.exists(mountPoint);
        if (madeMountPoint) {
            Files.createDirectories(mountPoint);
        }
    }

    /** Starts master and worker, and puts the sample files into the UFS; into what is no folder as another client of it. */
    EmbeddedAlluxio startAlluxio(UnderStore kind) throws IOException {
        EmbeddedAlluxio started = prepare(kind);
        started.startServers();
        SampleDataset.write(started.ufs());
        if (!started.isOnFolder()) {
            started.underStore().putAll(started.ufs());
        }
        return started;
    }

    /** So that {@link #close} finds it before it runs. */
    private synchronized EmbeddedAlluxio prepare(UnderStore kind) {
        if (closed) {
            throw new CommandException("interrupted");
        }
        try {
            EmbeddedAlluxio prepared =
                    EmbeddedAlluxio.prepare(EmbeddedOptions.defaults().on(kind));
            alluxio = prepared;
            return prepared;
        } catch (IOException e) { // what it needs is not there
            throw new CommandException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Mounts the whole Alluxio; commands reach the mount as any other. */
    FuseSession mount(EmbeddedAlluxio running, OptionValues options, MountFlags flags) throws ServiceException {
        FileSystemFactory volumes = new FileSystemFactory(null, null, Clock.system());
        AlluxioOptions place = new AlluxioOptions(running.masters(), "/", "", Map.of());
        AlluxioFileSystem opened = volumes.open(place, options);
        FuseSession mounted = MountedSession.start(opened, mountPoint, MountOptions.mounted(options, "alluxio-demo"));
        synchronized (this) {
            session = mounted;
            files = opened;
        }
        MountedSession.Steered steering = new SteeredMount(place, options, mountPoint, flags).steer(opened, mounted);
        boolean late;
        synchronized (this) {
            steered = steering;
            late = closed;
        }
        if (late) {
            close();
        }
        return mounted;
    }

    /** After {@link #close}: says what could not be uploaded. */
    synchronized void checkUploaded() {
        if (files != null) {
            MountedSession.checkUploaded(files);
        }
    }

    /** Waits until it is unmounted. */
    static void await(FuseSession mounted) throws InterruptedException {
        while (!mounted.await(Duration.ofHours(1))) {
            // A demo may last for a while.
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (session != null) {
            session.close();
            session = null;
        }
        if (steered != null) {
            steered.close();
            steered = null;
        }
        if (alluxio != null) {
            alluxio.close();
            alluxio = null;
        }
        if (madeMountPoint) {
            // Not empty, or a mount that would not go: left for its owner to see.
            mountPoint.toFile().delete();
        }
    }
}

package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection that this process mounted, and unmounts. */
final class MountedConnection implements Connection {
    private static final Logger LOG = LoggerFactory.getLogger(MountedConnection.class);

    private final Mounter.Mounted mounted;
    private final @Nullable MountGuard guard;

    private MountedConnection(Mounter.Mounted mounted, @Nullable MountGuard guard) {
        this.mounted = mounted;
        this.guard = guard;
    }

    static MountedConnection mount(Path mountPoint, SessionOptions options) throws MountException {
        Mounter.Mounted mounted = Mounter.mount(mountPoint, options);
        try {
            return new MountedConnection(mounted, options.guard() ? MountGuard.start(mounted) : null);
        } catch (MountException e) {
            Mounter.unmount(mounted);
            Native.close(mounted.fd());
            throw e;
        }
    }

    /** Has the kernel read ahead as much as one request may carry; its own start value is 128 KiB. Where this user may. */
    void raiseReadahead(int bytes) {
        Path setting = Path.of("/sys/class/bdi", mounted.device(), "read_ahead_kb");
        try {
            Files.writeString(setting, Integer.toString(bytes >> 10));
        } catch (IOException e) {
            LOG.debug("{} was not changed: {}", setting, e.toString());
        }
    }

    @Override
    public int fd() {
        return mounted.fd();
    }

    @Override
    public String device() {
        return mounted.device();
    }

    @Override
    public boolean unmount() {
        return Mounter.unmount(mounted);
    }

    @Override
    public void close(boolean unused) {
        Connection.close(mounted.fd(), unused);
        if (guard != null) {
            guard.close();
        }
    }
}

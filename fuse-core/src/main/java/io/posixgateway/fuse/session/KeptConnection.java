package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import org.jspecify.annotations.Nullable;

/** A connection that a keeper holds too: the mount stays when this process lets go of it. */
final class KeptConnection implements Connection {
    private final int fd;
    private final SessionMemory memory;
    private final @Nullable String device;

    /** Takes descriptor and memory. */
    KeptConnection(int fd, SessionMemory memory, @Nullable String device) {
        this.fd = fd;
        this.memory = memory;
        this.device = device;
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    public @Nullable String device() {
        return device;
    }

    @Override
    public boolean unmount() {
        return false;
    }

    @Override
    public void close() {
        Native.close(fd);
        memory.close();
    }
}

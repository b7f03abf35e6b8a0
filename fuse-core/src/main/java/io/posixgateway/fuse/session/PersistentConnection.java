package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import org.jspecify.annotations.Nullable;

/** A connection that a keeper holds too: the mount stays when this process lets go of it. */
final class PersistentConnection implements Connection {
    private final int fd;
    private final SessionMemory memory;
    private final PersistentSession kept;

    /**
     * Takes the session's connection, memory, lock and claim.
     *
     * @param memory of kept, mapped
     */
    PersistentConnection(PersistentSession kept, SessionMemory memory) {
        this.fd = kept.fuseFd();
        this.kept = kept;
        this.memory = memory;
    }

    /** What was taken; connection, memory, lock and claim are open until {@link #close}. */
    PersistentSession kept() {
        return kept;
    }

    @Override
    public int fd() {
        return fd;
    }

    @Override
    public @Nullable String device() {
        return kept.device();
    }

    @Override
    public boolean unmount() {
        return false;
    }

    @Override
    public void leaveRequests() {
        memory.leaveRequests();
    }

    @Override
    public void close(boolean unused) {
        Connection.close(fd, unused);
        memory.close(unused);
        if (kept.lockFd() >= 0) {
            Native.close(kept.lockFd());
        }
        kept.closeClaim();
    }
}

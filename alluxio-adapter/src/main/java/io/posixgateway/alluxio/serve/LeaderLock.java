package io.posixgateway.alluxio.serve;

import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.fuse.session.LifeLock;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which of several processes serves the sessions of one keeper: the one that has the {@link LifeLock} of a file they share. It is free as
 * soon as its holder ends or is killed, though threads of that one may still be in the kernel: what such a thread could still change
 * there, the volume's folder, has a lock of its own. Any thread.
 */
final class LeaderLock implements AutoCloseable {
    /** Between looks whether it is free: the programs of all volumes wait then. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** So long each look may fail, such as for want of descriptors, or while somebody replaces the file. */
    private static final long FAILING_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final Logger LOG = LoggerFactory.getLogger(LeaderLock.class);

    private final Path path;
    private final Clock clock;
    /** Guarded by this. */
    private @Nullable LifeLock lock;
    /** Guarded by this. */
    private boolean closed;

    private LeaderLock(Path path, Clock clock) {
        this.path = path;
        this.clock = clock;
    }

    /** @param path made if it is not there, and never removed */
    static LeaderLock of(Path path, Clock clock) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        try {
            if (folder != null) {
                Files.createDirectories(folder);
            }
            StateFolder.open(path).close();
            return new LeaderLock(path, clock);
        } catch (AccessDeniedException e) { // its message is the path alone
            throw new IOException(
                    "The lock " + path
                            + " cannot be opened: permission denied, as for one of a gateway that ran as another user"
                            + (folder == null ? "" : StateFolder.adviceWhereDenied(folder)),
                    e);
        }
    }

    /**
     * False: another process has it.
     *
     * @throws ClosedChannelException it is closed
     */
    synchronized boolean tryTake() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (lock == null) {
            lock = LifeLock.tryTake(path);
        }
        return lock != null;
    }

    /** Waits until it is ours; an exception when {@link #close} comes first, or when no look succeeds any more. */
    void take() throws IOException {
        long succeeded = clock.nanos();
        boolean fails = false;
        boolean taken = false;
        while (!taken) {
            try {
                taken = tryTake();
                succeeded = clock.nanos();
                fails = false;
            } catch (ClosedChannelException closing) {
                throw closing;
            } catch (IOException e) {
                if (clock.nanos() - succeeded >= FAILING_NANOS) {
                    throw e;
                }
                if (!fails) {
                    LOG.error("Who leads cannot be seen: {}; retrying for a minute", e.getMessage());
                }
                fails = true;
            }
            if (!taken) {
                pause();
            }
        }
    }

    private void pause() throws IOException {
        try {
            clock.sleep(LOOK_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("waiting for the leader lock");
        }
    }

    /** Releases it. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        if (lock != null) {
            lock.close();
        }
    }
}

package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A lock on a file that this process holds as long as any of it can run. One that was killed, and whose threads wait in the kernel for a
 * disk or an answer, keeps its descriptors and their locks, but not this one: whoever has it next knows that no other process does
 * anything more, but for the one system call that each of its threads is in. Any thread; held until it is closed.
 */
public final class LifeLock implements AutoCloseable {
    private final AtomicLong lock;

    private LifeLock(long lock) {
        this.lock = new AtomicLong(lock);
    }

    /**
     * Null: somebody else has it, here or in another process.
     *
     * @param file which is there
     */
    public static @Nullable LifeLock tryTake(Path file) throws IOException {
        return taken(Native.lockForLife(Native.pathBytes(file.toString())), file.toString());
    }

    /** @param fd of a file that can be opened again */
    public static @Nullable LifeLock tryTake(int fd) throws IOException {
        return taken(Native.lockOpenedForLife(fd), "descriptor " + fd);
    }

    private static @Nullable LifeLock taken(long result, String file) throws IOException {
        if (result < 0 && result != -Errno.EAGAIN) {
            throw new IOException("locking " + file + ": " + Native.errorText(result));
        }
        return result < 0 ? null : new LifeLock(result);
    }

    /** Idempotent. */
    @Override
    public void close() {
        long held = lock.getAndSet(0);
        if (held != 0) {
            Native.releaseLifeLock(held);
        }
    }
}

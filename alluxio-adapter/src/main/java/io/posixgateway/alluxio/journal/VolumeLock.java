package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock of a volume's folder, which one process holds: the flock(2) of the folder itself, for which no file has to be made, so that
 * it excludes others on a disk that is full or read-only, too.
 *
 * <p>Earlier versions lock a file in the folder. That is locked as well, so that an upgrade and a rollback see each other: for writing;
 * on a disk that takes nothing for reading, after a look whether anybody holds it; and not at all where there is none and none can be
 * made. Any thread.
 */
final class VolumeLock implements Closeable {
    /** What earlier versions lock. */
    static final String FILE = "lock";

    private static final Logger LOG = LoggerFactory.getLogger(VolumeLock.class);
    private static final int TRIES = 500;
    private static final long PAUSE_MILLIS = 10;
    /** A file system says so that cannot lock folders: NFS has locks on files opened for writing alone. */
    private static final Set<Integer> UNSUPPORTED =
            Set.of(Errno.EBADF, Errno.ENOLCK, Errno.EOPNOTSUPP, Errno.ENOSYS, Errno.EINVAL);
    /**
     * What this process holds, takes or lets go of: a second look at the file in this process would release its lock. No monitor, so
     * that a disk that hangs holds up nobody but its own volumes.
     */
    private static final Map<Identity, Stage> HELD = new ConcurrentHashMap<>();

    private final @Nullable Identity identity;
    private final int folder;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private @Nullable FileChannel file;
    /** Why the file is not locked for writing. */
    private @Nullable IOException unwritable;

    private VolumeLock(@Nullable Identity identity, int folder) {
        this.identity = identity;
        this.folder = folder;
    }

    /** How far this process is with a lock. */
    private enum Stage {
        HELD,
        /** It is being taken, or let go of. */
        CHANGES
    }

    /** Which folder is at a path, whatever its name. */
    private record Identity(long device, long inode) {
        static Identity of(Path path) throws IOException {
            Map<String, Object> found = Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
            return found.get("dev") instanceof Long device && found.get("ino") instanceof Long inode
                    ? new Identity(device, inode)
                    : new Identity(-1, -1);
        }
    }

    /**
     * Waits a few seconds for an earlier process to release it. A folder that is missing, and cannot be made on a disk that takes
     * nothing, has no lock.
     *
     * @throws StoreException EBUSY: it does not
     */
    static VolumeLock take(Path folder) throws IOException, StoreException {
        VolumeLock lock = tryTake(folder);
        for (int i = 0; lock == null && i < TRIES && !Thread.currentThread().isInterrupted(); i++) {
            try {
                Thread.sleep(PAUSE_MILLIS);
                lock = tryTake(folder);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        if (lock == null) {
            throw StoreException.heldFolder(busy(folder));
        }
        if (lock.unwritable != null) {
            LOG.warn(
                    "The lock file of the volume cannot be written, so it is not locked: {}",
                    lock.unwritable.toString());
        }
        if (lock.identity != null && lock.folder < 0) {
            LOG.warn("The file system of {} cannot lock folders: only its lock file excludes other processes", folder);
        }
        return lock;
    }

    private static String busy(Path folder) {
        return "Another process serves the volume of " + folder + "; end it first";
    }

    /** Null: another process has it, or another thread is taking or releasing it, or the folder was just replaced. */
    static @Nullable VolumeLock tryTake(Path folder) throws IOException, StoreException {
        if (!isThere(folder)) {
            return new VolumeLock(null, -1);
        }
        try {
            return tryTakeAs(Identity.of(folder), folder);
        } catch (NoSuchFileException removed) {
            return null;
        }
    }

    private static @Nullable VolumeLock tryTakeAs(Identity identity, Path folder) throws IOException, StoreException {
        Stage stage = HELD.putIfAbsent(identity, Stage.CHANGES);
        if (stage == Stage.HELD) {
            throw new StoreException(Errno.EBUSY, busy(folder), null);
        }
        return stage == null ? lockAlone(identity, folder) : null;
    }

    /** Nobody else of this process looks at it meanwhile. */
    private static @Nullable VolumeLock lockAlone(Identity identity, Path folder) throws IOException {
        VolumeLock lock = null;
        try {
            lock = lockAll(identity, folder);
            return lock;
        } finally {
            if (lock == null) {
                HELD.remove(identity);
            } else {
                HELD.put(identity, Stage.HELD);
            }
        }
    }

    /** Null: another process has it, or the folder was just replaced. */
    private static @Nullable VolumeLock lockAll(Identity identity, Path folder) throws IOException {
        VolumeLock lock = lockFolder(folder, identity);
        if (lock == null) {
            return null;
        }
        boolean taken = false;
        try {
            // Its holder may have removed it, and somebody else made another.
            taken = identity.equals(Identity.of(folder)) && lock.lockFile(folder.resolve(FILE));
        } finally {
            if (!taken) {
                lock.release();
            }
        }
        return taken ? lock : null;
    }

    /** It may have been removed since it was made, by the session whose end is waited for. */
    private static boolean isThere(Path folder) throws IOException {
        try {
            StateFolder.makeIfMissing(folder);
            return true;
        } catch (IOException e) {
            if (!DiskErrno.takesNothing(e)) {
                throw e;
            }
            LOG.warn("The volume's folder does not exist and cannot be created, so it is not locked: {}", e.toString());
            return false;
        }
    }

    /** Null: another process has it, or another folder is at the path by now. */
    private static @Nullable VolumeLock lockFolder(Path folder, Identity identity) throws IOException {
        long[] locked = new long[2];
        int descriptor = Native.lockFolder(Native.pathBytes(folder.toString()), locked);
        if (descriptor == -Errno.EAGAIN || descriptor == -Errno.ENOENT) {
            return null;
        }
        if (descriptor < 0) {
            if (descriptor == -Errno.EACCES) {
                throw new AccessDeniedException(folder.toString());
            }
            if (!UNSUPPORTED.contains(-descriptor)) {
                throw new IOException("locking it: " + Native.errorText(descriptor));
            }
            return new VolumeLock(identity, -1);
        }
        if (!identity.equals(new Identity(locked[0], locked[1]))) {
            Native.close(descriptor);
            return null;
        }
        return new VolumeLock(identity, descriptor);
    }

    /** False: an earlier version has it. */
    private boolean lockFile(Path path) throws IOException {
        try {
            FileChannel channel = StateFolder.open(path);
            file = channel;
            return channel.tryLock() != null && Files.exists(path);
        } catch (IOException e) {
            if (file != null || !DiskErrno.takesNothing(e)) {
                throw e;
            }
            unwritable = e;
        }
        if (Files.notExists(path)) {
            return true;
        }
        if (Native.isLocked(Native.pathBytes(path.toString())) == 1) {
            return false;
        }
        FileChannel channel = FileChannel.open(path, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        file = channel;
        return channel.tryLock(0, Long.MAX_VALUE, true) != null;
    }

    /** Lets go of it; a second time is harmless. */
    @Override
    public void close() throws IOException {
        if (identity == null || !open.getAndSet(false)) {
            return;
        }
        HELD.put(identity, Stage.CHANGES);
        try {
            release();
        } finally {
            HELD.remove(identity);
        }
    }

    /** The file first: who finds the folder free must find the file free, too. */
    private void release() throws IOException {
        try {
            if (file != null) {
                file.close();
            }
        } finally {
            if (folder >= 0) {
                Native.close(folder);
            }
        }
    }
}

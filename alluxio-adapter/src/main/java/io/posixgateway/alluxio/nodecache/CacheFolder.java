package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.journal.StateFolder;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The folder of a cache, which one process uses at a time: its lock is the flock(2) of the folder. Any thread. */
final class CacheFolder implements Closeable {
    /** Layered file systems: what is written there costs twice, and the kernel may not read it by itself. */
    private static final Set<String> LAYERED =
            Set.of("overlay", "overlayfs", "aufs", "fuse-overlayfs", "fuse.fuse-overlayfs");

    private final int descriptor;
    private boolean closed;

    private CacheFolder(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Makes the folder, or checks the one that is there. What lies in it is believed, so nobody else may write to it.
     *
     * @throws IOException it cannot be used; says why, and what to do
     */
    static void prepare(Path folder) throws IOException {
        StateFolder.make(folder);
        checkKind(folder, Files.getFileStore(folder).type());
    }

    /** @param kind as the kernel calls the folder's file system */
    static void checkKind(Path folder, String kind) throws IOException {
        if (LAYERED.contains(kind)) {
            throw new IOException("cache_dir=" + folder + " is on " + kind
                    + ", usually the writable layer of a container, whose files the kernel cannot pass through and"
                    + " which end with it; give a folder on a file system of the node, such as a hostPath volume on"
                    + " ext4, XFS or tmpfs");
        }
    }

    /** Null: another process has it. */
    static @Nullable CacheFolder tryLock(Path folder) throws IOException {
        int descriptor = Native.lockFolder(Native.pathBytes(folder.toString()), new long[2]);
        if (descriptor == -Errno.EAGAIN) {
            return null;
        }
        if (descriptor < 0) {
            throw new IOException("cannot lock " + folder + ": " + Native.errorText(descriptor));
        }
        return new CacheFolder(descriptor);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Native.close(descriptor);
        }
    }
}

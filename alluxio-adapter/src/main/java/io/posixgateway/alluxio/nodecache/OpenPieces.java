package io.posixgateway.alluxio.nodecache;

import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Files of caches that are open, at most so many: the gateway needs descriptors for all else, too. Any thread. */
final class OpenPieces {
    /** That part of the process's descriptors. */
    private static final int PART = 4;

    private final int most;
    private final AtomicInteger open = new AtomicInteger();

    OpenPieces(int most) {
        this.most = most;
    }

    /** Of all caches of this process. */
    static OpenPieces ofProcess() {
        return new OpenPieces(descriptors(Path.of("/proc/self/limits")) / PART);
    }

    /** How many a process may have; as few as is usual where that is not known. */
    static int descriptors(Path limits) {
        try {
            for (String line : Files.readAllLines(limits)) {
                if (line.startsWith("Max open files")) {
                    return (int) Math.min(Integer.MAX_VALUE, Long.parseLong(line.split(" +", -1)[3]));
                }
            }
            return 1024;
        } catch (IOException | NumberFormatException unknown) {
            return 1024;
        }
    }

    /** As the disk opens it; null: too many are. */
    FolderDisk.@Nullable Opened open(FolderDisk disk, String name) throws IOException {
        boolean opened = false;
        try {
            if (open.incrementAndGet() > most) {
                return null;
            }
            FolderDisk.Opened file = new Counted(disk.open(name), open, new AtomicBoolean());
            opened = true;
            return file;
        } finally {
            if (!opened) {
                open.decrementAndGet();
            }
        }
    }

    private record Counted(FolderDisk.Opened file, AtomicInteger open, AtomicBoolean closed)
            implements FolderDisk.Opened {
        @Override
        public int read(long offset, ByteBuffer into) throws IOException {
            return file.read(offset, into);
        }

        @Override
        public int readOnce(long offset, ByteBuffer into) throws IOException {
            return file.readOnce(offset, into);
        }

        @Override
        public int readNow(long offset, ByteBuffer into) {
            return file.readNow(offset, into);
        }

        @Override
        public FileDescriptor descriptor() {
            return file.descriptor();
        }

        @Override
        public void close() throws IOException {
            if (!closed.getAndSet(true)) {
                try {
                    file.close();
                } finally {
                    open.decrementAndGet();
                }
            }
        }
    }
}

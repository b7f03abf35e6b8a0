package io.posixgateway.alluxio.write;

import io.posixgateway.fuse.time.Clock;
import java.io.File;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The disk that the spool folders of all volumes are on, and often others write to: a part of it stays free, so that a recovery
 * finds room for its records. Any thread. Looks at the disk once a second at most, unless it is nearly full; what was
 * taken since then is subtracted.
 */
final class SpoolDisk {
    /** That much stays free unless it is said otherwise, and no more than this part of the disk. */
    private static final long FREE_BYTES = 1L << 30;

    private static final int FREE_PART = 20;
    private static final long LOOK_NANOS = 1_000_000_000L;
    /** Others, of other volumes, take room at the same time: the disk is looked at again after this much. */
    private static final long LOOK_BYTES = 64L << 20;

    private final Disk disk;
    private final long freeBytes;
    private final Clock clock;
    /** What may be taken before it is looked again. */
    private final AtomicLong room = new AtomicLong();

    private volatile long lookedNanos;

    /** What the system says of a disk; zeros where it says nothing. */
    interface Disk {
        long usableBytes();

        long totalBytes();
    }

    /** @param freeBytes what is to stay free; negative: as is usual */
    SpoolDisk(Disk disk, long freeBytes, Clock clock) {
        this.disk = disk;
        this.freeBytes = freeBytes;
        this.clock = clock;
        this.lookedNanos = clock.nanos();
    }

    /** The disk of a folder, which need not be there yet. */
    static SpoolDisk of(Path folder, long freeBytes, Clock clock) {
        return new SpoolDisk(new OfFolder(folder.toFile()), freeBytes, clock);
    }

    private record OfFolder(File folder) implements Disk {
        @Override
        public long usableBytes() {
            return folder.getUsableSpace();
        }

        @Override
        public long totalBytes() {
            return folder.getTotalSpace();
        }
    }

    /** What is to stay free. */
    long reserveBytes() {
        return freeBytes >= 0 ? freeBytes : Math.min(FREE_BYTES, disk.totalBytes() / FREE_PART);
    }

    long usableBytes() {
        return disk.usableBytes();
    }

    /** Is there room for this, which is going to be written at once? */
    boolean take(long bytes) {
        if (room.addAndGet(-bytes) >= 0 && clock.nanos() - lookedNanos < LOOK_NANOS) {
            return true;
        }
        return look(bytes);
    }

    private synchronized boolean look(long bytes) {
        if (disk.totalBytes() == 0) {
            return true; // the write will tell
        }
        long left = disk.usableBytes() - reserveBytes() - bytes;
        room.set(Math.min(left, LOOK_BYTES));
        lookedNanos = clock.nanos();
        return left >= 0;
    }
}

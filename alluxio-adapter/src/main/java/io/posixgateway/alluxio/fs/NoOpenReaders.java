package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.fuse.time.Supervised;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Files that are read though they were never opened here. With {@code no_open} the first open is answered with ENOSYS, and
 * the kernel opens and closes files by itself from then on (zero-message opens, {@code FUSE_NO_OPEN_SUPPORT} in its
 * {@code include/uapi/linux/fuse.h}): what it has pages of is read without a request. Reads of the rest come with handle 0.
 *
 * <p>Nobody tells the end of such reading. All who read a file share what reads it, from the first request until the file was
 * read whole by one, or by none for a second. Any thread.
 */
final class NoOpenReaders {
    /** The handle in requests for files that the kernel opened by itself. {@link HandleIds} never gives it. */
    static final long HANDLE = 0;

    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final VolumeContext volume;
    private final Executor soon;
    private final LongMap<InUse> files = new LongMap<>();
    private final AtomicBoolean awaitsSweep = new AtomicBoolean();

    NoOpenReaders(VolumeContext volume) {
        this.volume = volume;
        this.soon = CompletableFuture.delayedExecutor(IDLE_NANOS, TimeUnit.NANOSECONDS, volume::later);
    }

    /** A file that is read, or was a moment ago. */
    static final class InUse {
        final FileHandle file;
        private int requests = 1;
        private long idleSinceNanos;
        private boolean over;

        private InUse(Inode inode) {
            this.file = FileHandle.reading(inode);
        }

        private synchronized boolean enter() {
            if (!over) {
                requests++;
            }
            return !over;
        }

        private synchronized boolean leave(boolean done, long nowNanos) {
            requests--;
            idleSinceNanos = nowNanos;
            over = done && requests == 0;
            return over;
        }

        /** Is it over for want of requests? */
        private synchronized boolean expire(long nowNanos) {
            boolean expires = !over && requests == 0 && nowNanos - idleSinceNanos >= IDLE_NANOS;
            over |= expires;
            return expires;
        }
    }

    /** One more request that reads the file; ends with {@link #leave}. Never waits. */
    InUse enter(Inode inode) {
        while (true) {
            InUse known = files.get(inode.node());
            if (known == null) {
                InUse made = new InUse(inode);
                known = files.putIfAbsent(inode.node(), made);
                if (known == null) {
                    sweepSoon();
                    return made;
                }
                made.file.close();
            }
            if (known.enter()) {
                return known;
            }
            Thread.onSpinWait(); // who ended it takes it out of the table
        }
    }

    /** @param done nobody is expected to read on; waits if the file is streamed */
    void leave(InUse used, boolean done) {
        if (used.leave(done, volume.clock.nanos())) {
            end(used);
        }
    }

    private void end(InUse used) {
        Inode inode = used.file.inode;
        files.remove(inode.node());
        used.file.close();
        volume.table.released(inode);
    }

    private void sweepSoon() {
        if (awaitsSweep.compareAndSet(false, true)) {
            soon.execute(this::sweep);
        }
    }

    private void sweep() {
        long now = volume.clock.nanos();
        files.forEach(used -> {
            if (used.expire(now)) {
                Supervised.run("Closing a file that is not read any more", () -> end(used));
            }
        });
        awaitsSweep.set(false);
        if (files.size() > 0) {
            sweepSoon();
        }
    }

    /** Files in use now. */
    int size() {
        return files.size();
    }
}

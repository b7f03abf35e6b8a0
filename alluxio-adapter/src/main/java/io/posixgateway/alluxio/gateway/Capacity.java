package io.posixgateway.alluxio.gateway;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.StatFs;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * How full a volume is and whether it answers, asked past the kernel and kept.
 *
 * <p>Any thread. At most one question is under way ({@code askedAtNanos} is set while it is, guarded by this); readers get
 * the last answer at once, however long the file system takes. An answer older than the refresh time starts a new question.
 */
final class Capacity {
    private static final long REFRESH_NANOS = 15_000_000_000L;
    private static final long PATIENCE_NANOS = 15_000_000_000L;
    private static final long NOT_ASKED = Long.MIN_VALUE;

    private final FileSystem files;
    private final Executor executor;
    private final Clock nanoClock;
    private long askedAtNanos = NOT_ASKED;
    private long answeredAtNanos = NOT_ASKED;
    private int error;
    private @Nullable Sample last;

    Capacity(FileSystem files, Executor executor, Clock nanoClock) {
        this.files = files;
        this.executor = executor;
        this.nanoClock = nanoClock;
    }

    private record Sample(long totalBytes, long availableBytes, long atNanos) {}

    /** The last answer, at once; zeros before there is one. */
    synchronized VolumeStats now() {
        long now = nanoClock.nanos();
        if (askedAtNanos == NOT_ASKED && (answeredAtNanos == NOT_ASKED || now - answeredAtNanos > REFRESH_NANOS)) {
            ask(now);
        }
        Sample known = last;
        String condition = condition(now);
        if (known == null) {
            return new VolumeStats(0, 0, 0, 0, condition);
        }
        long used = Math.max(0, known.totalBytes() - known.availableBytes());
        return new VolumeStats(
                known.totalBytes(), used, known.availableBytes(), (now - known.atNanos()) / 1_000_000, condition);
    }

    private String condition(long now) {
        if (askedAtNanos != NOT_ASKED && now - askedAtNanos > PATIENCE_NANOS) {
            return "Alluxio has not responded for " + (now - askedAtNanos) / 1_000_000_000 + " s";
        }
        return error == 0 ? "" : "Alluxio failed the last request for its capacity (errno " + error + ")";
    }

    private void ask(long now) {
        try {
            askedAtNanos = now;
            executor.execute(this::refresh);
        } catch (RejectedExecutionException e) {
            askedAtNanos = NOT_ASKED;
        }
    }

    private void refresh() {
        StatFs figures = new StatFs();
        int result = -Errno.EIO;
        try {
            result = files.statfs(InternalRequest.INSTANCE, FileSystem.ROOT, figures);
        } finally {
            answered(result, figures);
        }
    }

    private synchronized void answered(int result, StatFs figures) {
        askedAtNanos = NOT_ASKED;
        answeredAtNanos = nanoClock.nanos();
        error = -Math.min(result, 0);
        if (result >= 0) {
            long unit = Math.max(1, figures.fragmentSizeBytes);
            last = new Sample(figures.blocks * unit, figures.availableBlocks * unit, answeredAtNanos);
        }
    }
}

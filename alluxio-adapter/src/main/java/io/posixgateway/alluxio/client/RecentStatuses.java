package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the master said of small files a moment ago, blocks and their places included, so that a file which was just found or
 * listed is opened without another call. Bounded; a new entry takes the place of another. Any thread.
 */
final class RecentStatuses {
    /** Others may delete a file, or a worker its blocks, meanwhile; then reading fails, and the master is asked. */
    static final long KEPT_NANOS = 2_000_000_000L;

    private static final int PLACES = 1 << 13;
    private static final int MOST_BLOCKS = 4;
    private static final int SEQUENCE_BITS = 24;

    private final LongSupplier clock;
    private final AtomicReferenceArray<@Nullable Seen> places = new AtomicReferenceArray<>(PLACES);

    private record Seen(long nanos, URIStatus status) {}

    RecentStatuses(LongSupplier clock) {
        this.clock = clock;
    }

    void keep(URIStatus status) {
        int blocks = status.getFileBlockInfos().size();
        if (!status.isFolder() && status.isCompleted() && blocks > 0 && blocks <= MOST_BLOCKS) {
            places.set(place(status.getFileId()), new Seen(clock.getAsLong(), status));
        }
    }

    /** Null: nothing is known, or it is too old. */
    @Nullable
    URIStatus find(long fileId) {
        Seen seen = places.get(place(fileId));
        boolean known =
                seen != null && seen.status.getFileId() == fileId && clock.getAsLong() - seen.nanos < KEPT_NANOS;
        return known ? seen.status : null;
    }

    private static int place(long fileId) {
        return (int) (fileId >>> SEQUENCE_BITS) & (PLACES - 1);
    }
}

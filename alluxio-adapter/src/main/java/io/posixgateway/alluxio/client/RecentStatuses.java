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
    private final OpenStreams streams;
    private final AtomicReferenceArray<@Nullable Seen> places = new AtomicReferenceArray<>(PLACES);

    private record Seen(long nanos, StreamSource.Asked asked) {}

    RecentStatuses(LongSupplier clock, OpenStreams streams) {
        this.clock = clock;
        this.streams = streams;
    }

    void keep(StreamSource.Asked asked) {
        URIStatus status = asked.status();
        int blocks = status.getFileBlockInfos().size();
        if (!status.isFolder() && status.isCompleted() && blocks > 0 && blocks <= MOST_BLOCKS) {
            places.set(place(status.getFileId()), new Seen(clock.getAsLong(), asked));
        }
    }

    /** Null: nothing is known, or it is too old, or this mount renamed it since. */
    StreamSource.@Nullable Asked find(long fileId) {
        Seen seen = places.get(place(fileId));
        boolean known = seen != null
                && seen.asked.status().getFileId() == fileId
                && clock.getAsLong() - seen.nanos < KEPT_NANOS
                && !streams.movedSince(seen.asked.renames(), seen.asked.status().getPath());
        return known ? seen.asked : null;
    }

    private static int place(long fileId) {
        return (int) (fileId >>> SEQUENCE_BITS) & (PLACES - 1);
    }
}

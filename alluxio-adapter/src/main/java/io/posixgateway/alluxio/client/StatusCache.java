package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What the master said of small files a while ago, blocks and their places included, so that a file which was just found or
 * listed is read without another call. Bounded; a new entry takes the place of another. Any thread.
 */
final class StatusCache {
    /** Others may delete a file, or a worker its blocks, meanwhile; then reading fails, and the master is asked. */
    static final long KEPT_NANOS = 30_000_000_000L;
    /** Others may give its path to another file, and what no worker has is read by the path. */
    static final long RECENT_NANOS = 2_000_000_000L;

    private static final int PLACES = 1 << 13;
    private static final int MAX_BLOCKS = 4;
    private static final int SEQUENCE_BITS = 24;

    private final Clock clock;
    private final OpenReaders streams;
    private volatile String cluster = "";
    private final AtomicReferenceArray<BlockFileReader.@Nullable Asked> places = new AtomicReferenceArray<>(PLACES);

    StatusCache(Clock clock, OpenReaders streams) {
        this.clock = clock;
        this.streams = streams;
    }

    void keep(BlockFileReader.Asked asked) {
        URIStatus status = asked.status();
        int blocks = status.getFileBlockInfos().size();
        if (!status.isFolder() && status.isCompleted() && blocks > 0 && blocks <= MAX_BLOCKS) {
            places.set(place(status.getFileId()), asked);
        }
    }

    /** What another cluster than this said counts no more; empty: the one that answers does not say which it is. Returns the id. */
    String of(String clusterId) {
        String before = cluster;
        if (!clusterId.isEmpty() && !clusterId.equals(before)) {
            cluster = clusterId;
            if (!before.isEmpty()) {
                forgetAll();
            }
        }
        return clusterId;
    }

    private void forgetAll() {
        for (int place = 0; place < PLACES; place++) {
            places.set(place, null);
        }
    }

    /** Null: nothing is known, or it is too old, or this mount renamed it since. */
    BlockFileReader.@Nullable Asked find(long fileId) {
        BlockFileReader.Asked seen = places.get(place(fileId));
        boolean known = seen != null
                && seen.status().getFileId() == fileId
                && nowNanos() - seen.nanos() < KEPT_NANOS
                && !streams.movedSince(seen.renames(), seen.status().getPath());
        return known ? seen : null;
    }

    /** Is it so short ago that what is at the file's path will still be the file? */
    boolean isRecent(BlockFileReader.Asked asked) {
        return nowNanos() - asked.nanos() < RECENT_NANOS;
    }

    /** For {@link BlockFileReader.Asked#nanos}. */
    long nowNanos() {
        return clock.nanos();
    }

    private static int place(long fileId) {
        return (int) (fileId >>> SEQUENCE_BITS) & (PLACES - 1);
    }
}

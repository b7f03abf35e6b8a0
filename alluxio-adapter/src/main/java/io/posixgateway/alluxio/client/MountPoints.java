package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.UfsKind;
import io.posixgateway.fuse.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Alluxio's mount table: in which under file system (UFS) a path lies. Any thread; waits where the table is to be asked for.
 *
 * <p>The table may be {@link #TTL_NANOS} old. No mount point ever covers a path that was there before it; so what is too young to be in the
 * table is below a mount point that was made in this time.
 */
final class MountPoints {
    private static final long TTL_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final String ROOT = "/";

    private final Request request;
    private final Clock clock;
    private volatile @Nullable Table table;

    /** Asks Alluxio's master. */
    @FunctionalInterface
    interface Request {
        /** The URI of the UFS of each mount point, by its path in Alluxio. */
        Map<String, String> send() throws StoreException;
    }

    /**
     * One of them.
     *
     * @param path in Alluxio
     * @param kind of its UFS
     */
    record MountPoint(String path, UfsKind kind) {}

    private record Table(Map<String, MountPoint> byPath, long fetchedNanos) {}

    MountPoints(Request request, Clock clock) {
        this.request = request;
        this.clock = clock;
    }

    /** The mount point whose UFS holds this path. */
    MountPoint of(String path) throws StoreException {
        Map<String, MountPoint> byPath = current();
        for (String at = path; !at.equals(ROOT); at = parent(at)) {
            MountPoint found = byPath.get(at);
            if (found != null) {
                return found;
            }
        }
        MountPoint root = byPath.get(ROOT);
        return root == null ? new MountPoint(ROOT, UfsKind.LOCAL) : root;
    }

    private Map<String, MountPoint> current() throws StoreException {
        Table known = table;
        if (known == null || clock.nanos() - known.fetchedNanos > TTL_NANOS) {
            long askedNanos = clock.nanos();
            Map<String, MountPoint> byPath = new HashMap<>();
            request.send().forEach((path, uri) -> byPath.put(path, new MountPoint(path, UfsKind.of(uri))));
            known = new Table(byPath, askedNanos);
            table = known;
        }
        return known.byPath;
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? ROOT : path.substring(0, slash);
    }
}

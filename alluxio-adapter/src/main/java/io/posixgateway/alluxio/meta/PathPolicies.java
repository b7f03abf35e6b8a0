package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.meta.CachePolicy.Consistency;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongFunction;

/** How long what was seen is believed, wherever in the mount it is. Immutable. */
public final class PathPolicies {
    private final CachePolicy everywhere;
    private final PathMap<CachePolicy> paths;
    /** For what may be changed yet by a request of which nobody knows what became. */
    private final CachePolicy never;

    /**
     * @param ttlNanos where no path says otherwise
     * @param ttlNanosByPath for what is at and below these paths of the mount
     * @param openNanos how old may be what an open with close-to-open believes
     * @param missingNanos how long a name is believed to be missing without asking whether its directory changed
     * @param clock nanoseconds that only go forward
     */
    public PathPolicies(
            Consistency consistency,
            long ttlNanos,
            Map<String, Long> ttlNanosByPath,
            long openNanos,
            long missingNanos,
            Clock clock) {
        LongFunction<CachePolicy> of = ttl -> new CachePolicy(consistency, ttl, openNanos, missingNanos, clock);
        everywhere = of.apply(ttlNanos);
        never = new CachePolicy(Consistency.TTL, 0, 0, 0, clock);
        long least = ttlNanos;
        Map<String, CachePolicy> byPath = new HashMap<>();
        for (Map.Entry<String, Long> path : ttlNanosByPath.entrySet()) {
            least = Math.min(least, path.getValue());
            byPath.put(path.getKey(), of.apply(path.getValue()));
        }
        paths = new PathMap<>(everywhere, of.apply(least), byPath);
    }

    /** For what was seen of a file; of one that has no known place, the shortest of all. */
    public CachePolicy of(Inode inode) {
        return inode.isUnsure(clock()) ? never : paths.of(inode);
    }

    /** For what was seen of a name. */
    public CachePolicy of(Inode directory, Name name) {
        return directory.dentries().isUnsure(name, clock()) ? never : paths.of(directory, name);
    }

    /** May what is moved from one name to the other, or something below it, be believed longer or shorter than before? */
    public boolean differs(Inode directory, Name name, Inode otherDirectory, Name otherName) {
        return paths.differs(directory, name, otherDirectory, otherName);
    }

    /** What it goes by. */
    public Clock clock() {
        return everywhere.clock();
    }

    public long nowNanos() {
        return everywhere.nowNanos();
    }

    public boolean immutable() {
        return everywhere.immutable();
    }
}

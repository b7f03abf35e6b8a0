package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The listings that Alluxio's master works on now, or the renames. Any thread; never waits.
 *
 * <p>With the first listing of a directory the master reads all of its names from the under file system, which takes minutes for a large
 * one of an object store; and a rename there is a copy. People want to see what is waited for.
 */
public final class RunningListings {
    private final Clock clock;

    // Guarded by this.
    private final Map<Long, Begun> begun = new LinkedHashMap<>();
    private long numbers;

    private record Begun(String path, long nanos) {}

    /**
     * One directory, or the new path of what is renamed.
     *
     * @param path in Alluxio
     * @param nanos for which the longest call is in flight
     * @param calls that wait for it
     */
    public record Listing(String path, long nanos, int calls) {
        private Listing and(Listing other) {
            return new Listing(path, Math.max(nanos, other.nanos), calls + other.calls);
        }
    }

    public RunningListings(Clock clock) {
        this.clock = clock;
    }

    /** A listing begins; returns its number for {@link #end}. */
    public synchronized long begin(String path) {
        begun.put(++numbers, new Begun(path, clock.nanos()));
        return numbers;
    }

    public synchronized void end(long number) {
        begun.remove(number);
    }

    /** Those in flight for at least so long, one for each directory, the longest first. */
    public synchronized List<Listing> all(long atLeastNanos) {
        long now = clock.nanos();
        Map<String, Listing> byPath = new LinkedHashMap<>();
        for (Begun one : begun.values()) {
            byPath.merge(one.path, new Listing(one.path, now - one.nanos, 1), Listing::and);
        }
        List<Listing> found = new ArrayList<>(byPath.values());
        found.removeIf(listing -> listing.nanos < atLeastNanos);
        found.sort(Comparator.comparingLong(Listing::nanos).reversed());
        return found;
    }
}

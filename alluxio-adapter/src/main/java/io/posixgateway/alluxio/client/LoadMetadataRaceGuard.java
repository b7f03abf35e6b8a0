package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * Keeps the first listing of a directory apart from what takes names in it away. Any thread; waits.
 *
 * <p>With the first listing of a directory Alluxio loads its names from the under file system: it lists them there, and then
 * makes each one that it lacks (InodeSyncStream.loadMetadata of Alluxio 2.9). A name that is renamed or deleted between the
 * two comes back to life, in Alluxio alone and for good. Later listings load nothing.
 *
 * <p>A first listing that waits for those who take names away lets others of them begin no more for a moment, so that it comes to its turn. If one
 * takes longer, as the copy of a large object does, the others go on until it ends.
 */
final class LoadMetadataRaceGuard {
    private static final int MAX_LISTED = 10_000;
    private static final long MOMENT_MILLIS = 1_000;
    private static final long MOMENT_NANOS = MOMENT_MILLIS * 1_000_000;

    /** The directories of which a listing is known to have succeeded, those asked for last. */
    private final Map<String, Boolean> listed = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
            return size() > MAX_LISTED && sorted.remove(eldest.getKey());
        }
    };

    /** The same, in order. */
    private final NavigableSet<String> sorted = new TreeSet<>();

    private final Set<String> beingListed = new HashSet<>();
    /** Those who are taking names in a directory away. */
    private final Map<String, Set<Object>> takers = new HashMap<>();

    private final Clock clock;

    LoadMetadataRaceGuard(Clock clock) {
        this.clock = clock;
    }

    /** What is done meanwhile. */
    @FunctionalInterface
    interface Work<T> {
        T run() throws StoreException;
    }

    /**
     * Lists a directory. Waits for those who are taking names in it away, unless it was listed before.
     *
     * @throws StoreException EINTR, or what the work throws
     */
    <T> T list(String directory, Work<T> work) throws StoreException {
        return begin(directory, false) ? first(directory, work) : work.run();
    }

    /**
     * Lists a directory whose names Alluxio loads again, as it was never listed.
     *
     * @throws StoreException EINTR, or what the work throws
     */
    <T> T listAnew(String directory, Work<T> work) throws StoreException {
        begin(directory, true);
        return first(directory, work);
    }

    private <T> T first(String directory, Work<T> work) throws StoreException {
        boolean done = false;
        try {
            T result = work.run();
            done = true;
            return result;
        } finally {
            end(directory, done);
        }
    }

    /** False: it was listed before. */
    private synchronized boolean begin(String directory, boolean anew) throws StoreException {
        while (true) {
            awaitTrue(() -> !beingListed.contains(directory));
            if (!anew && listed.get(directory) != null) {
                return false;
            }
            beingListed.add(directory);
            if (areGoneInAMoment(directory)) {
                return true;
            }
            end(directory, false);
            Set<Object> slow = Set.copyOf(takers.getOrDefault(directory, Set.of()));
            awaitTrue(() -> !takers.getOrDefault(directory, Set.of()).containsAll(slow));
        }
    }

    private boolean areGoneInAMoment(String directory) throws StoreException {
        long untilNanos = clock.nanos() + MOMENT_NANOS;
        try {
            awaitTrue(() -> !takers.containsKey(directory) || clock.nanos() >= untilNanos);
            return !takers.containsKey(directory);
        } catch (StoreException e) {
            end(directory, false);
            throw e;
        }
    }

    private synchronized void end(String directory, boolean done) {
        beingListed.remove(directory);
        if (done) {
            sorted.add(directory);
            listed.put(directory, true);
        }
        notifyAll();
    }

    /**
     * Takes names away, or replaces what has them. Waits for the end of a first listing of their directories.
     *
     * @throws StoreException EINTR, or what the work throws
     */
    <T> T take(List<String> paths, Work<T> work) throws StoreException {
        List<String> directories =
                paths.stream().map(LoadMetadataRaceGuard::parent).distinct().toList();
        Object taker = new Object();
        come(taker, directories);
        try {
            return work.run();
        } finally {
            leave(taker, directories, paths);
        }
    }

    private synchronized void come(Object taker, List<String> directories) throws StoreException {
        awaitTrue(() -> directories.stream().noneMatch(beingListed::contains));
        directories.forEach(directory ->
                takers.computeIfAbsent(directory, key -> new HashSet<>()).add(taker));
    }

    private synchronized void leave(Object taker, List<String> directories, List<String> paths) {
        directories.forEach(directory -> takers.computeIfPresent(directory, (key, those) -> {
            those.remove(taker);
            return those.isEmpty() ? null : those;
        }));
        paths.forEach(this::forget);
        notifyAll();
    }

    /** Another directory may have this path now, and paths below it. */
    private void forget(String path) {
        listed.remove(path);
        sorted.remove(path);
        Set<String> below = sorted.subSet(path + "/", path + (char) ('/' + 1));
        below.forEach(listed::remove);
        below.clear();
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }

    /** As long as a listing takes: no limit of time ends that. */
    private synchronized void awaitTrue(BooleanSupplier condition) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.beginUnlimited();
        try {
            while (!condition.getAsBoolean()) {
                wait(MOMENT_MILLIS); // the clock may have what is waited for
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted during the first listing of a directory", e);
        } finally {
            remote.endUnlimited();
        }
    }
}

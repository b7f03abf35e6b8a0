package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Directories of which many files are asked for one after another, as a training job does. Asking Alluxio for each costs a
 * call of its own; a listing brings a thousand answers at once. So a directory that was asked {@link #ASKS} times within a
 * second is listed in the background, and again as long as it goes on. Any thread; nothing here waits.
 *
 * <p>A directory whose own time and number of entries stay the same has the same files with the same content: in Alluxio a
 * file's content is replaced by another file, and that changes its directory. So once they have stayed the same for
 * {@link #SETTLED_NANOS}, longer than Alluxio takes from noting the time of a change to making it, the directory alone is
 * asked for until what was listed of its files is old.
 */
public final class ListingPrefetcher implements AutoCloseable {
    static final int ASKS = 16;
    private static final long WINDOW_NANOS = 1_000_000_000L;
    /** So long a directory must have looked the same before a listing of it counts for longer. */
    private static final long SETTLED_NANOS = 2_000_000_000L;
    /** One that is too large to be listed whole is left alone for so long. */
    private static final long LARGE_NANOS = 60_000_000_000L;

    private static final int MAX_PAGES = 20;
    /** One with more names is not read whole because some were asked for in vain. */
    private static final int MAX_LEARNED = 4000;
    /** So many that were asked lately are remembered, and as many from before those. */
    private static final int MAX_WATCHED = 2048;

    private final Metadata metadata;
    private volatile LongMap<AccessRate> rates = new LongMap<>();
    /** Those that were asked before; the ones that are asked again are among the former, too. */
    private volatile LongMap<AccessRate> ratesBefore = new LongMap<>();

    private final ThreadPoolExecutor lister;

    public ListingPrefetcher(Metadata metadata) {
        this.metadata = metadata;
        lister = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(64),
                task -> new UnpinnedThread(task, "hot-directories"),
                new ThreadPoolExecutor.DiscardPolicy());
        lister.allowCoreThreadTimeOut(true);
        metadata.whenMissedOften(this::missed);
    }

    /** How often one directory is asked for. Guarded by itself, but for what the one lister alone knows. */
    private static final class AccessRate {
        /** The lister's: the directory as it was seen last, and since when it is like that. */
        private @Nullable Attr seen;

        private long sinceNanos;
        private long windowNanos;
        private int asks;
        private long restsUntilNanos;

        private AccessRate(long nowNanos) {
            windowNanos = nowNanos;
            restsUntilNanos = nowNanos;
        }

        /** One more; true when it is time to list. */
        synchronized boolean isHigh(long nowNanos) {
            if (nowNanos - windowNanos > WINDOW_NANOS) {
                windowNanos = nowNanos;
                asks = 0;
            }
            asks++;
            if (asks < ASKS || nowNanos - restsUntilNanos < 0) {
                return false;
            }
            asks = 0;
            restsUntilNanos = nowNanos + WINDOW_NANOS;
            return true;
        }

        /** What asked meanwhile, by what it knew before, counts no longer. */
        synchronized void restUntil(long nanos) {
            asks = 0;
            restsUntilNanos = nanos;
        }
    }

    /** Something of this directory is asked for, and is not known well enough. */
    public void asked(Inode directory) {
        long now = metadata.nowNanos();
        AccessRate rate = rate(directory.node(), now);
        if (rate.isHigh(now)) {
            lister.execute(metadata.clock().background(() -> freshen(directory, rate)));
        }
    }

    private AccessRate rate(long node, long now) {
        AccessRate known = rates.get(node);
        if (known != null) {
            return known;
        }
        AccessRate before = ratesBefore.get(node);
        AccessRate rate = before == null ? new AccessRate(now) : before;
        AccessRate other = rates.putIfAbsent(node, rate);
        if (rates.size() >= MAX_WATCHED) {
            turn();
        }
        return other == null ? rate : other;
    }

    /** What nobody asks for any more is forgotten, one time later. */
    private synchronized void turn() {
        if (rates.size() >= MAX_WATCHED) {
            ratesBefore = rates;
            rates = new LongMap<>();
        }
    }

    /** Names of this directory are asked for again and again, in vain: all are read, so that the next need no question. */
    private void missed(Inode directory) {
        if (directory.dentries().children() >= MAX_LEARNED) {
            return;
        }
        lister.execute(metadata.clock().background(() -> learned(directory)));
    }

    private void learned(Inode directory) {
        try {
            learnAll(directory);
        } catch (StoreException e) {
            org.slf4j.LoggerFactory.getLogger(ListingPrefetcher.class)
                    .debug("Learning the names of node {}: {}", directory.node(), e.getMessage());
        }
    }

    private void learnAll(Inode directory) throws StoreException {
        metadata.refresh(directory);
        long drops = directory.dentries().drops();
        long startedNanos = metadata.nowNanos();
        List<Inode> all = new ArrayList<>();
        Listings.Listed part = metadata.listings().list(directory, "");
        part.page().addTo(all);
        while (part.more() && all.size() < MAX_LEARNED) {
            part = metadata.listings().list(directory, part.last());
            part.page().addTo(all);
        }
        if (!part.more() && metadata.stands(directory, drops)) {
            directory.dentries().keepListing(all, startedNanos);
        }
    }

    private void freshen(Inode directory, AccessRate rate) {
        rate.restUntil(metadata.nowNanos() + LARGE_NANOS);
        try {
            if (stands(directory, rate) || listWhole(directory, rate)) {
                rate.restUntil(metadata.nowNanos());
            }
        } catch (StoreException e) {
            org.slf4j.LoggerFactory.getLogger(ListingPrefetcher.class)
                    .debug("Listing node {} ahead: {}", directory.node(), e.getMessage());
            rate.restUntil(metadata.nowNanos() + WINDOW_NANOS);
        }
    }

    /** One call: is the directory as it was when it was listed, not too long ago? */
    private boolean stands(Inode directory, AccessRate rate) throws StoreException {
        long askedNanos = metadata.nowNanos();
        Attr now = metadata.refresh(directory);
        Attr before = rate.seen;
        if (before == null || !before.sameContent(now)) {
            rate.seen = now;
            // A slow answer says how it was at an unknown moment before it came.
            rate.sinceNanos = metadata.nowNanos();
            directory.dentries().stand(null);
            return false;
        }
        Dentries.Standing standing = directory.dentries().standing();
        if (standing == null || metadata.expiresSoon(directory, standing.listedNanos())) {
            return false;
        }
        directory.dentries().stand(new Dentries.Standing(standing.listedNanos(), askedNanos));
        return true;
    }

    /** False if it is too large. */
    private boolean listWhole(Inode directory, AccessRate rate) throws StoreException {
        long startedNanos = metadata.nowNanos();
        String last = "";
        for (int page = 0; page < MAX_PAGES; page++) {
            Listings.Confirmed confirmed = metadata.listings().confirm(directory, last);
            last = confirmed.last();
            if (!confirmed.more()) {
                if (startedNanos - rate.sinceNanos >= SETTLED_NANOS) {
                    directory.dentries().stand(new Dentries.Standing(startedNanos, startedNanos));
                }
                return true;
            }
        }
        return false;
    }

    /** Waits until what was asked for so far is listed: what a test looks at next does not change by itself. */
    public void settle() throws InterruptedException {
        CountDownLatch reached = new CountDownLatch(1);
        lister.execute(reached::countDown);
        reached.await();
    }

    @Override
    public void close() {
        lister.shutdownNow();
    }
}

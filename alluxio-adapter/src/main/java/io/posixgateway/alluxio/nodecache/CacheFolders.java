package io.posixgateway.alluxio.nodecache;

import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The cache folders of this process, each open once and shared by its volumes. Any thread. */
public final class CacheFolders {
    private static final Logger LOG = LoggerFactory.getLogger(CacheFolders.class);

    private final Clock clock;
    private final OpenPieces openPieces = OpenPieces.ofProcess();
    /** Guarded by itself. */
    private final Map<Path, Shared> open = new HashMap<>();
    /** Those that no volume uses any more, and that are not released yet, as their disk does not answer. Guarded by {@link #open}. */
    private final Set<Shared> ending = new HashSet<>();

    public CacheFolders(Clock clock) {
        this.clock = clock;
    }

    /**
     * Opens a folder for one more volume, which closes it. Of several sizes the largest counts. Where another process has the folder, such
     * as the one that this one takes over from, it is used as soon as that ends; where its disk does not answer, as soon as it does. Waits
     * for seconds at most.
     *
     * @param folder as the volumes name it: one by two names is refused to the second
     * @param goesOn the volume was served before: a folder that cannot be used now is left out until it can, with a line of the log
     * @throws IOException the folder cannot be used; says why, and what to do
     */
    public Shared open(Path folder, long limitBytes, boolean goesOn) throws IOException {
        return open(folder, limitBytes, goesOn, new LocalDisk(folder));
    }

    Shared open(Path folder, long limitBytes, boolean goesOn, FolderDisk disk) throws IOException {
        Shared shared;
        synchronized (open) {
            shared = open.computeIfAbsent(folder, path -> new Shared(path, limitBytes, disk));
            shared.users++;
        }
        boolean opened = false;
        try {
            shared.cache.raiseLimit(limitBytes);
            shared.begin(goesOn);
            opened = true;
            return shared;
        } finally {
            if (!opened) {
                shared.close();
            }
        }
    }

    /** A folder that volumes share. Its disk is asked by its writer, as long as it is not loaded, and by {@link DiskCalls}. */
    public final class Shared implements CacheVolume.Host {
        private static final long RETRY_NANOS = 5_000_000_000L;
        private static final long CLOSE_NANOS = 2_000_000_000L;

        private final Path folder;
        private final FolderDisk disk;
        private final ThreadPoolExecutor writer;
        private final NodeCache cache;
        /** Guarded by all folders. */
        private int users;

        private final Scrub scrub;

        private volatile @Nullable CacheFolder lock;
        private volatile long triedNanos;
        // Guarded by this.
        private @Nullable CountDownLatch attempt;
        private @Nullable IOException refusal;
        private boolean reported;

        private Shared(Path folder, long limitBytes, FolderDisk disk) {
            this.folder = folder;
            this.triedNanos = clock.nanos() - RETRY_NANOS;
            writer = new ThreadPoolExecutor(
                    1,
                    1,
                    10,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    task -> new UnpinnedThread(task, "data-cache"));
            writer.allowCoreThreadTimeOut(true);
            Outage outage = new Outage(folder.toString(), clock);
            this.disk = new TimedDisk(disk, new DiskCalls(outage, clock));
            cache = NodeCache.of(this.disk, outage, limitBytes, openPieces, this::later);
            scrub = new Scrub(cache, new TimedDisk(disk, new DiskCalls(outage, clock, 1)), clock);
        }

        @Override
        public NodeCache cache() {
            return cache;
        }

        /** @throws IOException the folder is refused, and the volume is new */
        private void begin(boolean goesOn) throws IOException {
            CountDownLatch begun = lock == null ? attempt(!goesOn) : null;
            if (begun != null && !isOver(begun)) {
                report("its disk does not answer");
            }
            IOException why = refusal();
            if (why != null && !goesOn) {
                throw why;
            }
        }

        private synchronized @Nullable IOException refusal() {
            return refusal;
        }

        @Override
        public boolean isReady(boolean mayWait) {
            if (lock != null) {
                return true;
            }
            CountDownLatch begun = mayWait ? attempt(false) : null;
            return begun != null && isOver(begun) && lock != null;
        }

        private boolean isOver(CountDownLatch begun) {
            try {
                return clock.await(begun, DiskCalls.ANSWER_NANOS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        /**
         * Begins to take the folder.
         *
         * @param now soon after another attempt, too
         * @return null: that goes on, or it was not long ago
         */
        private synchronized @Nullable CountDownLatch attempt(boolean now) {
            boolean soon = clock.nanos() - triedNanos < RETRY_NANOS;
            if (lock != null || attempt != null || (soon && !now)) {
                return null;
            }
            triedNanos = clock.nanos();
            CountDownLatch begun = new CountDownLatch(1);
            attempt = later(() -> make(begun)) ? begun : null;
            return attempt;
        }

        private void make(CountDownLatch begun) {
            CacheFolder taken = null;
            try {
                taken = take();
            } finally {
                synchronized (this) {
                    lock = taken;
                    attempt = null;
                }
                begun.countDown();
            }
        }

        /** Null: it cannot be used now. */
        private @Nullable CacheFolder take() {
            CacheFolder taken = null;
            boolean loaded = false;
            try {
                prepare();
                taken = CacheFolder.tryLock(folder);
                if (taken == null) {
                    report(
                            isEnding()
                                    ? "volumes that were unmounted have it until its disk has answered; look at that"
                                    : "another process uses it; if that is to continue, give each its own cache_dir");
                } else {
                    cache.load();
                    scrub.start();
                    loaded = true;
                }
            } catch (IOException
                    | RuntimeException
                    | OutOfMemoryError e) { // the last one also says that there is no thread
                report(e.toString());
            } finally {
                if (taken != null && !loaded) {
                    taken.close();
                }
            }
            return loaded ? taken : null;
        }

        private boolean isEnding() {
            synchronized (open) {
                return ending.stream().anyMatch(other -> other.folder.equals(folder));
            }
        }

        private void prepare() throws IOException {
            IOException why = null;
            try {
                disk.prepare();
            } catch (IOException e) {
                why = e;
                throw e;
            } finally {
                refused(why);
            }
        }

        private synchronized void refused(@Nullable IOException why) {
            refusal = why;
        }

        private synchronized void report(String why) {
            if (!reported) {
                reported = true;
                LOG.warn(
                        "The data cache in {} is not used yet, and retried every {} seconds: {}",
                        folder,
                        RETRY_NANOS / 1_000_000_000L,
                        why);
            }
        }

        @Override
        public boolean later(Runnable work) {
            try {
                writer.execute(work);
                return true;
            } catch (RejectedExecutionException closedMeanwhile) {
                return false;
            }
        }

        /** One volume less; what is being written is written, if that does not take long. */
        @Override
        public void close() {
            synchronized (open) {
                users--;
                if (users > 0) {
                    return;
                }
                open.remove(folder);
                ending.add(this);
            }
            later(this::release); // behind what is being written
            writer.shutdown();
            try {
                writer.awaitTermination(CLOSE_NANOS, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void release() {
            scrub.close();
            CacheFolder held;
            synchronized (this) {
                held = lock;
                lock = null;
            }
            if (held != null) {
                held.close();
            }
            synchronized (open) {
                ending.remove(this);
            }
        }
    }
}

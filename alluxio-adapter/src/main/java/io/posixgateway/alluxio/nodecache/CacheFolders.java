package io.posixgateway.alluxio.nodecache;

import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
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
    private static final Map<Path, Shared> OPEN = new HashMap<>();

    private CacheFolders() {}

    /**
     * Opens a folder for one more volume, which closes it. Of several sizes the largest counts. Where another process has the folder, such
     * as the one that this one takes over from, it is used as soon as that ends.
     *
     * @param goesOn the volume was served before: a folder that cannot be used now is left out until it can, with a line of the log
     * @throws IOException the folder cannot be used; says why, and what to do
     */
    public static Shared open(Path folder, long limitBytes, Clock clock, boolean goesOn) throws IOException {
        if (!goesOn) {
            CacheFolder.prepare(folder);
        }
        Shared shared;
        synchronized (OPEN) {
            shared = OPEN.computeIfAbsent(real(folder, goesOn), path -> new Shared(path, limitBytes, clock));
            shared.users++;
        }
        try {
            shared.cache.raiseLimit(limitBytes);
            shared.isReady(true);
            return shared;
        } catch (RuntimeException | Error e) {
            shared.close();
            throw e;
        }
    }

    private static Path real(Path folder, boolean mayBeMissing) throws IOException {
        try {
            return folder.toRealPath();
        } catch (IOException e) {
            if (mayBeMissing) {
                return folder.normalize();
            }
            throw e;
        }
    }

    /** A folder that volumes share. */
    public static final class Shared implements CacheVolume.Host {
        private static final long RETRY_NANOS = 5_000_000_000L;

        private final Path folder;
        private final Clock clock;
        private final ThreadPoolExecutor writer;
        private final NodeCache cache;
        /** Guarded by all folders. */
        private int users;

        private volatile @Nullable CacheFolder lock;
        private volatile long triedNanos;
        private boolean reported;
        private boolean closed;

        private Shared(Path folder, long limitBytes, Clock clock) {
            this.folder = folder;
            this.clock = clock;
            this.triedNanos = clock.nanos() - RETRY_NANOS;
            writer = new ThreadPoolExecutor(
                    1,
                    1,
                    10,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    task -> new UnpinnedThread(task, "data-cache"));
            writer.allowCoreThreadTimeOut(true);
            cache = NodeCache.of(new LocalDisk(folder), folder.toString(), limitBytes, clock, this::later);
        }

        @Override
        public NodeCache cache() {
            return cache;
        }

        @Override
        public boolean isReady(boolean mayWait) {
            if (lock != null) {
                return true;
            }
            return mayWait && clock.nanos() - triedNanos >= RETRY_NANOS && isLocked();
        }

        private synchronized boolean isLocked() {
            if (lock != null || closed) {
                return !closed;
            }
            triedNanos = clock.nanos();
            try {
                CacheFolder.prepare(folder);
                CacheFolder taken = CacheFolder.tryLock(folder);
                if (taken != null) {
                    load(taken);
                } else {
                    report("another process uses it; if that is to continue, give each its own cache_dir");
                }
            } catch (IOException | RuntimeException e) {
                report(e.toString());
            }
            return lock != null;
        }

        private void load(CacheFolder taken) {
            try {
                cache.load();
                lock = taken;
            } finally {
                if (lock == null) {
                    taken.close();
                }
            }
        }

        private void report(String why) {
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

        /** One volume less; what is being written is written. */
        @Override
        public void close() {
            synchronized (OPEN) {
                users--;
                if (users > 0) {
                    return;
                }
                OPEN.remove(folder);
            }
            writer.shutdown();
            try {
                writer.awaitTermination(5, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            synchronized (this) {
                closed = true;
                CacheFolder held = lock;
                lock = null;
                if (held != null) {
                    held.close();
                }
            }
        }
    }
}

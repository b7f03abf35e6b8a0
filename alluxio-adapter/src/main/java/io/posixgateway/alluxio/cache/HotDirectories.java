package io.posixgateway.alluxio.cache;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.LongTable;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Directories of which many files are asked for one after another, as a training job does. Asking Alluxio for each costs a
 * call of its own; a listing brings a thousand answers at once. So a directory that was asked {@link #ASKS} times within a
 * second is listed in the background, and again as long as it goes on. Any thread; nothing here waits.
 */
public final class HotDirectories implements AutoCloseable {
    static final int ASKS = 16;
    private static final long WINDOW_NANOS = 1_000_000_000L;
    /** One that is too large to be listed whole is left alone for so long. */
    private static final long LARGE_NANOS = 60_000_000_000L;

    private static final int MOST_PAGES = 20;
    private static final int MOST_WATCHED = 4096;

    private final Metadata metadata;
    private final LongTable<Pulse> pulses = new LongTable<>();
    private final ThreadPoolExecutor lister;

    public HotDirectories(Metadata metadata) {
        this.metadata = metadata;
        lister = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(64),
                task -> {
                    Thread thread = new Thread(task, "hot-directories");
                    thread.setDaemon(true);
                    return thread;
                },
                new ThreadPoolExecutor.DiscardPolicy());
        lister.allowCoreThreadTimeOut(true);
    }

    /** How often one directory is asked for. Guarded by itself. */
    private static final class Pulse {
        private long windowNanos;
        private int asks;
        private long restsUntilNanos;

        private Pulse(long nowNanos) {
            windowNanos = nowNanos;
            restsUntilNanos = nowNanos;
        }

        /** One more; true when it is time to list. */
        synchronized boolean beats(long nowNanos) {
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

        synchronized void restUntil(long nanos) {
            restsUntilNanos = nanos;
        }
    }

    /** Something of this directory is asked for, and is not known well enough. */
    public void asked(Inode directory) {
        long now = metadata.nowNanos();
        Pulse pulse = pulses.get(directory.node());
        if (pulse == null) {
            if (pulses.size() >= MOST_WATCHED) {
                return;
            }
            Pulse fresh = new Pulse(now);
            Pulse other = pulses.putIfAbsent(directory.node(), fresh);
            pulse = other == null ? fresh : other;
        }
        if (pulse.beats(now)) {
            Pulse beating = pulse;
            lister.execute(() -> list(directory, beating));
        }
    }

    private void list(Inode directory, Pulse pulse) {
        pulse.restUntil(metadata.nowNanos() + LARGE_NANOS);
        String last = "";
        try {
            for (int page = 0; page < MOST_PAGES; page++) {
                Metadata.Confirmed confirmed = metadata.confirm(directory, last);
                last = confirmed.last();
                if (!confirmed.more()) {
                    pulse.restUntil(metadata.nowNanos());
                    return;
                }
            }
        } catch (StoreException e) {
            org.slf4j.LoggerFactory.getLogger(HotDirectories.class)
                    .debug("Listing node {} ahead: {}", directory.node(), e.getMessage());
            pulse.restUntil(metadata.nowNanos() + WINDOW_NANOS);
        }
    }

    @Override
    public void close() {
        lister.shutdownNow();
    }
}

package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has Alluxio's master load the data of one path, and waits for it. One thread.
 *
 * <p>The master has one load for each path. Who asks for one that is under way, or was stopped, joins that: it leaves out what
 * came since it began, so after it another one is asked for. Only who began a load stops it.
 */
final class MasterLoad {
    private static final Logger LOG = LoggerFactory.getLogger(MasterLoad.class);
    /** Others may begin one each time before we do, and a master of another release may not say whose it is. */
    private static final int MAX_JOINED = 3;

    /** How it ended. */
    enum End {
        LOADED,
        /** Nobody waits for it any more. */
        LEFT,
        /** What is missing must come another way. */
        FAILED
    }

    /**
     * How long it is waited for.
     *
     * @param pause between two looks
     * @param unheard for a master that does not tell how far it is
     * @param unmoved for workers that load nothing
     */
    record Patience(Duration pause, Duration unheard, Duration unmoved) {
        static final Patience USUAL =
                new Patience(Duration.ofMillis(500), Duration.ofMinutes(1), Duration.ofMinutes(2));
    }

    private final Store store;
    private final String path;
    private final Warmup.Progress progress;
    private final Patience patience;
    private final Clock clock;

    MasterLoad(Store store, String path, Warmup.Progress progress, Patience patience, Clock clock) {
        this.clock = clock;
        this.store = store;
        this.path = path;
        this.progress = progress;
        this.patience = patience;
    }

    End run() throws InterruptedException {
        try {
            boolean ours = store.load(path);
            End end = follow(ours);
            for (int joined = 1; !ours && end == End.LOADED; joined++) {
                if (joined == MAX_JOINED) {
                    return End.FAILED;
                }
                ours = store.load(path);
                end = follow(ours);
            }
            return end;
        } catch (StoreException e) {
            LOG.info("Alluxio's master refused to load {}: {}", path, e.getMessage());
            return End.FAILED;
        }
    }

    private End follow(boolean ours) throws InterruptedException {
        LoadState state = new LoadState(false, 0, 0, 0, "");
        long heardNanos = clock.nanos();
        long movedNanos = heardNanos;
        while (true) {
            LoadState now = look();
            if (now != null) {
                heardNanos = clock.nanos();
                movedNanos = now.loadedBytes() > state.loadedBytes() ? heardNanos : movedNanos;
                state = now;
            }
            if (state.done()) {
                return ended(state, ours);
            }
            if (!progress.loading(state)) {
                stop(ours);
                return End.LEFT;
            }
            if (isExpired(heardNanos, patience.unheard()) || isExpired(movedNanos, patience.unmoved())) {
                LOG.info("Alluxio's load job for {} makes no progress; it is at {} bytes", path, state.loadedBytes());
                stop(ours);
                return End.FAILED;
            }
            clock.sleep(patience.pause().toNanos());
        }
    }

    private boolean isExpired(long sinceNanos, Duration patience) {
        return clock.nanos() - sinceNanos > patience.toNanos();
    }

    /** Null: the master does not tell; it may be starting. */
    private @Nullable LoadState look() {
        try {
            return store.loadState(path);
        } catch (StoreException e) {
            LOG.debug("Alluxio's load job for {}: {}", path, e.getMessage());
            return null;
        }
    }

    private End ended(LoadState state, boolean ours) {
        if (!state.failure().isEmpty()) {
            LOG.info("{}", state.failure());
            return End.FAILED;
        }
        return !ours || progress.loading(state) ? End.LOADED : End.LEFT;
    }

    private void stop(boolean ours) {
        if (!ours) {
            return;
        }
        try {
            store.stopLoad(path);
        } catch (StoreException e) {
            LOG.info("Alluxio's load job for {} could not be stopped: {}", path, e.getMessage());
        }
    }
}

package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.fs.NodeWarmup;
import io.posixgateway.alluxio.gateway.ServiceException.Kind;
import io.posixgateway.alluxio.store.LoadState;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warms one path of a volume, or tells how warm it is: metadata by walking; data in the workers by Alluxio's own load or, where that fails,
 * by reading it once; data in this node's cache by reading what it lacks. One thread.
 */
public final class Warmup {
    private static final int CHUNK_BYTES = 1 << 20;
    /** Of a large file; then whoever waits is told, and asked whether he still waits. */
    private static final int CHUNKS_A_WORD = 16;

    /** In the log, of one warm-up. */
    private static final int MAX_FAILURES = 20;

    private static final Logger LOG = LoggerFactory.getLogger(Warmup.class);

    private final FileTree tree;
    private final Store store;
    private final String root;
    private final Progress progress;
    private final Clock clock;
    private final Supplier<@Nullable NodeWarmup> node;
    private int failures;

    /** Where data is brought. */
    public enum Data {
        NOWHERE,
        WORKERS,
        NODE
    }

    /** Is told how far it is. */
    public interface Progress {
        /**
         * Metadata of one more entry is known.
         *
         * @param bytes length of a file
         * @param warmBytes how much of that is where data is brought, as far as is known
         * @return false: nobody waits for the result any more
         */
        boolean entry(long bytes, long warmBytes, boolean failed);

        /** Data is being loaded; false: nobody waits for the result any more. */
        boolean loading(LoadState state);

        /** The node's cache has no room for so much. */
        default void lacksRoom(long bytes) {}

        /** Of a file, that fails; the next call counts it. */
        default void failure(String why) {}
    }

    /**
     * @param root the volume's path in Alluxio
     * @param node makes what brings files to this node; null: the volume has no data cache
     */
    Warmup(
            FileTree tree,
            Store store,
            String root,
            Progress progress,
            Clock clock,
            Supplier<@Nullable NodeWarmup> node) {
        this.clock = clock;
        this.node = node;
        this.tree = tree;
        this.store = store;
        this.root = root;
        this.progress = progress;
    }

    /**
     * Reads metadata, and brings the data.
     *
     * @param written below the volume's root, as people write it
     */
    void run(String written, Data data) throws ServiceException {
        String path = tree.storedPath(written);
        if (data != Data.NODE) {
            run(path, data, null);
            return;
        }
        try (NodeWarmup filling = nodeWarmup()) {
            run(path, data, filling);
        }
    }

    private NodeWarmup nodeWarmup() throws ServiceException {
        NodeWarmup made = node.get();
        if (made == null) {
            throw new ServiceException(
                    Kind.PRECONDITION,
                    "the volume has no data cache to bring files to; mount it with -o cache_dir=FOLDER");
        }
        return made;
    }

    private void run(String path, Data data, @Nullable NodeWarmup filling) throws ServiceException {
        boolean[] wanted = {true};
        long[] total = {0};
        walk(path, (entry, bytes, failed) -> {
            total[0] += bytes;
            wanted[0] = progress.entry(bytes, 0, failed);
            return wanted[0];
        });
        if (wanted[0] && filling != null) {
            Reading reading = new Reading(total[0]);
            read(path, reading, entry -> reading.intoCache(filling, entry));
        } else if (wanted[0] && data == Data.WORKERS && load(alluxioPath(path)) == MasterLoad.End.FAILED) {
            Reading reading = new Reading(total[0]);
            read(path, reading, entry -> reading.whole(alluxioPath(entry)));
        }
    }

    /**
     * Changes nothing: counts what is in Alluxio, or on this node, already.
     *
     * @param written below the volume's root, as people write it
     */
    void check(String written, Data data) throws ServiceException {
        if (data != Data.NODE) {
            check(
                    written,
                    (entry, bytes) -> bytes * store.details(alluxioPath(entry)).inAlluxioPercent() / 100);
            return;
        }
        try (NodeWarmup filling = nodeWarmup()) {
            check(written, (entry, bytes) -> filling.bytesHere(entry));
        }
    }

    /** How much of a file is warm. */
    private interface Warmth {
        long bytes(String path, long bytes) throws StoreException;
    }

    private void check(String written, Warmth warmth) throws ServiceException {
        walk(tree.storedPath(written), (entry, bytes, failed) -> {
            try {
                long warm = bytes == 0 ? 0 : warmth.bytes(entry, bytes);
                return progress.entry(bytes, warm, failed);
            } catch (StoreException e) {
                failed(entry, e);
                return progress.entry(bytes, 0, true);
            }
        });
    }

    private void failed(String path, StoreException why) {
        failures++;
        if (failures <= MAX_FAILURES) {
            LOG.warn("{} is not warmed: {}", path, why.getMessage());
        }
        progress.failure(path + ": " + why.getMessage());
    }

    private void walk(String path, WalkProgress each) throws ServiceException {
        try {
            tree.walk(path, each);
        } catch (TreeException e) {
            throw Directories.failure(e);
        }
    }

    private String alluxioPath(String path) {
        String below = path.equals("/") ? "" : path;
        return root.equals("/") ? (below.isEmpty() ? "/" : below) : root + below;
    }

    private MasterLoad.End load(String path) throws ServiceException {
        try {
            return new MasterLoad(store, path, progress, MasterLoad.Patience.USUAL, clock).run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServiceException(Kind.ABORTED, "interrupted", e);
        }
    }

    /** Reads a file; false: nobody waits for the result any more. */
    private interface Reader {
        boolean read(String path) throws StoreException;
    }

    /** Reads every file once. */
    private void read(String path, Reading reading, Reader each) throws ServiceException {
        reading.told(false);
        walk(path, (entry, bytes, failed) -> {
            try {
                return bytes == 0 || each.read(entry);
            } catch (StoreException e) {
                failed(entry, e);
                reading.failedFiles++;
                return reading.told(false);
            }
        });
        reading.told(true);
    }

    /** What was read so far. */
    private final class Reading {
        private final long totalBytes;
        private long readBytes;
        private long failedFiles;

        private Reading(long totalBytes) {
            this.totalBytes = totalBytes;
        }

        /** False: nobody waits for the result any more. */
        private boolean told(boolean done) {
            return progress.loading(new LoadState(done, readBytes, totalBytes, failedFiles, ""));
        }

        private boolean intoCache(NodeWarmup filling, String path) throws StoreException {
            return filling.bring(path, (bytes, isHere) -> {
                if (isHere) {
                    readBytes += bytes;
                } else {
                    progress.lacksRoom(bytes);
                }
                return told(false);
            });
        }

        /** Through Alluxio's client, which has workers keep what they fetch. */
        private boolean whole(String path) throws StoreException {
            try (StoreReader source = store.openToKeep(path, store.status(path).id())) {
                ByteBuffer buffer = ByteBuffer.allocate(CHUNK_BYTES);
                boolean wanted = true;
                int count = CHUNK_BYTES;
                for (long chunk = 0; wanted && count == CHUNK_BYTES; chunk++) {
                    count = source.read(chunk * CHUNK_BYTES, buffer.clear());
                    readBytes += count;
                    wanted = (chunk + 1) % CHUNKS_A_WORD != 0 || told(false);
                }
                return wanted && told(false);
            }
        }
    }
}

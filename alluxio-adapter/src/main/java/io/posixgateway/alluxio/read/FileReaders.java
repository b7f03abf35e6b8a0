package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.nodecache.CacheFigures;
import io.posixgateway.alluxio.nodecache.CacheFolders;
import io.posixgateway.alluxio.nodecache.CacheVolume;
import io.posixgateway.alluxio.nodecache.Tenant;
import io.posixgateway.alluxio.read.FileReader.Extent;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Makes the readers of one volume; holds what they share. Any thread. */
public final class FileReaders implements AutoCloseable, FileReader.Counters {
    private static final long ASK_NANOS = 2_000_000_000L;
    /** So many calls at most bring at the same time what nobody asked for yet. */
    private static final int MAX_AHEAD = 8;

    private final Store store;
    private final BlockFiles blocks;
    private final BufferBudget budget;
    /** Null: there is none. */
    private final @Nullable CacheVolume cache;

    /** By file id. */
    private final LongMap<RemoteFile> remotes = new LongMap<>();

    private final BestEffortExecutor helpers = new BestEffortExecutor(MAX_AHEAD, "read-ahead");
    private final LruReporter used;
    private final long readAheadBytes;
    private final Clock clock;
    private final AtomicLong askedNanos;
    private final LongAdder localBytes = new LongAdder();
    private final LongAdder remoteBytes = new LongAdder();

    /** @param readAheadBytes the window of each stream; 0: no reading ahead */
    public FileReaders(Store store, BlockFiles blocks, BufferBudget budget, long readAheadBytes, Clock clock) {
        this(store, blocks, budget, readAheadBytes, null, clock);
    }

    /** @param folder of the data cache, closed with the readers; null: there is none */
    public FileReaders(
            Store store,
            BlockFiles blocks,
            BufferBudget budget,
            long readAheadBytes,
            CacheFolders.@Nullable Shared folder,
            Clock clock) {
        this.store = store;
        this.cache = folder == null ? null : new CacheVolume(folder, this::tenant, new FillBuffers(budget), clock);
        this.blocks = blocks;
        this.used = new LruReporter(blocks, store::use, clock, this::lookAfterBlocks);
        this.budget = budget;
        this.readAheadBytes = readAheadBytes;
        this.clock = clock;
        this.askedNanos = new AtomicLong(clock.nanos() - ASK_NANOS);
    }

    private @Nullable Tenant tenant() throws StoreException {
        String cluster = store.clusterId();
        return cluster.isEmpty() ? null : Tenant.of(cluster, store.user(), store.settings());
    }

    /** Where a path is found when a stream is opened. */
    public interface PathFinder {
        String path() throws StoreException;
    }

    /** A reader of a file; nothing is opened yet. */
    public FileReader reader(Extent extent, PathFinder finder) {
        return new FileReader(blocks, new Sharing(extent, finder), cache, extent, this);
    }

    /** The same, but that what it reads does not enter the data cache. */
    FileReader uncached(Extent extent, PathFinder finder) {
        return new FileReader(blocks, new Sharing(extent, finder), null, extent, this);
    }

    /** To bring files to this node; null: there is no data cache. */
    public @Nullable NodeFill fill() {
        return cache == null ? null : new NodeFill(this, cache);
    }

    /** The way of one handle to the streams of its file, which all handles share. */
    private final class Sharing implements FileReader.Remotes {
        private final Extent extent;
        private final PathFinder finder;

        Sharing(Extent extent, PathFinder finder) {
            this.extent = extent;
            this.finder = finder;
        }

        @Override
        public RemoteFile join() {
            while (true) {
                RemoteFile made = new RemoteFile(extent.lengthBytes(), this::reader);
                RemoteFile other = remotes.putIfAbsent(extent.fileId(), made);
                RemoteFile file = other == null || other.lengthBytes() != extent.lengthBytes() ? made : other;
                if (file.join()) {
                    return file;
                }
                Thread.onSpinWait();
            }
        }

        private RemoteReader reader() {
            return new RemoteReader(
                    () -> store.open(finder.path(), extent.fileId()),
                    extent.lengthBytes(),
                    readAheadBytes,
                    budget,
                    helpers);
        }

        @Override
        public void leave(RemoteFile file) {
            if (!file.leave()) {
                return;
            }
            if (remotes.get(extent.fileId()) == file) {
                remotes.remove(extent.fileId());
            }
            file.close();
        }
    }

    /** Should {@link #learn} be called before this file is read? Never waits. */
    public boolean wantsToLearn() {
        return blocks.enabled() && !blocks.knowsFolders() && clock.nanos() - askedNanos.get() >= ASK_NANOS;
    }

    /** Asks where the block files of a local worker are, if one has this file; null, and no failure, if not. Waits. */
    public @Nullable Path learn(String path) {
        askedNanos.set(clock.nanos());
        try {
            Path folder = store.localBlockFolder(path);
            if (folder != null) {
                learned(folder);
                askedNanos.set(clock.nanos() - ASK_NANOS);
            }
            return folder;
        } catch (StoreException e) {
            org.slf4j.LoggerFactory.getLogger(FileReaders.class)
                    .info("No local block files, reading through streams: {}", e.getMessage());
            return null;
        }
    }

    /** Block files of a worker are in this folder. */
    public void learned(Path folder) {
        blocks.learn(folder);
        used.start();
    }

    /** File and block ids are those of other files from now on: what is open and buffered goes on for those who have it, alone. */
    public void forgetAll() {
        remotes.clear();
        blocks.forgetAll();
        if (cache != null) {
            cache.forgetTenant();
        }
    }

    private void lookAfterBlocks() {
        blocks.dropEvicted();
        try {
            blocks.learnMissed(store::localBlockFolder);
        } catch (StoreException e) {
            org.slf4j.LoggerFactory.getLogger(FileReaders.class)
                    .debug("Cannot locate other local blocks yet: {}", e.getMessage());
        }
    }

    @Override
    public void local(int bytes) {
        localBytes.add(bytes);
    }

    @Override
    public void remote(int bytes) {
        remoteBytes.add(bytes);
    }

    /** Open block files. */
    public BlockFiles blocks() {
        return blocks;
    }

    /** Memory of the streams. */
    public BufferBudget budget() {
        return budget;
    }

    /** The data cache; null: there is none. */
    public @Nullable CacheVolume cache() {
        return cache;
    }

    /** Is all of the file in the data cache? Never waits. */
    public boolean isCached(Extent extent) {
        return cache != null && cache.hasAll(extent.fileId(), extent.lengthBytes(), extent.version());
    }

    /** Numbers of the data cache; null: there is none. */
    public @Nullable CacheFigures cacheFigures() {
        return cache == null ? null : cache.figures();
    }

    /** Bytes read from local block files. */
    public long localBytes() {
        return localBytes.sum();
    }

    /** Bytes read through streams. */
    public long remoteBytes() {
        return remoteBytes.sum();
    }

    @Override
    public void close() {
        used.close();
        helpers.close();
        blocks.close();
        if (cache != null) {
            cache.close();
        }
        budget.close();
    }
}

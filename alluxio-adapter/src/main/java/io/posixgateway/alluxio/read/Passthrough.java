package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.nodecache.CacheKey;
import io.posixgateway.alluxio.nodecache.CacheVolume;
import io.posixgateway.alluxio.nodecache.WholeFile;
import io.posixgateway.alluxio.read.FileReader.Extent;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Kernel;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Nodes that the kernel reads by itself, from the block file that holds the whole file, or from the one of the data cache that does. Only
 * on mounts whose files nobody changes: who has such a node open would not see a change.
 *
 * <p>The kernel's rule is that all who have a node open do it in one way: while one is passed through, every other open must
 * be so too, with the same backing file, and while one goes through the page cache, none may be; what breaks the rule fails
 * with EIO. So the first open of a node decides, and one that finds another content there, since another mount replaced the file, is
 * turned away to another node, see {@link io.posixgateway.alluxio.meta.InodeTable#split}. The kernel ends a node's way of reading before it sends
 * the RELEASE, so what is counted here ends later than in the kernel, never earlier.
 *
 * <p>Threads: any, with the monitor of the node's inode held for {@link #of}, {@link #start}, {@link Live#join} and
 * {@link Live#leave}. A block file is held, and its backing id with it, as long as a handle is open; afterwards both stay
 * in {@link BlockFiles}, so that the next open needs no system call. A file of the data cache is closed with the last handle, and may be
 * evicted then.
 *
 * <p>What the kernel holds is noted for the process that takes the mount over. That one gives back the backing ids of its
 * predecessor, and turns all opens away from the nodes that were passed through, for it cannot know when they end.
 */
public final class Passthrough {
    private static final Logger LOG = LoggerFactory.getLogger(Passthrough.class);
    /** Errnos of a kernel that rejects all such files. */
    static final Set<Integer> REJECTED = Set.of(-Errno.EPERM, -Errno.EOPNOTSUPP, -Errno.ELOOP);

    private final BlockFiles blocks;
    private final @Nullable CacheVolume cache;
    private final long leastBytes;
    private final Notes notes;
    private final LongMap<Live> nodes = new LongMap<>();
    private final LongMap<Boolean> heldBefore = new LongMap<>();
    private final LongAdder opens = new LongAdder();
    private volatile @Nullable Kernel kernel;
    /** For files of the data cache; null: they are not passed through. */
    private volatile @Nullable BackingFiles cachedFiles;

    /** Where it is noted what the kernel holds: nodes, which are positive, and backing ids, negative. Any thread. */
    public interface Notes {
        /** For a mount that ends with its process. */
        Notes NONE = new Notes() {
            @Override
            public boolean add(long held) {
                return true;
            }

            @Override
            public void remove(long held) {}
        };

        /** False: there is no room. */
        boolean add(long held);

        void remove(long held);
    }

    /**
     * @param cache null: there is none
     * @param leastBytes files from this size on; 0: none
     */
    public Passthrough(BlockFiles blocks, @Nullable CacheVolume cache, long leastBytes, Notes notes) {
        this.blocks = blocks;
        this.cache = cache;
        this.leastBytes = leastBytes;
        this.notes = notes;
    }

    /**
     * The mount is there.
     *
     * @param unchanging does nobody change its files? Else a block file, which never changes, is none that the kernel may read
     * @param inherited what an earlier process noted that served it
     */
    public void started(Kernel mounted, boolean unchanging, Set<Long> inherited) {
        for (long held : inherited) {
            if (held > 0) {
                heldBefore.put(held, Boolean.TRUE);
            } else if (mounted.closeBacking((int) -held) >= 0) {
                notes.remove(held);
            }
        }
        if (leastBytes > 0 && unchanging && mounted.features().passthrough()) {
            BackingFiles backingFiles = new BackingFiles(mounted, notes);
            blocks.backedBy(backingFiles);
            cachedFiles = cache == null ? null : backingFiles;
            kernel = mounted;
        }
    }

    /** May the kernel read the node by itself for those who opened it in an earlier process? */
    public boolean heldBefore(long node) {
        return heldBefore.size() > 0 && heldBefore.get(node) != null;
    }

    /** The kernel forgot the node. */
    public void forgotten(long node) {
        if (heldBefore.size() > 0 && heldBefore.remove(node) != null) {
            notes.remove(node);
        }
    }

    /** What the kernel reads from, held as long as it does. */
    private interface Backing {
        void used();

        /** Is it known to be damaged? */
        boolean isDropped();

        void give();
    }

    private record BlockBacking(BlockFiles blocks, BlockFile file) implements Backing {
        @Override
        public void used() {
            blocks.used(file.blockId());
        }

        @Override
        public boolean isDropped() {
            return false;
        }

        @Override
        public void give() {
            file.give();
        }
    }

    private record CachedBacking(WholeFile file, BackingFiles kernel, int backingId) implements Backing {
        @Override
        public void used() {
            // The pin that the file holds has counted.
        }

        @Override
        public boolean isDropped() {
            return file.isDropped();
        }

        @Override
        public void give() {
            kernel.close(backingId);
            file.close();
        }
    }

    /** A node that is passed through now. */
    public static final class Live {
        private final Passthrough owner;
        private final long node;
        private final long fileId;
        private final Backing file;
        private final int backingId;
        private int handles;

        private Live(Passthrough owner, long node, long fileId, Backing file, int backingId) {
            this.owner = owner;
            this.node = node;
            this.fileId = fileId;
            this.file = file;
            this.backingId = backingId;
        }

        /** May one more who opens this content read it so? Not from a file of the data cache that is known to be damaged. */
        public boolean serves(Extent extent) {
            return fileId == extent.fileId() && !file.isDropped();
        }

        /** One more handle, which is to be answered with this backing id. */
        public int join() {
            handles++;
            file.used();
            owner.opens.increment();
            return backingId;
        }

        /** One handle less. */
        public void leave() {
            if (--handles == 0) {
                owner.nodes.remove(node);
                owner.notes.remove(node);
                file.give();
            }
        }
    }

    /** The node's way now; null: it is not passed through. */
    public @Nullable Live of(long node) {
        return kernel == null ? null : nodes.get(node);
    }

    /** May a file of this size, in blocks of that, be passed through? */
    public boolean matches(Extent extent) {
        return kernel != null && extent.lengthBytes() >= leastBytes && extent.lengthBytes() <= extent.blockBytes();
    }

    /** The same of a file of the data cache, as far as its size says. */
    public boolean matchesCached(Extent extent) {
        return cachedFiles != null
                && extent.lengthBytes() >= leastBytes
                && extent.lengthBytes() <= CacheKey.PIECE_BYTES;
    }

    /** May files of the data cache be passed through at all? */
    public boolean passesCached() {
        return cachedFiles != null;
    }

    /** Would {@link #openCached} open one, as far as is known? Never waits. */
    public boolean hasCached(Extent extent) {
        return cache != null
                && matchesCached(extent)
                && cache.hasWhole(extent.fileId(), extent.lengthBytes(), extent.version());
    }

    /** The file of the data cache for {@link #start}; null: there is none, or it cannot be opened now. Waits for the disk. */
    public @Nullable Cached openCached(Extent extent) {
        WholeFile file =
                cache == null ? null : cache.openWhole(extent.fileId(), extent.lengthBytes(), extent.version());
        return file == null ? null : new Cached(extent, file);
    }

    /** A file of the data cache, open for one {@link #start}, and closed if that does not use it. One thread. */
    public static final class Cached implements AutoCloseable {
        private final Extent extent;
        private @Nullable WholeFile file;

        private Cached(Extent extent, WholeFile file) {
            this.extent = extent;
            this.file = file;
        }

        /** Null: it is of another content. */
        private @Nullable WholeFile take(Extent wanted) {
            WholeFile taken = extent.equals(wanted) ? file : null;
            file = taken == null ? file : null;
            return taken;
        }

        @Override
        public void close() {
            WholeFile left = file;
            if (left != null) {
                left.close();
            }
        }
    }

    /**
     * Begins for a node that nobody has open; to be joined. Null: its content is in no file here, or the kernel refuses.
     *
     * @param cached what {@link #openCached} opened for it; null: nothing
     */
    public @Nullable Live start(long node, Extent extent, @Nullable Cached cached) {
        Live live = matches(extent) ? startBlock(node, extent) : null;
        WholeFile file = live != null || cached == null || !matchesCached(extent) ? null : cached.take(extent);
        return file == null ? live : startCached(node, extent, file);
    }

    private @Nullable Live startBlock(long node, Extent extent) {
        BlockFile file = blocks.take(extent.firstBlock());
        if (file == null) {
            return null;
        }
        int backingId = blocks.backingOf(file, extent.lengthBytes());
        if (backingId <= 0 || !notes.add(node)) {
            file.give();
            return null;
        }
        return started(node, extent, new BlockBacking(blocks, file), backingId);
    }

    private @Nullable Live startCached(long node, Extent extent, WholeFile file) {
        BackingFiles backingFiles = cachedFiles;
        int backingId = backingFiles == null ? 0 : backingFiles.open(file.descriptor());
        if (backingFiles == null || backingId <= 0) {
            file.close();
            rejected(backingId);
            return null;
        }
        file.closeDescriptor(); // the backing id has the kernel's own hold of it
        CachedBacking backing = new CachedBacking(file, backingFiles, backingId);
        if (!notes.add(node)) {
            backing.give();
            return null;
        }
        return started(node, extent, backing, backingId);
    }

    private void rejected(int errno) {
        if (REJECTED.contains(errno)) {
            cachedFiles = null;
            LOG.warn(
                    "The kernel rejects files of the data cache for passthrough (errno {}), so this process reads"
                            + " them. Passthrough needs CAP_SYS_ADMIN in the initial user namespace, and"
                            + " cache_dir on a file system such as tmpfs, ext4 or XFS",
                    -errno);
        }
    }

    private Live started(long node, Extent extent, Backing backing, int backingId) {
        Live live = new Live(this, node, extent.fileId(), backing, backingId);
        nodes.put(node, live);
        return live;
    }

    /** Opens answered so. */
    public long opens() {
        return opens.sum();
    }
}

package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.read.FileReader.Extent;
import io.posixgateway.fuse.spi.Kernel;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Nodes that the kernel reads by itself, from the block file that holds the whole file. Only on mounts whose files nobody
 * changes: who has such a node open would not see a change.
 *
 * <p>The kernel's rule is that all who have a node open do it in one way: while one is passed through, every other open must
 * be so too, with the same backing file, and while one goes through the page cache, none may be; what breaks the rule fails
 * with EIO. So the first open of a node decides, and one that finds another content there, since another mount replaced the file, is
 * turned away to another node, see {@link io.posixgateway.alluxio.meta.InodeTable#split}. The kernel ends a node's way of reading before it sends
 * the RELEASE, so what is counted here ends later than in the kernel, never earlier.
 *
 * <p>Threads: any, with the monitor of the node's inode held for {@link #of}, {@link #start}, {@link Live#join} and
 * {@link Live#leave}. A block file is held, and its backing id with it, as long as a handle is open; afterwards both stay
 * in {@link BlockFiles}, so that the next open needs no system call.
 *
 * <p>What the kernel holds is noted for the process that takes the mount over. That one gives back the backing ids of its
 * predecessor, and turns all opens away from the nodes that were passed through, for it cannot know when they end.
 */
public final class Passthrough {
    private final BlockFiles blocks;
    private final long leastBytes;
    private final Notes notes;
    private final LongMap<Live> nodes = new LongMap<>();
    private final LongMap<Boolean> heldBefore = new LongMap<>();
    private final LongAdder opens = new LongAdder();
    private volatile @Nullable Kernel kernel;

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

    /** @param leastBytes files from this size on; 0: none */
    public Passthrough(BlockFiles blocks, long leastBytes, Notes notes) {
        this.blocks = blocks;
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
            blocks.backedBy(new BackingFiles(mounted, notes));
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

    /** A node that is passed through now. */
    public static final class Live {
        private final Passthrough owner;
        private final long node;
        private final long fileId;
        private final BlockFile file;
        private final int backingId;
        private int handles;

        private Live(Passthrough owner, long node, long fileId, BlockFile file, int backingId) {
            this.owner = owner;
            this.node = node;
            this.fileId = fileId;
            this.file = file;
            this.backingId = backingId;
        }

        /** Whose content it is. */
        public long fileId() {
            return fileId;
        }

        /** One more handle, which is to be answered with this backing id. */
        public int join() {
            handles++;
            owner.blocks.used(file.blockId());
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

    /** Begins for a node that nobody has open; to be joined. Null: no worker here has the block, or the kernel refuses. */
    public @Nullable Live start(long node, Extent extent) {
        BlockFile file = blocks.take(extent.firstBlock());
        if (file == null) {
            return null;
        }
        int backingId = blocks.backingOf(file, extent.lengthBytes());
        if (backingId <= 0 || !notes.add(node)) {
            file.give();
            return null;
        }
        Live live = new Live(this, node, extent.fileId(), file, backingId);
        nodes.put(node, live);
        return live;
    }

    /** Opens answered so. */
    public long opens() {
        return opens.sum();
    }
}

package io.posixgateway.alluxio.data;

import io.posixgateway.alluxio.data.FileReader.Extent;
import io.posixgateway.alluxio.inode.LongTable;
import io.posixgateway.fuse.spi.Kernel;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Nodes that the kernel reads by itself, from the block file that holds the whole file.
 *
 * <p>The kernel's rule is that all who have a node open do it in one way: while one is passed through, every other open must
 * be so too, with the same backing file, and while one goes through the page cache, none may be; what breaks the rule fails
 * with EIO. So the first open of a node decides, and an open that does not fit is turned away to another node of the same
 * file, see {@link io.posixgateway.alluxio.inode.InodeTable#split}. The kernel ends a node's way of reading before it sends
 * the RELEASE, so what is counted here ends later than in the kernel, never earlier.
 *
 * <p>Threads: any, with the monitor of the node's inode held for {@link #of}, {@link #start}, {@link Live#join} and
 * {@link Live#leave}. A block file is held, and its backing id with it, as long as a handle is open; afterwards both stay
 * in {@link BlockFiles}, so that the next open needs no system call.
 */
public final class Passthrough {
    private final BlockFiles blocks;
    private final long leastBytes;
    private final LongTable<Live> nodes = new LongTable<>();
    private final LongAdder opens = new LongAdder();
    private volatile @Nullable Kernel kernel;

    /** @param leastBytes files from this size on; 0: none */
    public Passthrough(BlockFiles blocks, long leastBytes) {
        this.blocks = blocks;
        this.leastBytes = leastBytes;
    }

    /** The mount is there. */
    public void started(Kernel mounted) {
        if (leastBytes > 0 && mounted.features().passthrough()) {
            blocks.backedBy(mounted);
            kernel = mounted;
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
            owner.opens.increment();
            return backingId;
        }

        /** One handle less. */
        public void leave() {
            if (--handles == 0) {
                owner.nodes.remove(node);
                file.give();
            }
        }
    }

    /** The node's way now; null: it is not passed through. */
    public @Nullable Live of(long node) {
        return kernel == null ? null : nodes.get(node);
    }

    /** May a file of this size, in blocks of that, be passed through? */
    public boolean suits(Extent extent) {
        return kernel != null && extent.lengthBytes() >= leastBytes && extent.lengthBytes() <= extent.blockBytes();
    }

    /** Begins for a node that nobody has open; to be joined. Null: no worker here has the block, or the kernel refuses. */
    public @Nullable Live start(long node, Extent extent) {
        BlockFile file = blocks.take(extent.firstBlock());
        if (file == null) {
            return null;
        }
        int backingId = blocks.backingOf(file, extent.lengthBytes());
        if (backingId <= 0) {
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

package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.read.BlockFiles;
import io.posixgateway.alluxio.read.FileReader;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files that this mount deleted or replaced while nobody had them open. The kernel may know them all the same: by a bind mount,
 * a descriptor of {@code O_PATH}, a file handle. Nothing says so before it sends FORGET, which of most files it does at once.
 *
 * <p>So their blocks on this host are held open until then, which costs no call to Alluxio, and what is changed of one is
 * copied into the spool first, as of any file. Where the mount outlives its process, an orphan that the kernel still knows after
 * a second is copied into the spool too, for the next process. Any thread; has one of its own while there are such, which is
 * never interrupted: that would close the files it reads and writes for all who use them.
 */
final class Orphans implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** So long its end waits for a copy under way. */
    private static final long FINISH_MILLIS = 5000;
    /** So much of a replaced file is copied beforehand where its blocks are not here. */
    private static final long SMALL_BYTES = 1 << 20;

    private final VolumeContext volume;
    private final boolean outlivesProcess;
    /** By node. */
    private final LongMap<Held> held = new LongMap<>();
    // Changed under this object's monitor.
    private @Nullable Thread thread;
    private volatile boolean closed;

    /** One of them. The flags are for the thread that copies. */
    private static final class Held {
        private final Inode inode;
        private final BlockFiles.Pin blocks;
        private boolean isOld;
        private boolean stays;

        private Held(Inode inode, BlockFiles.Pin blocks) {
            this.inode = inode;
            this.blocks = blocks;
        }
    }

    Orphans(VolumeContext volume, boolean outlivesProcess) {
        this.volume = volume;
        this.outlivesProcess = outlivesProcess;
    }

    /**
     * Before a file loses its name: holds its blocks, if all are here. Waits.
     *
     * @return false: its content goes with its name, if nothing else keeps it
     */
    boolean hold(Inode inode) {
        Attr attr = volume.dirtyFiles.has(inode) ? null : content(inode);
        if (attr == null || attr.lengthBytes() == 0) {
            return attr != null;
        }
        try {
            if (volume.readers.wantsToLearn()) {
                volume.learnBlocks(inode);
            }
        } catch (StoreException e) {
            LOG.debug("Cannot locate its blocks: {}", e.getMessage());
        }
        BlockFiles.Pin blocks = volume.readers.blocks().pin(FileOperations.extent(attr));
        if (blocks == null) {
            return false;
        }
        Held before = held.put(inode.node(), new Held(inode, blocks));
        if (before != null) {
            before.blocks.close();
        }
        copyLater();
        return true;
    }

    /** What is known of a file that is whole, asked for if need be; null: nothing, so that it cannot outlive its name. */
    private @Nullable Attr content(Inode inode) {
        try {
            Attr seen = inode.attr();
            Attr attr = seen == null ? inode.recallWritten() : seen;
            Attr now = attr == null || attr.fileId() != inode.fileId() ? volume.metadata.refresh(inode) : attr;
            return now.complete() ? now : null;
        } catch (StoreException e) {
            LOG.debug("Not kept open after its deletion: {}", e.getMessage());
            return null;
        }
    }

    /** Where {@link #hold} could not: copies a small file into the spool. True if that is where it is now. Waits. */
    boolean copyIfSmall(Inode inode) {
        Attr attr = inode.attr();
        if (attr == null || !inode.isRegular() || attr.lengthBytes() > SMALL_BYTES || volume.dirtyFiles.has(inode)) {
            return false;
        }
        try {
            volume.dirtyFiles.begin(inode, Long.MAX_VALUE);
            return true;
        } catch (StoreException e) {
            LOG.debug("Not copied before it is replaced: {}", e.getMessage());
            return false;
        }
    }

    /** Is the content of this file, which has no name, still there? */
    boolean has(Inode inode) {
        Attr attr = inode.attr();
        return held.get(inode.node()) != null || (attr != null && attr.lengthBytes() == 0);
    }

    /** The content of a file to be changed, one with a name included; of which version, does not matter if its blocks are held. */
    StoreReader open(Inode inode, long fileId) throws StoreException {
        Attr attr = inode.attr();
        if (attr == null || held.get(inode.node()) == null) {
            return volume.store.open(volume.metadata.pathOf(inode), fileId);
        }
        return new HeldSource(volume.readers.reader(FileOperations.extent(attr), () -> volume.metadata.pathOf(inode)));
    }

    /** Reads block files. */
    private record HeldSource(FileReader reader) implements StoreReader {
        @Override
        public int read(long offset, ByteBuffer into) throws StoreException {
            int count = reader.readLocal(offset, into);
            if (count < 0) {
                throw new StoreException(Errno.EIO, "A block of file " + reader.fileId() + " cannot be read", null);
            }
            return count;
        }

        @Override
        public void close() {
            reader.close();
        }
    }

    /** Nobody can reach it any more, or it kept its name. */
    void release(Inode inode) {
        Held one = held.remove(inode.node());
        if (one != null) {
            one.blocks.close();
        }
    }

    private synchronized void copyLater() {
        if (outlivesProcess && thread == null && !closed) {
            Thread started = new UnpinnedThread(volume.clock.background(this::run), "orphans");
            started.start();
            thread = started;
        }
    }

    private void run() {
        while (goesOn()) {
            held.all().forEach(this::copyIfOld);
        }
    }

    /** Waits a moment. */
    private synchronized boolean goesOn() {
        boolean any = held.all().stream().anyMatch(one -> !one.stays) && pause();
        if (!any) {
            thread = null;
        }
        return any;
    }

    /** False: it is over before. */
    private synchronized boolean pause() {
        long end = volume.clock.nanos() + PAUSE_NANOS;
        try {
            for (long left = PAUSE_NANOS; !closed && left > 0; left = end - volume.clock.nanos()) {
                volume.clock.waitOn(this, left);
            }
            return !closed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The kernel has had a second to forget it. */
    private void copyIfOld(Held one) {
        boolean young = !one.isOld;
        one.isOld = true;
        if (!young && !one.stays && !closed && one.inode.unlinked()) {
            copy(one);
        }
    }

    /** A program may be changing it, so that its content is being copied already: it is held until that is done. */
    private void copy(Held one) {
        try {
            volume.dirtyFiles.take(one.inode);
            release(one.inode);
            volume.buryIfClosed(one.inode); // it may have been forgotten meanwhile
        } catch (StoreException | RuntimeException | Error e) { // one that fails, in whatever way, stops no other
            if (held.get(one.inode.node()) == null) {
                return; // it was
            }
            one.stays = true;
            LOG.warn(
                    "A deleted file of {} bytes, which a bind mount or descriptor still references, is lost when this"
                            + " process ends: {}",
                    one.inode.attr() == null ? 0 : one.inode.attr().lengthBytes(),
                    e instanceof StoreException ? e.getMessage() : e.toString());
        }
    }

    /** The next process goes on with those that the kernel knows. Waits. */
    void leave() {
        end();
        held.all().stream()
                .filter(one -> one.inode.unlinked() && one.inode.isKnown())
                .forEach(this::copy);
        close();
    }

    private synchronized @Nullable Thread end() {
        closed = true;
        notifyAll();
        return thread;
    }

    /** Nothing is copied any more, if that does not take long. */
    @Override
    public void close() {
        Thread copying = end();
        try {
            if (copying != null) {
                copying.join(FINISH_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        held.all().forEach(one -> release(one.inode));
    }

    /**
     * Whoever has the replaced file open goes on reading it: from a spool, unless the kernel holds the block file. So does who
     * refers to it by a bind mount or an {@code O_PATH} descriptor: from block files on this host, or a spool if it is small.
     *
     * @return was a spool begun for that?
     */
    boolean keepContent(Inode target) throws StoreException {
        volume.dirtyFiles.completeStream(target);
        if (volume.dirtyFiles.has(target)) {
            return false;
        }
        if (volume.mayBeOpen(target) && !volume.passedThrough(target)) {
            volume.dirtyFiles.begin(target, Long.MAX_VALUE);
            return true;
        }
        return !hold(target) && copyIfSmall(target);
    }
}

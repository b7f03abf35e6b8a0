package io.posixgateway.alluxio.read;

import io.posixgateway.alluxio.meta.LongMap;
import io.posixgateway.alluxio.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Open block files by block id, at most so many; the least used are closed first (second chance). Any thread.
 *
 * <p>Where block files are is learned: {@link #learn} is told the folder of one block, and others are then found by their
 * ids alone. A worker may have several folders: of blocks that are not found it is asked where they are, later.
 */
public final class BlockFiles implements AutoCloseable {
    /** So many kept files are looked at, for deleted ones, for each one that is opened. */
    private static final int SWEPT = 4;

    private static final int MAX_HELD = 16;

    private final int most;
    private final TrustedFolders trusted;
    private final BooleanSupplier mayOpen;
    private final List<BlockFolder> folders = new CopyOnWriteArrayList<>();
    private final LongMap<BlockFile> open = new LongMap<>();
    private final Queue<BlockFile> order = new ConcurrentLinkedQueue<>();
    private final UnlocatedBlocks missed = new UnlocatedBlocks();
    /** Those of {@link #pin}. Changed under this object's monitor. */
    private final LongMap<BlockFile> pinned = new LongMap<>();

    private volatile int pins;
    private volatile @Nullable BackingFiles backingFiles;
    /** Apart from the open ones: more are read between two tellings than may be open. Null: no folder is known. */
    private volatile @Nullable UnreportedAccesses unreported;

    private final LongAdder hits = new LongAdder();
    private final LongAdder opened = new LongAdder();
    private final LongAdder told = new LongAdder();
    private final LongAdder evicted = new LongAdder();

    /** @param most how many may be open; 0: none, so that everything is read through streams */
    public BlockFiles(int most) {
        this(most, TrustedFolders.anywhere(), () -> true);
    }

    /**
     * @param trusted where they may be read
     * @param mayOpen asked before one is opened: may it be believed that its number is still that of the same block? Never waits
     */
    public BlockFiles(int most, TrustedFolders trusted, BooleanSupplier mayOpen) {
        this.most = most;
        this.trusted = trusted;
        this.mayOpen = mayOpen;
    }

    /** Block files are in this folder, a worker says. */
    public synchronized void learn(Path path) {
        BlockFolder folder = trusted.find(path);
        if (folder != null && !folders.contains(folder) && Files.isReadable(path)) {
            if (unreported == null) {
                unreported = new UnreportedAccesses();
            }
            folders.add(folder);
        }
    }

    /** Where block files are, as far as known; empty where none are wanted. */
    public List<BlockFolder> folders() {
        return most > 0 ? List.copyOf(folders) : List.of();
    }

    /** Are block files wanted, and is a folder known? */
    public boolean knowsFolders() {
        return !folders.isEmpty();
    }

    public boolean enabled() {
        return most > 0;
    }

    /** Takes an open block file, opening it if need be; null: no worker here has it. To be given back. */
    @Nullable
    BlockFile take(long blockId) {
        BlockFile kept = open.get(blockId);
        BlockFile known = kept == null && pins > 0 ? pinned.get(blockId) : kept;
        if (known != null && known.take()) {
            known.usedAgain = true;
            used(blockId);
            hits.increment();
            return known;
        }
        return known == null && most > 0 ? openNew(blockId) : null;
    }

    /** A file is read without its blocks being taken: the kernel has its pages. */
    public void used(FileReader.Extent extent) {
        long blocks = Math.min(MAX_HELD, blocksOf(extent));
        for (long i = 0; i < blocks; i++) {
            used(extent.firstBlock() | i);
        }
    }

    /** The worker is to hear that it was read. */
    void used(long blockId) {
        UnreportedAccesses read = unreported;
        if (read != null) {
            read.add(blockId);
        }
    }

    private static long blocksOf(FileReader.Extent extent) {
        return (extent.lengthBytes() + extent.blockBytes() - 1) / Math.max(1, extent.blockBytes());
    }

    /** May block files be read now: are they surely those of the Alluxio that is known? Never waits. */
    public boolean mayOpen() {
        return mayOpen.getAsBoolean();
    }

    /** Is there a file of this block in a known folder? */
    public boolean has(long blockId) {
        for (BlockFolder folder : folders) {
            if (most > 0 && Files.isReadable(folder.file(blockId))) {
                return true;
            }
        }
        return false;
    }

    /** Opens all blocks of a file, so that it can be read for a while though the worker deletes them; false: some are not here. */
    public boolean hold(FileReader.Extent extent) {
        long blocks = blocksOf(extent);
        boolean all = blocks <= MAX_HELD;
        for (long i = 0; i < blocks && all; i++) {
            BlockFile file = take(extent.firstBlock() | i);
            all = file != null;
            if (file != null) {
                file.give();
            }
        }
        return all;
    }

    /** All blocks of a file, open until {@link #close}, whoever deletes them and however many others are opened. */
    public final class Pin implements AutoCloseable {
        private final List<BlockFile> files;

        private Pin(List<BlockFile> files) {
            this.files = files;
        }

        @Override
        public void close() {
            unpin(files);
        }
    }

    /** Null: some blocks are not here, or as many as may be open are pinned already. */
    public @Nullable Pin pin(FileReader.Extent extent) {
        long count = blocksOf(extent);
        if (count > most - pins) {
            return null;
        }
        List<BlockFile> files = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            BlockFile file = take(extent.firstBlock() | i);
            if (file == null) {
                files.forEach(BlockFile::give);
                return null;
            }
            files.add(file);
        }
        synchronized (this) {
            for (BlockFile file : files) {
                file.pins++;
                pinned.put(file.blockId(), file);
            }
            pins = pinned.size();
        }
        return new Pin(files);
    }

    private void unpin(List<BlockFile> files) {
        synchronized (this) {
            for (BlockFile file : files) {
                if (--file.pins == 0 && pinned.get(file.blockId()) == file) {
                    pinned.remove(file.blockId());
                }
            }
            pins = pinned.size();
        }
        files.forEach(BlockFile::give);
    }

    private @Nullable BlockFile openNew(long blockId) {
        if (!folders.isEmpty() && !mayOpen.getAsBoolean()) {
            return null;
        }
        for (BlockFolder folder : folders) {
            try {
                BlockFile file = BlockFile.open(folder, blockId);
                file.take();
                opened.increment();
                used(blockId);
                keep(file);
                return file;
            } catch (IOException e) {
                if (!(e instanceof NoSuchFileException)) { // it may be in another folder
                    trusted.refused(e);
                }
            }
        }
        missed.add(blockId);
        return null;
    }

    /** Looks where workers of this host have what was not found here, and learns the folders. Waits. */
    void learnMissed(UnlocatedBlocks.Workers workers) throws StoreException {
        for (long blockId : missed.takeAll()) {
            Path folder = has(blockId) ? null : workers.folder(blockId);
            if (folder != null) {
                learn(folder);
            }
        }
    }

    /** Those that were read since this was asked last, as far as a worker here has them. Looks for each that is not open. */
    List<Long> takeUsed() {
        UnreportedAccesses read = unreported;
        List<Long> used = read == null ? new ArrayList<>() : read.takeAll();
        used.removeIf(blockId -> open.get(blockId) == null && !has(blockId));
        return used;
    }

    /** The worker heard of so many of them. */
    void told(int blocks) {
        told.add(blocks);
    }

    /** How often the worker heard that a block of it was read. */
    public long told() {
        return told.sum();
    }

    /** From now on block files can be given to the kernel. */
    void backedBy(BackingFiles kernel) {
        backingFiles = kernel;
    }

    /**
     * The kernel's number of a block file that was taken; 0 or less: it cannot be passed through. When the kernel does not
     * allow it to this process at all, that is logged, and not tried again.
     */
    int backingOf(BlockFile file, long lengthBytes) {
        BackingFiles kernel = backingFiles;
        if (kernel == null || !holds(file, lengthBytes)) {
            return 0;
        }
        int id = file.backing(kernel);
        if (Passthrough.REJECTED.contains(id)) {
            backingFiles = null;
            org.slf4j.LoggerFactory.getLogger(BlockFiles.class)
                    .warn(
                            "The kernel rejects block files for passthrough (errno {}), so this process reads them."
                                    + " Passthrough needs CAP_SYS_ADMIN in the initial user namespace, and block"
                                    + " files on a file system such as tmpfs, ext4 or XFS, not on an overlay",
                            -id);
        }
        return id;
    }

    private static boolean holds(BlockFile file, long lengthBytes) {
        try {
            return file.lengthBytes() == lengthBytes;
        } catch (IOException e) {
            return false;
        }
    }

    private void keep(BlockFile file) {
        BlockFile other = open.putIfAbsent(file.blockId(), file);
        if (other != null) {
            file.give();
            return;
        }
        dropEvicted(SWEPT);
        order.add(file);
        int tries = 8;
        while (open.size() > most && tries-- > 0) {
            BlockFile oldest = order.poll();
            if (oldest == null) {
                return;
            }
            if (oldest.usedAgain) {
                oldest.usedAgain = false;
                order.add(oldest);
            } else {
                open.remove(oldest.blockId());
                oldest.give();
                evicted.increment();
            }
        }
    }

    /** How often an open one was found. */
    public long hits() {
        return hits.sum();
    }

    /** How often one was opened. */
    public long opened() {
        return opened.sum();
    }

    /** How often one was closed to make room. */
    public long evicted() {
        return evicted.sum();
    }

    /** How many may be kept open. */
    public int most() {
        return most;
    }

    /** Lets go of all blocks that the worker has deleted, whose memory an open file keeps, though nothing is opened. */
    void dropEvicted() {
        dropEvicted(open.size());
    }

    private void dropEvicted(int most) {
        for (int i = 0; i < most; i++) {
            BlockFile next = order.poll();
            if (next == null) {
                return;
            }
            if (next.evicted()) {
                open.remove(next.blockId());
                next.give();
            } else {
                order.add(next);
            }
        }
    }

    /** The numbers are those of other blocks from now on: who has one of these open goes on with it, and nobody else finds it. */
    void forgetAll() {
        synchronized (this) {
            pinned.clear();
            pins = 0;
        }
        close();
    }

    /** How many are open and kept. */
    public int size() {
        return open.size();
    }

    @Override
    public void close() {
        BlockFile file = order.poll();
        while (file != null) {
            open.remove(file.blockId());
            file.give();
            file = order.poll();
        }
    }
}

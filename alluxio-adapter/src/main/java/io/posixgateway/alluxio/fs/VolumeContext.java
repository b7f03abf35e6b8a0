package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.CreationLog;
import io.posixgateway.alluxio.journal.DirectoryRenameLog;
import io.posixgateway.alluxio.journal.KnownAlluxio;
import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.journal.RenameLog;
import io.posixgateway.alluxio.journal.RetryQueue;
import io.posixgateway.alluxio.journal.SillyRenames;
import io.posixgateway.alluxio.journal.StaleWriteLog;
import io.posixgateway.alluxio.journal.VolumeJournal;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.CachePolicy;
import io.posixgateway.alluxio.meta.DirectoryTimes;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.KernelInvalidator;
import io.posixgateway.alluxio.meta.ListingPrefetcher;
import io.posixgateway.alluxio.meta.Locations;
import io.posixgateway.alluxio.meta.MemoryAccounting;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.meta.MovedPaths;
import io.posixgateway.alluxio.meta.PathPolicies;
import io.posixgateway.alluxio.meta.ReaddirPrefetch;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.nodecache.CacheFolders;
import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.read.FileReaders;
import io.posixgateway.alluxio.read.Passthrough;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.Committer;
import io.posixgateway.alluxio.write.DirectoryRename;
import io.posixgateway.alluxio.write.DirtyFileRecovery;
import io.posixgateway.alluxio.write.DirtyFiles;
import io.posixgateway.alluxio.write.FileReplacer;
import io.posixgateway.alluxio.write.NameReservations;
import io.posixgateway.alluxio.write.Overwriter;
import io.posixgateway.alluxio.write.SpoolFolder;
import io.posixgateway.alluxio.write.StaleWorkerWrites;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts of one mounted volume, and what its operations have in common. Any thread. */
final class VolumeContext implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeContext.class);
    private static final Duration FINISH = Duration.ofSeconds(5);
    private static final Duration SLOW = Duration.ofMinutes(1);
    /** How long calls wait for a recovery: as long as Alluxio's client tries; about as long as one call of it may hang. */
    private static final Duration REFUSED = Duration.ofSeconds(8);

    final AdapterOptions options;
    final Clock clock;
    final Store store;
    final InodeTable table;
    final PathPolicies cachePolicy;
    final AttrDecoder attrDecoder;
    final IdMapper idMapper;
    final KernelInvalidator invalidator;
    private final RetryQueue retries;
    final Metadata metadata;
    final MovedPaths lengths;
    final ListingPrefetcher hot;
    final ReaddirPrefetch ahead;
    final FileReaders readers;
    final Passthrough passthrough;
    final LastKnown lastKnown;
    final PageCachePolicy pages;
    final Privileges privileges = new Privileges(this);
    final DirtyFiles dirtyFiles;
    final SpoolFolder spool;
    final VolumeJournal journal;
    final SillyRenames hidden;
    final CreationLog creations;
    final DirectoryRename.Notes unfinished;
    final FileReplacer replacer;
    final SillyRenameCleanup sillyRenameCleanup = new SillyRenameCleanup(this);
    final Orphans orphans;
    final DirectoryRename directoryRename;
    private final @Nullable VolumeStateDir kept;
    private final KnownAlluxio alluxio;
    final ClusterChange change;
    private final ThreadPoolExecutor later = new ThreadPoolExecutor(
            0, 1, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> new UnpinnedThread(task, "deleted-files"));
    private volatile boolean takenOver;
    /** Does nobody change files through this mount? */
    private volatile boolean unchanging;
    /** While the changed files of an earlier process are being recovered. */
    private volatile @Nullable Recovering recovering;
    /** What restores, or restored, the changed files of an earlier process whose mount goes on. */
    private volatile @Nullable DirtyFileRecovery inherited;

    volatile boolean closing;
    private volatile boolean left;

    /**
     * @param kept where what outlives this process is stored, the volume's from here on; null: nothing does
     */
    VolumeContext(Place place, AdapterOptions options, AlluxioMount.Shared shared, @Nullable VolumeStateDir kept) {
        this.clock = shared.clock();
        this.invalidator = new KernelInvalidator(clock);
        this.retries = new RetryQueue(clock);
        this.options = options;
        this.store = place.store;
        this.idMapper = IdMapper.ofHost(clock);
        MemoryAccounting bytes = new MemoryAccounting(options.cacheBytes(), shared.cache());
        this.table =
                new InodeTable(place.rootPath, place.rootId, options.cacheEntries(), bytes, options.names(), clock);
        this.cachePolicy = options.cachePolicy(clock);
        this.attrDecoder =
                new AttrDecoder(idMapper, options.uid(), options.gid(), options.groupAccess(), options.umask(), bytes);
        this.metadata = new Metadata(store, table, cachePolicy, attrDecoder, invalidator);
        this.lengths = new MovedPaths(store, metadata);
        this.hot = new ListingPrefetcher(metadata);
        this.ahead = new ReaddirPrefetch(metadata, cachePolicy);
        this.readers = options.readers(store, place.cache, clock);
        this.lastKnown = new LastKnown(store, metadata, invalidator, readers, cachePolicy, options.staleNanos());
        Passthrough.Notes holdings = kept == null ? Passthrough.Notes.NONE : new StoredNotes(kept);
        this.passthrough = new Passthrough(readers.blocks(), readers.cache(), options.passthroughBytes(), holdings);
        this.pages = new PageCachePolicy(kept == null ? null : kept.pages());
        this.kept = kept;
        this.alluxio = new KnownAlluxio(store, kept, place.rootPath);
        Path lists = kept == null ? options.spoolFolder() : kept.path();
        this.spool = new SpoolFolder(lists, options.spoolBytes(), options.spoolFreeBytes(), kept != null, clock);
        this.journal = kept == null ? VolumeJournal.shared(lists, store.cluster()) : kept.journal();
        this.hidden = new SillyRenames(journal);
        this.creations = new CreationLog(journal);
        this.replacer = new FileReplacer(store, clock, retries, table, attrDecoder, new RenameLog(journal), hidden);
        NodeIdRemapLog nodes = kept == null ? null : kept.nodes();
        this.dirtyFiles =
                new DirtyFiles(store, metadata, attrDecoder, spool, committer(nodes), options.streamFrom(kept != null));
        this.orphans = new Orphans(this, kept != null);
        this.unfinished = new DirectoryRename.Notes(nodes, new DirectoryRenameLog(journal));
        this.directoryRename = new DirectoryRename(store, metadata, table, attrDecoder, invalidator, unfinished);
        this.change = new ClusterChange(this, alluxio, kept);
        listen();
    }

    private void listen() {
        table.pruneCandidates().whenThere(() -> invalidator.crowded(table));
        metadata.openUnseen(inode -> options.noOpen() || mayBeOpenUnseen(inode));
        dirtyFiles.readFrom(orphans::open);
        replacer.unfinished().whenResolved(this::askAgain);
        dirtyFiles.nameReservations().whenResolved(this::askAgain);
    }

    private Committer committer(@Nullable NodeIdRemapLog nodes) {
        NameReservations nameReservations = new NameReservations(store, creations, retries);
        StaleWorkerWrites late = new StaleWorkerWrites(clock, new StaleWriteLog(journal));
        Overwriter overwriter = options.overwrites() ? new Overwriter(store, metadata, table, nodes) : null;
        return new Committer(
                store, metadata, table, attrDecoder, nodes, hidden, replacer, nameReservations, late, overwriter);
    }

    /**
     * The path of Alluxio that is mounted, and the folder of the data cache, if there is one.
     *
     * @param rootId its file id
     */
    record Place(Store store, String rootPath, long rootId, CacheFolders.@Nullable Shared cache) {}

    /** See {@link AlluxioFileSystem#stateDir}. */
    VolumeStateDir stateDir() {
        if (kept == null) {
            throw new IllegalStateException("the volume was not opened for a persistent session");
        }
        return kept;
    }

    /** See {@link AlluxioFileSystem#resume}. */
    void resume(boolean goesOn) throws StoreException {
        VolumeStateDir folder = stateDir();
        change.inherit(folder, goesOn);
        folder.begin(goesOn);
        Path blockFolder = goesOn ? folder.blockFolder() : null;
        if (blockFolder != null) {
            readers.learned(blockFolder);
        }
        DirtyFileRecovery recovery =
                new DirtyFileRecovery(alluxio, metadata, table, attrDecoder, spool, folder.nodes());
        dirtyFiles.inheritStaleWrites();
        boolean unfinished = replacer.inherit();
        boolean waits = recovery.begin(goesOn, dirtyFiles) || unfinished;
        dirtyFiles.withheld().add(journal, table);
        if (waits && goesOn) {
            recoverBehind(recovery);
        } else {
            sillyRenameCleanup.settle(alluxio, goesOn);
            recovery.restore(dirtyFiles);
        }
        table.tell(new StoredNotes(folder));
        takenOver = goesOn;
    }

    /** There is a kernel now. What earlier processes hid and did not remove goes, unless it is open here. */
    void started(Kernel kernel) {
        invalidator.started(kernel);
        dirtyFiles.inheritStaleWrites(); // where nothing was resumed
        if (kernel.features().writebackCache()) {
            dirtyFiles.gatherWrites();
        }
        unchanging = kernel.features().readOnly() || cachePolicy.immutable();
        passthrough.started(
                kernel, unchanging, kept == null ? Set.of() : kept.passthrough().inherited());
        sillyRenameCleanup.begin(alluxio, takenOver);
        retries.start("hidden-files", sillyRenameCleanup::isInheritedRemoved);
        retries.start("interrupted-renames", directoryRename::isInheritedResolved);
        later(this::buryUnknown);
    }

    /** What is known of this path in Alluxio, if anything, is asked for again. */
    private void askAgain(String path) {
        Inode directory = knownDirectory(path);
        if (directory != null) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            invalidator.resolved(table, directory, table.names(directory).shown(name));
        }
    }

    /** What is known of the directory of a path in Alluxio; null: nothing. */
    private @Nullable Inode knownDirectory(String path) {
        Locations.Walk walk = metadata.locations().walkKnownAt(path.substring(0, path.lastIndexOf('/') + 1));
        Inode found = walk == null ? null : walk.found();
        return found != null && found.isDirectory() ? found : null;
    }

    /** Removes files without a name of an earlier process that the kernel does not know: it ended before, or while they were forgotten. */
    private void buryUnknown() {
        DirtyFileRecovery recovery = inherited;
        if (recovery != null) {
            recovery.showNameless(this::isBuried);
        }
    }

    /** Where the kernel cannot be asked, and where this fails, it stays until the kernel forgets it, or the mount ends. */
    private boolean isBuried(Inode inode) {
        if (invalidator.isKnown(inode.node())) {
            return false;
        }
        table.forget(inode.node(), Long.MAX_VALUE);
        inode.markOurs(); // nobody has it open
        buryIfClosed(inode);
        return true;
    }

    /** A recovery under way, and its end. */
    private record Recovering(DirtyFileRecovery recovery, RecoveryBarrier gate) {}

    /** Calls that come meanwhile and meet what is being recovered wait, with a limit. */
    private void recoverBehind(DirtyFileRecovery recovery) {
        AtomicBoolean broke = new AtomicBoolean();
        RecoveryBarrier gate = new RecoveryBarrier(() -> broke.get() || recovery.refused(), REFUSED, SLOW, clock);
        recovering = new Recovering(recovery, gate);
        inherited = recovery;
        retries.start("recovery", () -> {
            boolean recovered = attempted(recovery, broke);
            if (recovered) {
                recovering = null;
                gate.open();
                later(this::buryUnknown); // if there is a kernel already
            }
            return recovered;
        });
    }

    /** What nobody expected makes calls fail rather than wait. */
    private boolean attempted(DirtyFileRecovery recovery, AtomicBoolean broke) throws StoreException {
        boolean recovered;
        try {
            try {
                sillyRenameCleanup.settle(alluxio, true);
            } finally {
                recovered = recovery.tried(dirtyFiles);
            }
            return recovered;
        } catch (RuntimeException | Error e) {
            if (!broke.getAndSet(true)) {
                LOG.error(
                        "Until changed files of an earlier process are recovered, calls that need them fail with EIO");
            }
            throw e;
        }
    }

    /** False: it is not over, and this call may not wait for it. */
    private static boolean isFinished(Recovering recovery, Request request) throws StoreException {
        if (!recovery.gate.isOpen() && !request.mayWait()) {
            return false;
        }
        recovery.gate.pass();
        return true;
    }

    /** Is an earlier process's work being recovered? */
    boolean recovers() {
        return recovering != null;
    }

    /** Is it being recovered? */
    boolean recovers(Inode inode) {
        Recovering recovery = recovering;
        return recovery != null && recovery.recovery.concerns(inode.node());
    }

    /** True if files may be read from block files past the gateway: nothing is written here, or {@code consistency=immutable}. */
    boolean unchanging() {
        return unchanging;
    }

    /**
     * One more who changes the file; ends with {@link Inode#closed}.
     *
     * @throws StoreException ESTALE: the kernel reads the node by itself for those who have it open, which goes on (with {@code
     *     consistency=immutable}, or since an earlier process); its name leads to another node now, which the kernel finds when it
     *     looks the name up again
     */
    void startWriting(Inode inode) throws StoreException {
        synchronized (inode) {
            if (!passedThrough(inode)) {
                inode.opened(true);
                pages.changes(inode);
                return;
            }
        }
        throw turnAway(inode);
    }

    /** Does the kernel read the node by itself, or may it for those who opened it in an earlier process? */
    boolean passedThrough(Inode inode) {
        return passthrough.of(inode.node()) != null || passthrough.heldBefore(inode.node());
    }

    /** The failure of an open that does not go together with the passthrough of others. */
    StoreException turnAway(Inode inode) {
        table.split(inode, cachePolicy.nowNanos());
        return new StoreException(Errno.ESTALE, "Node " + inode.node() + " is read through its block file", null);
    }

    /** Are there nodes and handles of an earlier process? */
    boolean takenOver() {
        return takenOver;
    }

    /** Asks where block files are. Waits. */
    void learnBlocks(Inode inode) throws StoreException {
        Path folder = readers.learn(metadata.pathOf(inode));
        if (folder != null && kept != null) {
            kept.blockFolderIs(folder);
        }
    }

    /** Is there nothing here that the end of a handle of an earlier process could concern? */
    boolean knowsNothingOf(long node) {
        Recovering recovery = recovering;
        boolean recovers = recovery != null && recovery.recovery.concerns(node);
        return !recovers
                && table.get(node) == null
                && !dirtyFiles.has(node)
                && !dirtyFiles.withheld().concerns(node);
    }

    /** No handle can write any more: what was changed is committed, unless the file was deleted. Waits. */
    void lastWriterClosed(Inode inode) throws StoreException {
        dirtyFiles.lastWriterClosed(inode, mayBeOpenUnseen(inode));
        buryIfClosed(inode);
    }

    /** One less who changes the file, without a handle of an earlier process. Waits. */
    void stopWriting(Inode inode) throws StoreException {
        inode.closed(true);
        if (isLastWriter(inode)) {
            lastWriterClosed(inode);
        }
    }

    /** What programs of an earlier process wrote is uploaded at the end of their handles; what failed to be, by whoever comes next. */
    private boolean isLastWriter(Inode inode) {
        return inode.writers() == 0 && (!dirtyFiles.isInherited(inode) || dirtyFiles.hasFailed(inode));
    }

    /** As {@link #stopWriting}, after what the writer, or who replaces the file, wanted has failed with this, which is told. */
    void lastWriterFailed(Inode inode, StoreException failure) {
        try {
            if (isLastWriter(inode)) {
                lastWriterClosed(inode);
            }
        } catch (StoreException e) {
            failure.addSuppressed(e);
        }
    }

    /** A file that was deleted goes when nobody has it open and the kernel does not know it any more. */
    void buryIfClosed(Inode inode) {
        if (inode.unlinked()) {
            later(() -> {
                try {
                    buryIfForgotten(inode);
                } catch (StoreException e) {
                    LOG.warn("Remains of a deleted file cannot be removed yet: {}", e.getMessage());
                }
            });
        }
    }

    /** Removes what is left of a deleted file, unless somebody can still reach it. For {@link #later} alone. Waits. */
    void buryIfForgotten(Inode inode) throws StoreException {
        if (mayBeOpen(inode) || inode.isKnown()) {
            return;
        }
        dirtyFiles.discard(inode);
        orphans.release(inode);
        metadata.pathLocks().sharedUninterruptibly(inode, () -> {
            deleteHidden(inode);
            return inode;
        });
    }

    private void deleteHidden(Inode inode) throws StoreException {
        String path = table.path(inode);
        if (path != null && TempNames.is(table.lastName(inode))) {
            DirectoryTimes.Replacement unseen = metadata.times().replacing(knownDirectory(path));
            try {
                sillyRenameCleanup.delete(path, inode.fileId());
                unseen.removed();
            } finally {
                unseen.close();
            }
            hidden.forget(inode.node());
            table.detach(inode);
        }
    }

    /** Has somebody the file open, as far as can be told? */
    boolean mayBeOpen(Inode inode) {
        return inode.handles() > 0 || mayBeOpenUnseen(inode);
    }

    /** May there be handles of an earlier process that were not seen yet? Their end is told by the kernel's forgetting. */
    boolean mayBeOpenUnseen(Inode inode) {
        return takenOver && !inode.ours();
    }

    /** Does something that may wait, one after the other, on a thread of its own. */
    void later(Runnable work) {
        if (!later.isShutdown()) {
            later.execute(clock.background(work));
        }
    }

    /** {@link #close} leaves the dirty files as they are. */
    void leaveToNext() {
        left = true;
        invalidator.lastWords();
    }

    /**
     * Commits what can be committed, unless it is left to the next process. Waits as long as Alluxio answers, and about a minute more:
     * what it does not take stays on this host's disk, and the log says where.
     */
    @Override
    public void close() {
        closing = true;
        store.shuttingDown();
        later.shutdown();
        Recovering recovery = recovering;
        boolean ended = false;
        try {
            ended = retries.close(left && recovery == null ? 0 : FINISH.toNanos());
            if (recovery != null && !(ended && recovery.gate.isOpen())) {
                LOG.warn("The next process will continue to recover changed files");
                recovering = null;
                recovery.gate.open();
            }
            if (!later.awaitTermination(FINISH.toSeconds(), TimeUnit.SECONDS)) {
                later.getQueue().clear(); // an interrupt would close the spool file of what is being committed
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Shutdown shutdown = new Shutdown(this, kept);
        if (left) {
            shutdown.leave();
        } else {
            shutdown.end(alluxio, ended);
        }
    }

    /** The node; null: answer {@link #absent}. */
    @Nullable
    Inode find(Request request, long node) throws StoreException {
        Inode inode = findToLook(request, node);
        Recovering recovery = recovering;
        boolean names = inode != null && inode.isDirectory();
        return recovery == null || !names || isFinished(recovery, request) ? inode : null;
    }

    /** The same for a call that changes no name: what is being recovered in a directory it meets only where it finds it. */
    @Nullable
    Inode findToLook(Request request, long node) throws StoreException {
        Recovering recovery = recovering;
        if (recovery != null && recovery.recovery.concerns(node) && !isFinished(recovery, request)) {
            return null;
        }
        checkOwn(node);
        Inode inode = table.get(node);
        if (inode != null || !request.mayWait()) {
            return inode;
        }
        return recover(node);
    }

    /**
     * Before a node that the kernel names is used.
     *
     * @throws StoreException EIO: what was written to it is withheld; ESTALE: its file is of another Alluxio
     */
    void checkOwn(long node) throws StoreException {
        if (table.ids().isForeign(node)) {
            dirtyFiles.withheld().check(node, false);
            change.check(node);
        }
    }

    @Nullable
    Inode recover(long node) throws StoreException {
        Inode recovered = metadata.locations().recover(node);
        if (recovered != null && takenOver && TempNames.is(table.lastName(recovered))) {
            recovered.markUnlinked();
        }
        return recovered;
    }

    /** The answer where {@link #find} found nothing. */
    static int absent(Request request) {
        return request.mayWait() ? -Errno.ESTALE : FileSystem.WOULD_WAIT;
    }

    /** Shows a node's attributes as they are on this mount; 0 or WOULD_WAIT. */
    int show(Request request, Inode inode, Attributes attributes) throws StoreException {
        Recovering recovery = recovering;
        if (recovery != null && recovery.recovery.concerns(inode.node()) && !isFinished(recovery, request)) {
            return FileSystem.WOULD_WAIT;
        }
        DirtyFiles.State dirty = dirtyFiles.show(inode, attributes);
        CachePolicy own = cachePolicy.of(inode);
        if (dirty != DirtyFiles.State.NONE) {
            boolean stays = dirty == DirtyFiles.State.IDLE;
            attributes.validNanos = stays ? Math.max(0, own.leftNanos(cachePolicy.nowNanos())) : 0;
        } else {
            Attr known = inode.areTimesOld() ? null : metadata.known(inode);
            Attr attr = known == null ? lastKnown.attr(request, inode) : invalidator.shown(inode, known);
            if (attr == null) {
                return FileSystem.WOULD_WAIT;
            }
            attr.show(inode.number(), attributes);
            attributes.validNanos = inode.areTimesOld() ? 0 : Math.max(0, own.leftNanos(attr.fetchedNanos()));
        }
        if (inode.unlinked()) {
            attributes.links = 0;
        }
        return 0;
    }

    /** Answers with an entry, which counts as a lookup; 0 or WOULD_WAIT. */
    int enter(Request request, Inode inode, Entry entry) throws StoreException {
        int shown = show(request, inode, entry.attributes);
        if (shown == 0) {
            entry.node = inode.node();
            entry.validNanos = entry.attributes.validNanos;
            table.lookedUp(inode);
        }
        return shown;
    }
}

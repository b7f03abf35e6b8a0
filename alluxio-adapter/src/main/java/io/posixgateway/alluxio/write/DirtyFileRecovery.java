package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.KnownAlluxio;
import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the dirty files of an earlier process again, before the first request that could meet one. For one thread, after
 * {@link #begin} perhaps another.
 *
 * <p>While the kernel knows the nodes, an open dirty file goes on as one. A file that the earlier process was making stands
 * incomplete in Alluxio under its name. Committing replaces it in one step, as it replaces any file, and the node stays what the
 * kernel knows. If the earlier process died while it committed, committing again does no harm. Who closes a file while nobody
 * serves is heard by the next process: the kernel keeps the requests.
 *
 * <p>Without that kernel the writers are gone, and {@link Returned} says what of their dirty files still counts.
 */
public final class DirtyFileRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(DirtyFileRecovery.class);

    /** So often one is tried while others go on: about 5 s, not as long as calls wait. */
    private static final int MAX_TRIES = 5;

    /** The same where its mount waits for it: once more is enough to tell a lost answer from one that never comes. */
    private static final int MAX_TRIES_AT_MOUNT = 3;

    private final Store store;
    private final InodeTable table;
    private final SpoolFolder folder;
    private final NodeIdRemapLog nodes;
    private final KnownAlluxio alluxio;
    private final DirtyFileRestorer restorer;
    /** Records not yet restored. */
    private final Deque<Path> left = new ArrayDeque<>();
    /** Nodes with a dirty file that is, or was, to be restored. Written by begin only. */
    private final Set<Long> dirty = new HashSet<>();

    /** Restored ones without a name, which somebody may have open. Any thread. */
    private final Queue<Inode> nameless = new ConcurrentLinkedQueue<>();

    /** How often each record failed. */
    private final Map<Path, Integer> tries = new HashMap<>();

    private int restored;
    private volatile boolean refused;

    public DirtyFileRecovery(
            KnownAlluxio alluxio,
            Metadata metadata,
            InodeTable table,
            AttrDecoder reader,
            SpoolFolder folder,
            NodeIdRemapLog nodes) {
        this.alluxio = alluxio;
        this.store = alluxio.store();
        this.table = table;
        this.folder = folder;
        this.nodes = nodes;
        this.restorer = new DirtyFileRestorer(store, metadata, table, reader, folder, nodes);
    }

    /**
     * Restores nodes, without asking Alluxio.
     *
     * @param kernelGoesOn the kernel still knows the nodes; if not, what still counts is committed and all is forgotten
     * @return are there dirty files to {@link #restore}?
     */
    public boolean begin(boolean kernelGoesOn, DirtyFiles dirtyFiles) throws StoreException {
        restorer.goesOn = kernelGoesOn;
        if (kernelGoesOn) {
            nodes.inherited().forEach((node, fileId) -> table.restore(node, fileId, false));
            nodes.inheritedDirectories().forEach((node, fileId) -> table.restore(node, fileId, true));
        }
        for (Path file : folder.records()) {
            try {
                begin(file, dirtyFiles);
            } catch (StoreException | RuntimeException e) {
                keep(file, dirtyFiles, e);
            }
        }
        return !left.isEmpty();
    }

    private void begin(Path file, DirtyFiles dirtyFiles) throws StoreException {
        DirtyFileRecord record = DirtyFileRecord.read(file);
        if (record != null && (record.isMarked(Phase.UNSTABLE) || record.isOverwriting())) {
            dirtyFiles.recommits().inherit(record);
        }
        if (record != null && restorer.isOnlyUnstable(record)) {
            left.addLast(file);
            return;
        }
        left.addFirst(file);
        if (restorer.goesOn && record != null && !record.isMarked(Phase.PENDING)) {
            dirty.add(record.content().node());
            table.restore(record.content().node(), record.content().fileId(), false);
        }
    }

    /** One that cannot be gone on with: no other waits for it, and nothing of it is lost. */
    private void keep(Path file, DirtyFiles dirtyFiles, Exception failure) {
        String why = String.valueOf(failure.getMessage());
        if (restorer.goesOn && isReserving(file)) {
            LOG.error("A name stays in use in Alluxio until the next process finds {}: {}", file, why);
            return;
        }
        if (restorer.goesOn && !isUnborn(file)) {
            DirtyFileRecord.Ids ids = DirtyFileRecord.ids(file);
            if (ids != null) {
                table.restore(ids.node(), nodes.inherited().getOrDefault(ids.node(), ids.fileId()), false);
            }
            dirtyFiles.withheld().add(ids == null ? 0 : ids.node(), file, why);
            return;
        }
        try {
            if (isUnborn(file)) {
                folder.remove(file);
            } else {
                folder.setAside(file, "", why);
            }
        } catch (StoreException e) {
            LOG.error("{} stays where it is, because {}: {}", file, why, e.getMessage());
        }
    }

    /** Has nobody heard of the file, so that nobody has it open? */
    private static boolean isReserving(Path file) {
        try {
            DirtyFileRecord record = DirtyFileRecord.read(file);
            return record != null && record.isMarked(Phase.PENDING);
        } catch (StoreException e) {
            return false;
        }
    }

    /** Was its process killed, or its disk full, while it made the record, before there was anything to write down? */
    private static boolean isUnborn(Path file) {
        return DirtyFileRecord.ids(file) == null && DirtyFileRecord.isShort(file) && !SpoolFolder.hasContent(file);
    }

    /** Is there something to restore of this node? Any thread, after {@link #begin}. */
    public boolean concerns(long node) {
        return dirty.contains(node);
    }

    /** Did Alluxio fail to answer, not only answer slowly? Any thread. */
    public boolean refused() {
        return refused;
    }

    /** As {@link #restore}; false: Alluxio does not answer. */
    public boolean tried(DirtyFiles dirtyFiles) {
        try {
            restore(dirtyFiles);
            return true;
        } catch (StoreException e) {
            if (e.isSilence()) {
                LOG.debug("Changed files of an earlier process still wait for Alluxio: {}", e.getMessage());
            } else if (!refused) {
                refused = true;
                LOG.warn("Changed files of an earlier process wait for Alluxio: {}", e.getMessage());
            }
            return false;
        }
    }

    /**
     * Restores the dirty files. Waits.
     *
     * <p>Each is restored on its own: one that fails stops no other.
     *
     * @throws StoreException Alluxio does not answer: nothing is lost, go on by calling this again. Or the disk does not let what does
     *     not count be set aside: nobody may be served, as the next process would take it for content of an open file
     */
    public void restore(DirtyFiles dirtyFiles) throws StoreException {
        StoreException unanswered = restoreLeft(dirtyFiles);
        if (unanswered != null) {
            throw unanswered;
        }
        if (restored > 0) {
            LOG.info("{} changed files of an earlier process are recovered", restored);
        }
        if (!restorer.goesOn) {
            folder.checkMoved();
            nodes.clear();
            alluxio.record(true);
        }
    }

    /** Null: nothing is left; else why something is. */
    private @Nullable StoreException restoreLeft(DirtyFiles dirtyFiles) throws StoreException {
        String foreign = left.isEmpty() ? null : alluxio.difference();
        StoreException unanswered = null;
        Deque<Path> again = new ArrayDeque<>();
        for (Path file = left.poll(); file != null; file = left.poll()) {
            try {
                if (foreign != null) {
                    throw new StoreException(Errno.ESTALE, foreign, null);
                }
                restore(file, dirtyFiles);
            } catch (StoreException e) {
                if (!e.isOutcomeUnknown() || isFailing(file)) {
                    keep(file, dirtyFiles, e);
                } else if (!restorer.goesOn && isAnswering()) {
                    left.addLast(file);
                } else {
                    again.add(file);
                    unanswered = e;
                }
            } catch (RuntimeException e) {
                LOG.error("Recovering {} failed unexpectedly", file, e);
                if (isFailing(file)) {
                    keep(file, dirtyFiles, e);
                } else {
                    again.add(file);
                    unanswered = new StoreException(Errno.EIO, "Recovering " + file + " failed: " + e, e);
                }
            }
        }
        left.addAll(again);
        return unanswered;
    }

    private void restore(Path file, DirtyFiles dirtyFiles) throws StoreException {
        DirtyFile dirtyFile = restorer.dirtyFile(file, dirtyFiles);
        if (dirtyFile != null) {
            dirtyFiles.adopt(dirtyFile);
            dirtyFiles.recommits().watch();
            restored++;
            finish(dirtyFiles, dirtyFile);
        }
    }

    /** Has it failed again and again, though Alluxio answers? */
    private boolean isFailing(Path file) {
        return tries.merge(file, 1, Integer::sum) >= (restorer.goesOn ? MAX_TRIES : MAX_TRIES_AT_MOUNT)
                && isAnswering();
    }

    private boolean isAnswering() {
        try {
            store.status(String.valueOf(table.path(table.root())));
            return true;
        } catch (StoreException e) {
            return false;
        }
    }

    /**
     * Shows the restored files without a name, until the test says that one needs to be shown no more. Any thread; one that is
     * restored meanwhile may be missing.
     */
    public void showNameless(Predicate<Inode> isDone) {
        nameless.removeIf(isDone);
    }

    private void finish(DirtyFiles dirtyFiles, DirtyFile dirtyFile) {
        try {
            boolean closed = !restorer.goesOn || dirtyFile.record.isUnopened();
            if (closed && dirtyFile.inode.unlinked()) {
                dirtyFiles.discard(dirtyFile.inode);
            } else if (closed) {
                dirtyFiles.lastWriterClosed(dirtyFile.inode, false);
            } else if (dirtyFile.inode.unlinked()) {
                nameless.add(dirtyFile.inode);
            } else if (dirtyFile.record.isOverwriting()) {
                dirtyFiles.commit(dirtyFile.inode, true);
            }
        } catch (StoreException e) {
            LOG.error("A changed file of an earlier process could not be uploaded: {}", e.getMessage());
        }
    }
}

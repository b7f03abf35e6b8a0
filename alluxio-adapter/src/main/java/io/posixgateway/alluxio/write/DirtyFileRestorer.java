package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes one dirty file of an earlier process again, from its record, or what comes in its place. For {@link DirtyFileRecovery}; waits. */
final class DirtyFileRestorer {
    private static final Logger LOG = LoggerFactory.getLogger(DirtyFileRestorer.class);

    private final Store store;
    private final Metadata metadata;
    private final InodeTable table;
    private final AttrDecoder reader;
    private final SpoolFolder folder;
    private final NodeIdRemapLog nodes;
    private final Returned returned;
    /** The kernel still knows the nodes. */
    boolean goesOn;

    DirtyFileRestorer(
            Store store,
            Metadata metadata,
            InodeTable table,
            AttrDecoder reader,
            SpoolFolder folder,
            NodeIdRemapLog nodes) {
        this.store = store;
        this.metadata = metadata;
        this.table = table;
        this.reader = reader;
        this.folder = folder;
        this.nodes = nodes;
        this.returned = new Returned(store, nodes);
    }

    /** Was it committed, and closed since, but is not safe yet? Those come after all dirty files, which are newer. */
    boolean isOnlyUnstable(DirtyFileRecord record) {
        return record.isUnstable() && !record.hasAttributes() && (!goesOn || record.isUnopened());
    }

    /** Null: there is nothing to go on with. Whoever asked for a name that was being taken asks again. */
    @Nullable
    DirtyFile dirtyFile(Path file, DirtyFiles dirtyFiles) throws StoreException {
        DirtyFileRecord record = DirtyFileRecord.read(file);
        Path spool = SpoolFolder.spoolOf(file);
        checkIsThere(record, spool);
        if (record == null || record.isMarked(Phase.PENDING) || !Files.exists(spool)) {
            undo(record, spool);
            folder.remove(file);
            return null;
        }
        String why = goesOn ? null : returned.refusal(record, spool);
        if (why != null) {
            giveUp(record, file, why, dirtyFiles);
            return null;
        }
        if (isOnlyUnstable(record)) {
            adopt(dirtyFiles, record, spool);
            return null;
        }
        Inode inode = inode(record);
        boolean gone = record.isUnstable() && where(inode.fileId()) == null;
        Spool content = folder.open(spool);
        FileStatus status = record.content().status().withContent(inode.fileId(), content.lengthBytes());
        Attr attr = reader.read(status, metadata.nowNanos());
        DirtyState state = state(record, content, gone);
        if (state == DirtyState.Spooled.INCOMPLETE && isGivenUp(record, inode)) {
            state = DirtyState.Spooled.HERE_ONLY;
        }
        DirtyFile dirtyFile = new DirtyFile(inode, content, record, attr, metadata.clock(), state);
        dirtyFile.restore();
        return dirtyFile;
    }

    /** Was the name of a new file given up, and has nobody taken it? It has its name here, so that a rename over it finds it. */
    private boolean isGivenUp(DirtyFileRecord record, Inode inode) throws StoreException {
        String path = record.content().path();
        boolean isFree = where(inode.fileId()) == null && returned.at(path) == null;
        if (isFree) {
            metadata.locations().settleUnknown(inode, path);
        }
        return isFree;
    }

    private static DirtyState state(DirtyFileRecord record, Spool content, boolean gone) {
        String path = record.content().path();
        return switch (record.phase(content.lengthBytes() > 0)) {
            case LOST -> new DirtyState.Lost(StreamingUploads.left(path));
            case UNLINKED -> DirtyState.Plain.UNLINKED;
            case UNSTABLE -> new DirtyState.Unstable(path, gone);
            case COMMITTED -> DirtyState.Plain.COMMITTED;
            default -> isMadeHere(record) ? DirtyState.Spooled.INCOMPLETE : DirtyState.Spooled.CHANGED;
        };
    }

    /** Is it a new file, never uploaded, so that what stands in Alluxio as it is the incomplete file that was made for it? */
    private static boolean isMadeHere(DirtyFileRecord record) {
        Origin origin = record.origin();
        return origin != null
                && origin.lengthBytes() == Origin.NEW
                && origin.fileId() == record.content().fileId();
    }

    /** The same, as far as the record of an earlier version says it. */
    private static boolean mayBeIncomplete(DirtyFileRecord record) {
        boolean spooled = record.isMarked(Phase.SPOOLED) && record.content().fileId() != 0;
        return spooled && (record.origin() == null || isMadeHere(record));
    }

    /** Was there content that is nowhere else, and that its end does not remove before the record? */
    private void checkIsThere(@Nullable DirtyFileRecord record, Path spool) throws StoreException {
        if (goesOn && record != null && record.phase(false) == Phase.SPOOLED && Files.notExists(spool)) {
            throw new StoreException(Errno.ENODATA, "its spool file " + spool + " is gone", null);
        }
    }

    private void undo(@Nullable DirtyFileRecord record, Path spool) throws StoreException {
        if (record != null && record.isMarked(Phase.PENDING)) {
            DirtyFileRecord.Content content = record.content();
            NameReservations.undo(store, PendingCreate.creation(spool, content));
        }
    }

    /** Its writer is gone, and it does not count: where it holds content, that is set aside. */
    private void giveUp(DirtyFileRecord record, Path file, String why, DirtyFiles dirtyFiles) throws StoreException {
        String path = record.content().path();
        if (mayBeIncomplete(record)) {
            dirtyFiles.nameReservations().remove(path, record.content().fileId(), false);
        }
        if (why.equals(Returned.NOTHING)) {
            folder.remove(file);
        } else if (SpoolFolder.hasContent(file)) {
            folder.setAside(file, path, why);
        } else {
            LOG.warn("{} is unchanged in Alluxio, because {}; this host has nothing of its change", path, why);
            folder.remove(file);
        }
    }

    private void adopt(DirtyFiles dirtyFiles, DirtyFileRecord record, Path spool) throws StoreException {
        if (goesOn) {
            withdraw(record.content());
        }
        record.unopened();
        dirtyFiles.recommits().keep(folder.open(spool), record);
    }

    /** Where a later commit of the node was announced, but did not replace the file, the node is still that file. */
    private void withdraw(DirtyFileRecord.Content committed) throws StoreException {
        Inode known = table.get(committed.node());
        if (known != null && known.fileId() != committed.fileId()) {
            String path = returned.where(committed.fileId());
            if (path != null && !TempNames.isOf(path)) {
                table.replaced(known, committed.fileId(), metadata.nowNanos());
                nodes.moved(known.node(), known.fileId());
            }
        }
    }

    private Inode inode(DirtyFileRecord record) throws StoreException {
        DirtyFileRecord.Content content = record.content();
        // A commit since then made another file of it, of which the record does not know.
        long fileId = nodes.inherited().getOrDefault(content.node(), content.fileId());
        Inode inode = table.restore(content.node(), fileId, false);
        String path = where(inode.fileId());
        if (path == null && inode.fileId() != content.fileId()) {
            path = where(content.fileId());
            if (path != null) {
                table.replaced(inode, content.fileId(), metadata.nowNanos());
                nodes.moved(inode.node(), inode.fileId());
            }
        }
        if (record.isMarked(Phase.UNLINKED) && (path == null || isAnother(record.origin(), inode.fileId(), path))) {
            inode.markUnlinked();
        } else if (path == null) {
            LOG.warn("{} is gone from Alluxio; its changed content will be uploaded there", content.path());
            table.loose(inode, content.path());
        } else {
            checkSame(record.origin(), inode.fileId(), path);
            keepName(record, path);
            metadata.locations().settle(inode, path);
        }
        return inode;
    }

    /**
     * That its name is taken away is noted before Alluxio is asked for that. Where the process ended in between, the file has its name,
     * and keeps it unless the kernel sends that request again: older kernels do not, and this time it may fail.
     */
    private static void keepName(DirtyFileRecord record, String path) throws StoreException {
        if (record.isMarked(Phase.UNLINKED)) {
            LOG.info("{} was about to lose its name when an earlier process ended, and still has it", path);
            record.unmark(Phase.UNLINKED);
        }
    }

    private void checkSame(@Nullable Origin origin, long fileId, String path) throws StoreException {
        if (isAnother(origin, fileId, path)) {
            throw new StoreException(Errno.ESTALE, "another file, " + path + ", now has its id in Alluxio", null);
        }
    }

    /** An id may be that of another file since Alluxio was restored from a backup. */
    private boolean isAnother(@Nullable Origin origin, long fileId, String path) throws StoreException {
        if (origin == null || origin.fileId() != fileId) {
            return false;
        }
        FileStatus now = returned.at(path);
        return now != null && now.id() == fileId && !Returned.isSame(origin, now);
    }

    /**
     * Where the file of this id is; null: nowhere, or at a hidden name: a commit left it that did not come to its end, and it
     * is on the list of those that go; or another mount hides it, for those who have it open there.
     */
    private @Nullable String where(long fileId) throws StoreException {
        String path = returned.where(fileId);
        return path == null || TempNames.isOf(path) ? null : path;
    }
}

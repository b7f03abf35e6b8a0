package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.journal.RenameLog;
import io.posixgateway.alluxio.journal.SillyRenames;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.AttributeEdit;
import io.posixgateway.alluxio.meta.DirectoryTimes;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.meta.PathLocks;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.alluxio.write.DirtyFile.Unsent;
import io.posixgateway.fuse.spi.Errno;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a dirty file into Alluxio. Called under the dirty file's lock, while no directory above it moves; waits.
 *
 * <p>A new file is written under its own name, which is taken since its creation; when that fails the name is given up, as an
 * incomplete file would be in everyone's way, and the next attempt goes as for a file that exists. The content of a file that exists is
 * written to a hidden file beside it, which then replaces it in one step of Alluxio's master: readers see the old content or
 * the new, never none, and a failure leaves the old one whole.
 */
public final class Committer {
    private static final Logger LOG = LoggerFactory.getLogger(Committer.class);
    private static final int MAX_MOVES = 6;
    /** Whose name was taken within this time before is not asked for again: a small file takes two calls to the master. */
    private static final long SURELY_OURS_NANOS = 100_000_000L;

    private final Store store;
    private final Metadata metadata;
    private final InodeTable table;
    private final AttrDecoder reader;
    private final @Nullable NodeIdRemapLog nodes;
    private final SillyRenames sillyRenames;
    final FileReplacer replacer;
    final NameReservations nameReservations;
    /** Where what is committed is not safe at once. */
    final StaleWorkerWrites late;

    private final AbandonedCreates incomplete;
    private final Pauses pauses;
    final AttributeCommits attributes;
    private final @Nullable Overwriter overwriter;

    /**
     * @param nodes hears of new file ids, for the next process; null: there will be none
     * @param overwriter null: files are replaced by renames alone
     */
    public Committer(
            Store store,
            Metadata metadata,
            InodeTable table,
            AttrDecoder reader,
            @Nullable NodeIdRemapLog nodes,
            SillyRenames sillyRenames,
            FileReplacer replacer,
            NameReservations nameReservations,
            StaleWorkerWrites late,
            @Nullable Overwriter overwriter) {
        this.store = store;
        this.metadata = metadata;
        this.table = table;
        this.reader = reader;
        this.nodes = nodes;
        this.sillyRenames = sillyRenames;
        this.replacer = replacer;
        this.nameReservations = nameReservations;
        this.late = late;
        this.overwriter = overwriter;
        this.incomplete = new AbandonedCreates(store, metadata.clock());
        this.pauses = new Pauses(metadata.clock());
        this.attributes = new AttributeCommits(store, metadata, table, reader);
    }

    /** @throws StoreException ESTALE: the file is one of another Alluxio than the one that answers */
    private void checkOwn(DirtyFile dirtyFile) throws StoreException {
        if (table.ids().isForeign(dirtyFile.inode.node())) {
            throw new StoreException(
                    Errno.ESTALE, dirtyFile.record.content().path() + " is a file of another Alluxio cluster", null);
        }
    }

    /**
     * Commits it. Where a worker does not answer it is tried again, through another one if there is one, for a while after the
     * first failure, however long that took; not for a dirty file whose last commit failed, since somebody has been told already.
     */
    void commit(DirtyFile dirtyFile, Waiter waiter) throws StoreException {
        long failedNanos = 0;
        int waits = 0;
        for (int moves = 0; ; ) {
            Attempt attempt = new Attempt(placeOf(dirtyFile), waiter);
            checkOwn(dirtyFile);
            try {
                commitThere(dirtyFile, attempt);
                return;
            } catch (StoreException e) {
                boolean elsewhere = !attempt.unfinished && isElsewhere(dirtyFile.inode, attempt.path, e);
                attempt.undo.run(elsewhere);
                failedNanos = waits == 0 ? metadata.nowNanos() : failedNanos;
                boolean again = (elsewhere || attempt.taken)
                        ? moves++ < MAX_MOVES
                        : e.isUnanswered() && !dirtyFile.failed && pauses.await(failedNanos, waits++);
                if (!again) {
                    throw e;
                }
                LOG.info("Retrying an upload: {}", e.getMessage());
            }
        }
    }

    /**
     * Where the file is. One that exists others may have renamed, or a directory above it, or given other attributes, while it was
     * written: one call. That a new one was, its completion finds out; and one that is hidden, since another mount removed it, has its
     * name here.
     */
    private String placeOf(DirtyFile dirtyFile) throws StoreException {
        Inode inode = dirtyFile.inode;
        String known = metadata.pathOf(inode);
        if (!(dirtyFile.state() instanceof DirtyState.Spooled)
                && !isDue(dirtyFile)
                && !sendsOnlyAttributes(dirtyFile)) {
            return known;
        }
        try {
            FileStatus there = Existing.orNull(() -> store.status(known));
            if (there != null && there.id() == inode.fileId()) {
                attributes.merge(dirtyFile, there);
                return known;
            }
            String now = store.pathOf(inode.fileId());
            if (now.equals(known) || TempNames.isOf(now)) {
                return known;
            }
            attributes.merge(dirtyFile, metadata.refresh(inode).raw());
        } catch (StoreException e) { // it is gone, or Alluxio does not answer; its replacement will find out
            if (e.errno() == Errno.ETIMEDOUT || e.errno() == Errno.EINTR) {
                throw e;
            }
            LOG.debug("The current path of {} is unknown: {}", known, e.getMessage());
        }
        return metadata.pathOf(inode);
    }

    private static boolean sendsOnlyAttributes(DirtyFile dirtyFile) {
        return dirtyFile.is(Phase.COMMITTED) && dirtyFile.unsent == Unsent.ALL;
    }

    /** From now on what fails is not tried again: the process ends, or the mount does. */
    void stopRetrying() {
        pauses.stopRetrying();
        replacer.stopRetrying();
    }

    /** One commit. */
    private static final class Attempt {
        private final String path;
        private final Waiter waiter;
        private Undo undo = moved -> {};
        /** Another client's file is there, or none: the content is to replace that, or to be there again, as the last to close wins. */
        private boolean taken;
        /** What was written lies beside, and is about to take the name. */
        private boolean unfinished;

        private Attempt(String path, Waiter waiter) {
            this.path = path;
            this.waiter = waiter;
        }
    }

    /** Removes what a failed attempt left. */
    private interface Undo {
        /** @param moved the directory is elsewhere by now */
        void run(boolean moved);
    }

    /**
     * Did this fail because another client renamed the file, or a directory above it? The master finds nothing at the path, or
     * a worker no directory in the under file system. Asks where the file is by now.
     */
    private boolean isElsewhere(Inode inode, String path, StoreException failure) {
        if (failure.errno() != Errno.EIO && failure.errno() != Errno.ENOENT) {
            return false;
        }
        try {
            metadata.refresh(inode);
            return !path.equals(metadata.pathOf(inode));
        } catch (StoreException e) {
            return false;
        }
    }

    /** Nor does a directory move, if that can be had, above where the file is by now, which the caller did not know. */
    private void commitThere(DirtyFile dirtyFile, Attempt attempt) throws StoreException {
        PathLocks.Work<Attempt> work = () -> {
            commitHere(dirtyFile, attempt);
            return attempt;
        };
        if (!metadata.pathLocks().tryShared(dirtyFile.inode, work)) {
            work.run();
        }
    }

    private void commitHere(DirtyFile dirtyFile, Attempt attempt) throws StoreException {
        attributes.settleTime(dirtyFile);
        if (dirtyFile.is(Phase.SPOOLED) || isDue(dirtyFile)) {
            commitContent(dirtyFile, attempt);
        }
        if (!dirtyFile.isOvertaken()) {
            attributes.send(dirtyFile);
        }
        dirtyFile.inode.invalidateAttr(table.generation().changed());
    }

    /** Was it committed where a worker might undo it, which is done by now? Then it is committed once more. */
    private boolean isDue(DirtyFile dirtyFile) {
        return dirtyFile.state() instanceof DirtyState.Unstable unstable
                && !unstable.isOvertaken()
                && !late.concern(unstable.path());
    }

    /** Where that fails, a new file has its name no more. */
    private void commitContent(DirtyFile dirtyFile, Attempt attempt) throws StoreException {
        DirtyState before = dirtyFile.state();
        dirtyFile.become(new DirtyState.Committing(before));
        try {
            if (before instanceof DirtyState.Created created && created.sink().isAt(attempt.path)) {
                complete(dirtyFile, created, attempt);
            } else if (before instanceof DirtyState.Unstable unstable && isReplaced(dirtyFile.inode, attempt.path)) {
                LOG.info("{} has new content, and is not uploaded again", attempt.path);
                dirtyFile.become(new DirtyState.Unstable(unstable.path(), true));
            } else if (before != DirtyState.Spooled.CHANGED || !isOverwritten(dirtyFile, attempt)) {
                replace(dirtyFile, attempt, before instanceof DirtyState.Unstable);
            }
        } finally {
            if (dirtyFile.is(Phase.COMMITTING)) {
                dirtyFile.become(before instanceof DirtyState.Created ? DirtyState.Spooled.INCOMPLETE : before);
            }
        }
    }

    private void complete(DirtyFile dirtyFile, DirtyState.Created created, Attempt attempt) throws StoreException {
        StoreWriter sink = created.sink();
        try {
            checkOurs(dirtyFile, created, attempt);
            attributes.sendBefore(dirtyFile, attempt.path);
            dirtyFile.spool.copyTo(sink, true, attempt.waiter);
            sink.complete();
        } catch (StoreException e) {
            sink.cancel();
            late.note(dirtyFile, attempt.path, sink);
            attempt.undo = moved -> {
                if (!moved) {
                    attempt.taken |= isTakenByOther(dirtyFile, attempt.path);
                }
            };
            throw e;
        }
        committed(dirtyFile, attempt.path, sink.fileId(), madeSeconds(sink), sink.blockBytes());
    }

    /** Gives its name up, so that others can use it: is the file of another client there? */
    private boolean isTakenByOther(DirtyFile dirtyFile, String path) {
        try {
            return giveUpName(dirtyFile, path, true);
        } catch (StoreException e) {
            LOG.info("A file of a failed upload cannot be removed yet: {}", e.getMessage());
            dirtyFile.become(DirtyState.Spooled.HERE_ONLY);
            return false;
        }
    }

    /** Removes the incomplete file of a new one. Returns whether another file is there. */
    private boolean giveUpName(DirtyFile dirtyFile, String path, boolean uploaded) throws StoreException {
        boolean taken =
                AbandonedCreates.remove(store, path, dirtyFile.attr.raw().id(), uploaded);
        dirtyFile.become(taken ? DirtyState.Spooled.CHANGED : DirtyState.Spooled.HERE_ONLY);
        return taken;
    }

    /**
     * Before a new file's name is taken by another one in more than one step: a master killed in between would have the incomplete file in
     * the place of that one, of which the store alone knows. 0.
     */
    int giveUpName(DirtyFile dirtyFile) throws StoreException {
        boolean uploaded = true;
        if (dirtyFile.state() instanceof DirtyState.Created created) {
            created.sink().cancel();
            dirtyFile.become(DirtyState.Spooled.INCOMPLETE);
            uploaded = false;
        }
        if (dirtyFile.isIncomplete()) {
            giveUpName(dirtyFile, metadata.pathOf(dirtyFile.inode), uploaded);
        }
        return 0;
    }

    /**
     * Before anything is written: a worker writes to the file's path in the under file system, where the file of another client
     * may be by now.
     */
    private void checkOurs(DirtyFile dirtyFile, DirtyState.Created created, Attempt attempt) throws StoreException {
        if (metadata.nowNanos() - created.sinceNanos() <= SURELY_OURS_NANOS) {
            return;
        }
        FileStatus there = incomplete.find(attempt.path, created.sink().fileId());
        if (there == null) {
            attempt.taken = true;
            throw new StoreException(Errno.EIO, attempt.path + " was replaced or removed by another client", null);
        }
        attributes.merge(dirtyFile, there);
    }

    /** The content is written over the file where it is; false: that is no way, and nothing is done. */
    private boolean isOverwritten(DirtyFile dirtyFile, Attempt attempt) throws StoreException {
        Overwriter way = overwriter;
        StoreWriter writer = way == null ? null : way.begin(dirtyFile, attempt.path);
        if (way == null || writer == null) {
            return false;
        }
        FileStatus raw = AttributeEdit.numbered(dirtyFile.attr.raw(), dirtyFile.inode.number());
        try {
            FileStatus there = way.overwrite(dirtyFile, writer, attempt.path, raw, attempt.waiter);
            dirtyFile.attr = reader.read(raw, dirtyFile.attr.fetchedNanos());
            dirtyFile.sent();
            committed(dirtyFile, attempt.path, there.id(), there.createdSeconds(), there.blockBytes());
            return true;
        } catch (StoreException e) {
            writer.cancel();
            late.note(dirtyFile, attempt.path, writer);
            throw e;
        }
    }

    /** @param again only what was committed before is to be replaced */
    private void replace(DirtyFile dirtyFile, Attempt attempt, boolean again) throws StoreException {
        Inode inode = dirtyFile.inode;
        long before = inode.fileId();
        String path = attempt.path;
        String hidden = hiddenBeside(path);
        FileStatus raw = AttributeEdit.numbered(AttributeEdit.ownedBy(dirtyFile.attr, store.user()), inode.number());
        sillyRenames.add(new SillyRenames.Hidden(hidden, 0, 0));
        StoreWriter sink;
        try (DirectoryTimes.Replacement replacement = metadata.times().replacing(table.parent(inode))) {
            sink = make(hidden, raw);
            replacement.made(sink.madeMillis());
            long fileId = putInPlace(dirtyFile, sink, attempt, hidden, again);
            sillyRenames.remove(hidden);
            table.replaced(inode, sink.fileId(), metadata.nowNanos());
            if (fileId != sink.fileId()) {
                table.adopt(inode, fileId, metadata.nowNanos());
            }
        }
        dirtyFile.attr = reader.read(raw, dirtyFile.attr.fetchedNanos());
        dirtyFile.sent();
        boolean made = inode.fileId() == sink.fileId();
        committed(dirtyFile, path, inode.fileId(), made ? madeSeconds(sink) : 0, made ? sink.blockBytes() : 0);
        if (again) {
            lookAfterwards(path, before);
        }
    }

    /** The id that the file has then: Alluxio may have it as another one than the sink made. */
    private long putInPlace(DirtyFile dirtyFile, StoreWriter sink, Attempt attempt, String hidden, boolean again)
            throws StoreException {
        Inode inode = dirtyFile.inode;
        try {
            dirtyFile.spool.copyTo(sink, true, attempt.waiter);
            sink.complete();
            announce(inode, sink.fileId());
            attempt.taken = again && isReplaced(inode, attempt.path);
            if (attempt.taken) {
                throw new StoreException(Errno.ESTALE, attempt.path + " has new content in Alluxio", null);
            }
            checkOwn(dirtyFile);
            FileStatus status = dirtyFile.attr.raw().withContent(sink.fileId(), dirtyFile.spool.lengthBytes());
            Attr made = reader.read(status.created(madeSeconds(sink)), dirtyFile.attr.fetchedNanos());
            return replacer.replace(new RenameLog.Renaming(hidden, sink.fileId(), attempt.path), made, dirtyFile.attr);
        } catch (StoreException e) {
            sink.cancel();
            retract(inode, sink.fileId());
            attempt.unfinished = replacer.unfinished().has(hidden);
            if (attempt.unfinished) {
                throw e;
            }
            attempt.undo = moved -> noteRemoved(sink, hidden, moved ? removedMoved(sink) : deleteQuietly(hidden));
            throw e;
        }
    }

    private static String hiddenBeside(String path) {
        return path.substring(0, path.lastIndexOf('/') + 1) + TempNames.make();
    }

    private void noteRemoved(StoreWriter sink, String hidden, boolean removed) {
        if (removed) {
            sillyRenames.remove(hidden);
        } else { // by its id, as directories above it may be renamed meanwhile
            sillyRenames.add(new SillyRenames.Hidden(hidden, sink.fileId(), 0));
        }
    }

    /**
     * Gives the path a file with this content and these attributes, whatever is there by now.
     *
     * @param file as it was there
     */
    void restore(String path, FileStatus file, Spool content) throws StoreException {
        String hidden = hiddenBeside(path);
        long nowNanos = metadata.nowNanos();
        Attr before = reader.read(file, nowNanos);
        Instant written = Instant.ofEpochSecond(before.modifiedSeconds(), before.modifiedNanos());
        FileStatus raw = AttributeEdit.written(AttributeEdit.ownedBy(before, store.user()), written);
        sillyRenames.add(new SillyRenames.Hidden(hidden, 0, 0));
        StoreWriter sink = make(hidden, raw);
        try {
            content.copyTo(sink, true, Waiter.PATIENT);
            sink.complete();
            FileStatus made =
                    raw.withContent(sink.fileId(), content.lengthBytes()).created(madeSeconds(sink));
            replacer.replace(new RenameLog.Renaming(hidden, sink.fileId(), path), reader.read(made, nowNanos), null);
            sillyRenames.remove(hidden);
        } catch (StoreException e) {
            sink.cancel();
            if (!replacer.unfinished().has(hidden)) {
                noteRemoved(sink, hidden, deleteQuietly(hidden));
            }
            throw e;
        }
    }

    /**
     * Content of an earlier moment replaces only what it was committed as then. Has another client put its own file there since?
     *
     * @throws StoreException ESTALE: it is gone, or what is there no client made: a worker may have done that
     */
    private boolean isReplaced(Inode inode, String path) throws StoreException {
        FileStatus there = Existing.orNull(() -> store.status(path));
        if (there == null || (there.id() != inode.fileId() && RevivedNames.isLoaded(there))) {
            throw new StoreException(Errno.ESTALE, path + " is not in Alluxio any more as it was uploaded", null);
        }
        return there.id() != inode.fileId();
    }

    /** Was it that what was replaced? Another client may have renamed it between the two calls. */
    private void lookAfterwards(String path, long before) {
        try {
            String left = store.pathOf(before);
            LOG.error(
                    "{} replaced a file that another client created at the same moment; that file is now {}",
                    path,
                    left);
        } catch (StoreException e) {
            LOG.debug("The file that {} replaced is removed: {}", path, e.getMessage());
        }
    }

    private StoreWriter make(String hidden, FileStatus raw) throws StoreException {
        try {
            return store.create(hidden, raw.mode(), raw.xattrs(), UUID.randomUUID());
        } catch (StoreException e) {
            if (!e.isOutcomeUnknown()) {
                sillyRenames.remove(hidden);
            }
            throw e;
        }
    }

    /** Before others can find the new file at the node's name: it is the same node to this process and to the next. */
    private void announce(Inode inode, long fileId) throws StoreException {
        table.expect(inode, fileId);
        if (nodes != null) {
            nodes.moved(inode.node(), fileId);
        }
    }

    private void retract(Inode inode, long fileId) {
        table.expectNoMore(inode, fileId, metadata.nowNanos());
        try {
            if (nodes != null) {
                nodes.moved(inode.node(), inode.fileId());
            }
        } catch (StoreException e) {
            LOG.warn("{}", e.getMessage());
        }
    }

    private static int madeSeconds(StoreWriter sink) {
        return (int) (sink.madeMillis() / 1000);
    }

    private void committed(DirtyFile dirtyFile, String path, long fileId, int madeSeconds, long blockBytes) {
        dirtyFile.inode.wrote();
        late.committed(path, dirtyFile.inode);
        dirtyFile.become(late.concern(path) ? new DirtyState.Unstable(path, false) : DirtyState.Plain.COMMITTED);
        dirtyFile.isNow(
                new Origin(dirtyFile.inode.node(), fileId, path, dirtyFile.spool.lengthBytes(), 0, madeSeconds));
        FileStatus raw = dirtyFile.attr.raw().withContent(fileId, dirtyFile.spool.lengthBytes());
        dirtyFile.attr = reader.read(raw.cut(blockBytes), dirtyFile.attr.fetchedNanos());
    }

    /** Wherever it is by now. */
    private boolean removedMoved(StoreWriter sink) {
        try {
            String path = Existing.orNull(() -> store.pathOf(sink.fileId()));
            return path == null || deleteQuietly(path);
        } catch (StoreException e) {
            return false;
        }
    }

    private boolean deleteQuietly(String path) {
        try {
            store.delete(path);
            return true;
        } catch (StoreException e) {
            LOG.info("A file of a failed upload cannot be removed yet: {}", e.getMessage());
            return false;
        }
    }
}

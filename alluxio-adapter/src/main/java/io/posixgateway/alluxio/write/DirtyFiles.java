package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.AttributeEdit;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.meta.NodeIds;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import java.nio.ByteBuffer;

/**
 * The files being changed on this mount, by node. Any thread.
 *
 * <p>A dirty file begins with the creation of a file, or with the first change of an existing one, whose content is copied then;
 * it ends when the last handle that can write is closed. While it lives, everything that is read of the node comes from it.
 * What is asked with {@code mayWait} false returns {@link FileSystem#WOULD_WAIT} rather than wait for a commit.
 */
public final class DirtyFiles extends DirtyFileTable implements AutoCloseable {
    /** So often a file is copied that others replace each time. */
    private static final int MAX_TRIES = 4;

    private final Store store;
    private final Metadata metadata;
    private final AttrDecoder reader;
    private final SpoolFolder folder;
    private final Committer committer;
    private final StreamingUploads streams;
    private final NameReservations nameReservations;
    private final Commits commits;
    private final Originals originals;
    private final Withheld withheld;
    private volatile boolean gathersWrites;

    /** @param streamFromBytes so long a new file must be to need no spool; {@link Long#MAX_VALUE}: never */
    public DirtyFiles(
            Store store,
            Metadata metadata,
            AttrDecoder reader,
            SpoolFolder folder,
            Committer committer,
            long streamFromBytes) {
        this.store = store;
        this.metadata = metadata;
        this.reader = reader;
        this.folder = folder;
        this.committer = committer;
        this.withheld = new Withheld(folder);
        this.nameReservations = committer.nameReservations;
        this.streams = new StreamingUploads(store, metadata, committer.late, committer.replacer, streamFromBytes);
        this.commits = new Commits(store, metadata, folder, committer, streams, dirtyFiles);
        this.originals = new Originals(metadata, folder, (inode, id) -> store.open(metadata.pathOf(inode), id));
    }

    /** The kernel keeps what is written for a while: a committed file that is open for writing may have more to come. */
    public void gatherWrites() {
        gathersWrites = true;
    }

    /** Where the content of existing files is read from now on, when they are changed. */
    public void readFrom(Originals.Source source) {
        originals.readFrom(source);
    }

    /**
     * Before a new file's name is taken in Alluxio.
     *
     * @param opened somebody will have it open, and close it
     */
    public PendingCreate prepare(String path, FileStatus planned, boolean opened) throws StoreException {
        Spool spool = folder.make();
        DirtyFileRecord record = null;
        try {
            record = folder.record(spool, new DirtyFileRecord.Content(0, 0, path, planned));
            record.pending(opened);
            return new PendingCreate(spool, record);
        } catch (StoreException e) {
            DirtyFile.remove(spool, record, false);
            throw e;
        }
    }

    /** The names of new files. */
    public NameReservations nameReservations() {
        return nameReservations;
    }

    /** A new file, whose name is taken in Alluxio. */
    public void created(Inode inode, StoreWriter reserved, Attr attr, PendingCreate made) throws StoreException {
        made.record.identify(inode.node(), inode.fileId());
        String path = made.record.content().path();
        int madeSeconds = (int) (reserved.madeMillis() / 1000);
        made.record.began(new Origin(inode.node(), reserved.fileId(), path, Origin.NEW, 0, madeSeconds));
        if (committer.late.concern(path)) {
            made.record.mark(Phase.UNSTABLE);
        }
        made.record.mark(Phase.SPOOLED);
        DirtyState state = new DirtyState.Created(reserved, metadata.nowNanos(), false);
        DirtyFile dirtyFile = new DirtyFile(inode, made.spool, made.record, attr, metadata.clock(), state);
        dirtyFile.creation = made.record.isStored() ? null : made.creation();
        dirtyFiles.put(inode.node(), dirtyFile);
    }

    /** Takes over at which names a worker may still write. Before the first upload. */
    public void inheritStaleWrites() {
        committer.late.inherit();
    }

    RecommitQueue recommits() {
        return commits.recommits;
    }

    /** Of an earlier process, which this one cannot go on with. */
    public Withheld withheld() {
        return withheld;
    }

    /**
     * Begins to change an existing file: copies its content, or at most so many bytes of it. Where another client replaces it
     * meanwhile, the new content is copied instead. Waits.
     */
    public void begin(Inode inode, long mostBytes) throws StoreException {
        withheld.check(inode.node(), false);
        int replaced = 0;
        while (!has(inode)) {
            Attr attr = metadata.refresh(inode);
            // What cannot be made anew is refused now, not at its commit.
            AttributeEdit.ownedBy(attr, store.user());
            DirtyFile dirtyFile = originals.dirtyFile(inode, attr, mostBytes > 0);
            dirtyFile.lock.lock();
            try {
                if (dirtyFiles.putIfAbsent(inode.node(), dirtyFile) == null) {
                    copy(dirtyFile, Math.min(mostBytes, attr.lengthBytes()));
                } else {
                    DirtyFile.remove(dirtyFile.spool, dirtyFile.record, false);
                }
            } catch (StoreException e) {
                if (e.errno() != Errno.ESTALE || inode.unlinked() || ++replaced == MAX_TRIES) {
                    throw e;
                }
            } finally {
                dirtyFile.unlock();
            }
        }
    }

    /**
     * Before a file is opened, or cut by its path. Where all that was written is committed, as after a close whose handle the kernel has not
     * released yet, and others have given the file new content since, it is no dirty file any more: its handles go on with that content. Where
     * they gave its name to another file, its handles go on with what was written here, and the kernel looks the name up again: ESTALE.
     *
     * @return 0: it is one; {@link FileSystem#WOULD_WAIT}; NO_DIRTY_FILE
     */
    public int revalidate(Inode inode, boolean mayWait) throws StoreException {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        if (dirtyFile == null) {
            return NO_DIRTY_FILE;
        }
        if (gathersWrites && inode.writers() > 0) {
            return 0;
        }
        boolean ends = dirtyFile.is(Phase.CLOSED);
        boolean isAsked = dirtyFile.is(Phase.COMMITTED) && !metadata.isValidAtOpen(inode, dirtyFile.shownAttr());
        if (!ends && !isAsked) {
            return 0;
        }
        return mayWait
                ? metadata.pathLocks().shared(inode, () -> revalidateCommitted(inode, dirtyFile))
                : FileSystem.WOULD_WAIT;
    }

    /** Its last handle may be about to end it, which does not take long: what goes on after that is known then. */
    private int revalidateCommitted(Inode inode, DirtyFile dirtyFile) throws StoreException {
        Attr left = dirtyFile.awaitLeft();
        if (left == null) {
            return has(inode) ? 0 : NO_DIRTY_FILE;
        }
        long asked = metadata.nowNanos();
        FileStatus there = Existing.orNull(() -> store.status(metadata.pathOf(inode)));
        Metadata.Since since = metadata.since(inode, left, there);
        return with(inode, true, now -> now.isStill(left) ? seen(now, since, asked) : 0);
    }

    private int seen(DirtyFile dirtyFile, Metadata.Since since, long asked) throws StoreException {
        switch (since) {
            case UNCHANGED -> dirtyFile.attr = reader.read(dirtyFile.attr.raw(), asked);
            case NEW_CONTENT -> {
                commits.end(dirtyFile, false);
                dirtyFile.inode.invalidateAttr(metadata.generation().changed());
                return NO_DIRTY_FILE;
            }
            case REPLACED -> {
                dirtyFile.unlink(() -> metadata.nameTaken(dirtyFile.inode));
                throw new StoreException(
                        Errno.ESTALE,
                        dirtyFile.path() + " is another file now, which another client put there: open it again",
                        null);
            }
            case UNKNOWN -> {}
        }
        return 0;
    }

    /** As {@link #begin} of all of it; returns when the content is in the spool, whoever copied it. Nothing interrupts that. */
    public void take(Inode inode) throws StoreException {
        do {
            begin(inode, Long.MAX_VALUE);
        } while (surely(inode, dirtyFile -> 0) == NO_DIRTY_FILE);
    }

    /** Takes over the content; from then on the record counts. A dirty file with a part of it would be taken for the file. */
    private void copy(DirtyFile dirtyFile, long bytes) throws StoreException {
        boolean isWhole = false;
        try {
            originals.copy(dirtyFile, bytes);
            isWhole = true;
        } finally {
            if (!isWhole) {
                Attr attr = dirtyFile.attr;
                commits.end(dirtyFile, false);
                if (dirtyFile.inode.unlinked()) {
                    dirtyFile.inode.see(attr); // nobody else knows them
                }
            }
        }
    }

    /** As {@link #with} for work on the content. A stream is completed first, and then the file is no dirty file any more. */
    private int inSpool(Inode inode, boolean mayWait, Work work) throws StoreException {
        int done = with(inode, mayWait, dirtyFile -> {
            dirtyFile.checkLost();
            return dirtyFile.is(Phase.STREAMING) ? STREAMED : work.on(dirtyFile);
        });
        return completed(inode, mayWait, done);
    }

    /** The same, or what comes of it where the stream is in the way. */
    private int completed(Inode inode, boolean mayWait, int done) throws StoreException {
        if (done != STREAMED) {
            return done;
        }
        if (!mayWait) {
            return FileSystem.WOULD_WAIT;
        }
        commit(inode, true);
        return NO_DIRTY_FILE;
    }

    /** Nobody misses the content any more: it need not go on to Alluxio, and its loss no longer counts. */
    private int discardLost(DirtyFile dirtyFile) throws StoreException {
        if (dirtyFile.is(Phase.STREAMING) || dirtyFile.is(Phase.LOST)) {
            streams.discardLost(dirtyFile);
        }
        return 0;
    }

    /** It is being streamed. */
    private static final int STREAMED = NO_DIRTY_FILE - 1;

    /** Bytes read, WOULD_WAIT or NO_DIRTY_FILE. */
    public int read(Inode inode, boolean mayWait, long offset, ByteBuffer into) throws StoreException {
        if (dirtyFiles.get(inode.node()) == null) {
            withheld.check(inode.node(), false);
            return NO_DIRTY_FILE;
        }
        return inSpool(inode, mayWait, dirtyFile -> dirtyFile.spool.read(offset, into));
    }

    /** Bytes written, WOULD_WAIT or NO_DIRTY_FILE. */
    public int write(Inode inode, boolean mayWait, long offset, ByteBuffer data) throws StoreException {
        int done = with(inode, mayWait, dirtyFile -> {
            boolean inSequence = streams.takes(dirtyFile, offset, data.remaining());
            if (!mayWait && (inSequence || dirtyFile.isUndoable())) {
                return FileSystem.WOULD_WAIT;
            }
            dirtyFile.checkLost();
            int appended = inSequence ? streams.append(dirtyFile, data) : 0;
            if (appended > 0) {
                return appended;
            }
            if (dirtyFile.is(Phase.STREAMING)) {
                return STREAMED;
            }
            commits.keepSynced(dirtyFile);
            dirtyFile.touch();
            return dirtyFile.spool.write(offset, data);
        });
        return completed(inode, mayWait, done);
    }

    /**
     * Cuts, or lengthens by a hole, and begins to change the file where nobody does. Waits.
     *
     * @param unopened no handle but the ones that are counted can change it: where the caller alone counts, nobody has it open
     */
    public void truncate(Inode inode, long bytes, boolean unopened) throws StoreException {
        if (bytes == 0) {
            with(inode, true, this::discardLost);
        }
        do {
            begin(inode, bytes);
        } while (truncateDirtyFile(inode, bytes, unopened) == NO_DIRTY_FILE);
    }

    /** As fallocate(2), in a file that is being changed: 0 or NO_DIRTY_FILE. Waits. */
    public int allocate(Inode inode, long offset, long bytes, int mode) throws StoreException {
        return inSpool(inode, true, dirtyFile -> {
            commits.keepSynced(dirtyFile);
            return dirtyFile.allocate(offset, bytes, mode);
        });
    }

    /** 0; or NO_DIRTY_FILE, where one that there was has ended meanwhile. */
    private int truncateDirtyFile(Inode inode, long bytes, boolean unopened) throws StoreException {
        return inSpool(inode, true, dirtyFile -> {
            commits.keepSynced(dirtyFile);
            if (dirtyFile.spool.lengthBytes() != bytes) {
                dirtyFile.spool.truncate(bytes);
            }
            dirtyFile.touchAlone(); // to the same length, too: its times move
            if (unopened) {
                dirtyFile.noteUnopened();
            }
            return 0;
        });
    }

    /** Changes attributes of a file that is being changed; 0 or NO_DIRTY_FILE. */
    public int change(Inode inode, boolean givesTime, AttributeEdit.Edit edit) throws StoreException {
        return with(inode, true, dirtyFile -> {
            Attr changed = reader.read(edit.of(dirtyFile.attr), dirtyFile.attr.fetchedNanos());
            dirtyFile.change(changed.raw(), givesTime); // where that cannot be recorded, nothing is changed
            dirtyFile.attr = changed;
            return 0;
        });
    }

    /**
     * Commits what was changed, so that everyone sees it; the old content stays until then. A failure is told again to
     * everyone who asks, until a commit succeeds.
     *
     * @param evenUntouched also a new file that nobody wrote to
     */
    public void commit(Inode inode, boolean evenUntouched) throws StoreException {
        if (has(inode)) {
            Work work = dirtyFile -> commitWaitedFor(dirtyFile, evenUntouched);
            metadata.pathLocks().shared(inode, () -> with(inode, true, work));
        }
    }

    /** The program waits for it whose request this thread serves. */
    private int commitWaitedFor(DirtyFile dirtyFile, boolean evenUntouched) throws StoreException {
        commits.commit(dirtyFile, evenUntouched, Waiter.ofThread(metadata.clock()));
        return 0;
    }

    /**
     * No handle can write any more: commits what is left, and ends the dirty file. That of a deleted file ends by discard.
     *
     * @param unseen may others have it open all the same? Then what cannot be committed stays: they are to hear of it
     */
    public void lastWriterClosed(Inode inode, boolean unseen) throws StoreException {
        if (has(inode)) {
            metadata.pathLocks()
                    .sharedUninterruptibly(
                            inode, () -> surely(inode, dirtyFile -> commits.finishUnlessOpen(dirtyFile, unseen)));
        }
    }

    /** What is done in Alluxio to a file, and then to its inode. */
    @FunctionalInterface
    public interface Step {
        void run() throws StoreException;
    }

    /** The file loses its name by this step: nobody commits it meanwhile, or afterwards. */
    public void unlink(Inode inode, Step step) throws StoreException {
        if (with(inode, true, dirtyFile -> dirtyFile.unlink(step)) == NO_DIRTY_FILE) {
            step.run();
            inode.markUnlinked();
        }
        commits.recommits.deleted(inode.node());
    }

    /** Before a file loses its name for good: completes its stream. Where that fails the content is lost, as its writer is told. */
    public void completeStream(Inode inode) throws StoreException {
        DirtyFile dirtyFile = dirtyFiles.get(inode.node());
        try {
            if (dirtyFile != null && dirtyFile.isStreaming()) {
                commit(inode, true);
            }
        } catch (StoreException e) {
            if (!dirtyFile.is(Phase.LOST)) {
                throw e;
            }
        }
    }

    /** Commits the file, and renames it by this step: nobody commits it meanwhile. */
    public void move(Inode inode, Step step) throws StoreException {
        int done = with(inode, true, dirtyFile -> {
            commitWaitedFor(dirtyFile, true);
            step.run();
            return 0;
        });
        if (done == NO_DIRTY_FILE) {
            step.run();
        }
    }

    /** The content goes with the last handle: the file was deleted. */
    public void discard(Inode inode) throws StoreException {
        surely(inode, dirtyFile -> commits.end(dirtyFile, false));
    }

    /** Leaves everything to the next process, as it is. */
    public void leave() {
        committer.stopRetrying();
        commits.recommits.leave();
        dirtyFiles.all().forEach(commits::leave);
    }

    /**
     * Sets the content of files of another Alluxio aside, where that has, or had, not all of it. Waits.
     *
     * @param why in half a sentence that follows "because"
     */
    public void setForeignAside(NodeIds ids, String why) {
        commits.setForeignAside(ids, why);
    }

    /** As {@link Committer#giveUpName}, of a file that is being changed; it keeps its name here. */
    public void giveUpName(Inode inode) throws StoreException {
        with(inode, true, committer::giveUpName);
    }

    /** While the directory of this path is being moved: what is streamed, or where files are copied is new, below it is completed first. */
    public void completeNew(String directory, boolean copies) throws StoreException {
        for (DirtyFile dirtyFile : dirtyFiles.all()) {
            if (dirtyFile.isNew(copies) && dirtyFile.record.content().path().startsWith(directory + "/")) {
                commit(dirtyFile.inode, true);
            }
        }
    }

    /** Commits what can be committed, and ends all. */
    @Override
    public void close() {
        committer.stopRetrying();
        new LastUploads(metadata.clock(), folder).run(dirtyFiles.all(), dirtyFile -> {
            metadata.pathLocks().sharedUninterruptibly(dirtyFile.inode, () -> surely(dirtyFile.inode, commits::finish));
            discard(dirtyFile.inode);
        });
        commits.overwriting().forEach(commits::leave);
        commits.recommits.close();
        nameReservations.close();
        withheld.close();
    }
}

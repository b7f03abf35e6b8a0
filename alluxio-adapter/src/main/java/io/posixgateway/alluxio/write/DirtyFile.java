package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.CreationLog.Creation;
import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file being changed on this mount: its content is in the spool, whatever Alluxio holds. All handles of the node share it.
 *
 * <p>Guarded by {@link #lock}, which is held during a commit; who must not wait only tries it. What a {@code stat} shows is
 * asked without it: it is as it was when the lock was released last.
 */
final class DirtyFile {
    private static final Logger LOG = LoggerFactory.getLogger(DirtyFile.class);
    /** To wait for a long commit is no call that takes too long: it counts as one that begins again. */
    private static final long SPELL_SECONDS = 30;

    final ReentrantLock lock = new ReentrantLock();
    final Inode inode;
    final Spool spool;
    final DirtyFileRecord record;
    /** What the file is but for its content: replaced when its attributes change. */
    Attr attr;
    /** The attributes as Alluxio had them when they were last read or sent; null: that is not known, and nothing is merged. */
    @Nullable
    FileStatus base;
    /** What of the attributes Alluxio does not have yet. */
    Unsent unsent = Unsent.NOTHING;
    /** The last commit failed. */
    volatile boolean failed;
    /** Programs wrote some of it in an earlier process, and it was not committed since: they may not be done. */
    volatile boolean inherited;

    /** What was synced before the last change, while a worker may undo it and nothing newer is committed. */
    @Nullable
    SyncedCopy synced;

    /** Of a new file, if that stands in the journal until the dirty file ends. */
    @Nullable
    Creation creation;

    private final Clock clock;
    /** What the file is since it was committed: what its next change begins from. */
    private @Nullable Origin next;

    private @Nullable Instant changed;
    private volatile DirtyState state;
    private volatile Shown shown;

    /** What of the attributes is to be sent to Alluxio. */
    enum Unsent {
        NOTHING,
        /** The time of the last write. */
        TIME,
        /** The mode and all else. */
        ALL
    }

    DirtyFile(Inode inode, Spool spool, DirtyFileRecord record, Attr attr, Clock clock, DirtyState state) {
        this.clock = clock;
        this.state = state;
        this.inode = inode;
        this.spool = spool;
        this.record = record;
        this.attr = attr;
        this.base = attr.raw();
        this.shown = new Shown(attr, attr.lengthBytes(), null, null);
    }

    /**
     * Takes the lock; who waits can be interrupted.
     *
     * @throws StoreException EINTR
     */
    void await() throws StoreException {
        if (lock.tryLock()) {
            return;
        }
        RemoteCalls remote = RemoteCalls.ofThread();
        boolean locked = false;
        while (!locked) {
            remote.begin();
            try {
                locked = lock.tryLock(SPELL_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreException(Errno.EINTR, "Interrupted while the file was being uploaded", e);
            } finally {
                remote.end();
            }
        }
    }

    /** Others see it as it is now. */
    void unlock() {
        if (!shown.is(attr, lengthBytes(), changed) && !is(Phase.CLOSED)) {
            shown = Shown.of(attr, lengthBytes(), changed);
        }
        lock.unlock();
    }

    /** One of an earlier process, whose record says the rest. */
    void restore() throws StoreException {
        unsent = record.hasAttributes() ? Unsent.ALL : Unsent.NOTHING;
        if (record.isOverwriting()) {
            base = null; // what Alluxio has may have lost them
        } else if (record.hasAttributes()) {
            base = baseOf(record.origin());
        }
        inherited = record.isMarked(Phase.SPOOLED);
        changed = record.showsLastWrite() ? spool.changed() : null;
        shown = Shown.of(attr, lengthBytes(), changed);
    }

    private static @Nullable FileStatus baseOf(@Nullable Origin origin) {
        return origin == null ? null : origin.base();
    }

    /** Any thread. */
    DirtyState state() {
        return state;
    }

    /** Any thread. */
    boolean is(Phase phase) {
        return state.phase() == phase;
    }

    /** The one way from a state to another; the file stays in the first where the table does not allow it. */
    void become(DirtyState next) {
        state.phase().to(next.phase());
        state = next;
    }

    /** Is it being streamed, or (if that counts) has it only an incomplete file at its name so far? Any thread. */
    boolean isNew(boolean evenCreated) {
        boolean created = state instanceof DirtyState.Created || state == DirtyState.Spooled.INCOMPLETE;
        return isStreaming() || (evenCreated && created);
    }

    /** May a file that was made for it be left in Alluxio, which nobody completes any more? Any thread. */
    boolean isIncomplete() {
        return state == DirtyState.Spooled.INCOMPLETE || state == DirtyState.Spooled.HERE_ONLY;
    }

    /** Is Alluxio without any file of this name, which an upload may be about to make? Any thread. */
    boolean isHereOnly() {
        return state.content() == DirtyState.Spooled.HERE_ONLY;
    }

    /** Any thread. */
    boolean isStreaming() {
        return state.content() instanceof StreamingUpload;
    }

    /** Is it a new file to which nobody has written? */
    boolean isUntouched() {
        return state instanceof DirtyState.Created created && !created.isWritten();
    }

    /** Is it {@link DirtyState.Unstable}, and overtaken? Any thread. */
    boolean isOvertaken() {
        return state instanceof DirtyState.Unstable unstable && unstable.isOvertaken();
    }

    /** Has it content that is not surely in Alluxio? */
    boolean holdsContent() {
        return switch (state.phase()) {
            case SPOOLED -> !isUntouched();
            case STREAMING, UNSTABLE -> true;
            case UNLINKED -> record.isMarked(Phase.SPOOLED);
            default -> false;
        };
    }

    /** @throws StoreException the content is lost */
    void checkLost() throws StoreException {
        if (state instanceof DirtyState.Lost lost) {
            StoreException why = lost.why();
            throw new StoreException(why.errno(), "The content is lost: " + why.getMessage(), why);
        }
    }

    /** It was committed, and is this now. */
    void isNow(Origin origin) {
        next = origin;
    }

    /** Where it cannot be noted, the next process takes the file for another one, and keeps the content apart. */
    private void noteOrigin() {
        Origin origin = next;
        if (origin == null) {
            return;
        }
        next = null;
        try {
            record.began(origin);
        } catch (StoreException e) {
            LOG.debug("{}", e.getMessage());
        }
    }

    /** Is the content what was synced, and may a worker undo it, so that it has to be copied before it changes? */
    boolean isUndoable() {
        boolean isCommitted = is(Phase.UNSTABLE) || (is(Phase.SPOOLED) && record.isUnstable());
        return isCommitted && synced == null;
    }

    /** The content is about to change. */
    void touch() throws StoreException {
        noteOrigin();
        record.written();
        become(state.written());
        changed = clock.instant();
    }

    /** As {@link #touch}, where the spool file may keep the time of an earlier change. */
    void touchAlone() throws StoreException {
        touch();
        tellSpool();
    }

    /** Where one alone changes it, without a handle, the next process uploads it: no handle is left whose end would. */
    void noteUnopened() throws StoreException {
        if (inode.writers() == 1 && !inherited) {
            record.unopened();
        }
    }

    /** The next process takes the time from there. */
    private void tellSpool() {
        Instant written = changed;
        if (written != null) {
            spool.changed(written);
        }
    }

    /** Reserves room, zeroes a range or makes a hole of it, as fallocate(2); 0. */
    int allocate(long offset, long bytes, int mode) throws StoreException {
        if ((mode & Stat.FALLOC_PUNCH_HOLE) != 0) {
            spool.punch(offset, bytes);
        } else {
            spool.reserve(mode, offset, bytes);
        }
        touchAlone();
        return 0;
    }

    /** The file loses its name by this step; 0. */
    int unlink(DirtyFiles.Step step) throws StoreException {
        record.mark(Phase.UNLINKED);
        try {
            step.run();
        } catch (StoreException e) {
            record.unmark(Phase.UNLINKED);
            throw e;
        }
        inode.markUnlinked();
        dropSynced();
        if (!is(Phase.LOST)) {
            become(DirtyState.Plain.UNLINKED);
        }
        return 0;
    }

    /** Alluxio has all attributes as they are here. */
    void sent() {
        unsent = Unsent.NOTHING;
        base = attr.raw();
    }

    /** The attributes change. */
    void change(FileStatus status, boolean givesTime) throws StoreException {
        noteOrigin();
        record.change(status, base, givesTime);
        unsent = Unsent.ALL;
        if (givesTime) {
            showGivenTime();
        }
    }

    /** A time was given since the last write. */
    void showGivenTime() {
        changed = null;
    }

    private void dropSynced() {
        SyncedCopy.remove(synced);
        synced = null;
    }

    /** Alluxio holds all of it. */
    void committed() throws StoreException {
        failed = false;
        inherited = false;
        noteCommitted();
        dropSynced();
    }

    private void noteCommitted() throws StoreException {
        if (!(state instanceof DirtyState.Unstable unstable)) {
            record.mark(Phase.COMMITTED);
            return;
        }
        if (!isForced(unstable.path())) {
            become(new DirtyState.Committing(state));
            become(DirtyState.Plain.COMMITTED);
            record.mark(Phase.COMMITTED);
            return;
        }
        try {
            noteOrigin();
            record.doubt(inode.node(), attr.raw().id(), unstable.path());
        } catch (StoreException e) {
            LOG.warn("The next process will upload {} again: {}", unstable.path(), e.getMessage());
        }
    }

    /** It may be committed again when the node has lost its power: not what the disk may have lost. */
    private boolean isForced(String path) {
        try {
            spool.force();
            return true;
        } catch (StoreException e) {
            LOG.error(
                    "{} is in Alluxio, and is not uploaded again if a worker that stopped responding undoes that: {}",
                    path,
                    e.getMessage());
            return false;
        }
    }

    /** Where it is, or was, in Alluxio, as its record says. */
    String path() {
        return record.content().path();
    }

    /** When the content was last written; null: another time was given since. */
    @Nullable
    Instant writtenAt() {
        return changed;
    }

    private long lengthBytes() {
        return state.content() instanceof StreamingUpload open ? open.lengthBytes() : spool.lengthBytes();
    }

    /** Any thread. */
    long shownBytes() {
        return shown.lengthBytes();
    }

    /** Any thread. */
    Attr shownAttr() {
        return shown.attr();
    }

    /** Any thread. */
    void show(Attributes attributes) {
        shown.fill(inode.number(), attributes);
    }

    /** What the file is in Alluxio, but for the time there; null: Alluxio lacks something of it, or that is not known. */
    @Nullable
    Attr left() {
        boolean isWhole = is(Phase.COMMITTED) && unsent == Unsent.NOTHING;
        boolean isThis = attr.fileId() == inode.fileId() && !inode.unlinked();
        return isWhole && isThis && attr.blockBytes() > 0 ? attr : null;
    }

    /** As {@link #left}, once nobody works on it; EINTR while that is waited for. */
    @Nullable
    Attr awaitLeft() throws StoreException {
        await();
        try {
            return left();
        } finally {
            unlock();
        }
    }

    /** Was nothing changed or committed since this was left? */
    boolean isStill(Attr before) {
        Attr now = left();
        return now != null && now.raw().equals(before.raw());
    }

    /** The next process goes on with it: the spool file has the time that was shown. */
    void leave() {
        tellSpool();
        spool.close(true);
    }

    /** @param record null: there is none */
    static void remove(Spool spool, @Nullable DirtyFileRecord record, boolean keepSpool) {
        spool.close(keepSpool);
        try {
            if (record != null) {
                record.delete();
            }
        } catch (StoreException e) {
            LOG.warn("Removing a record failed: {}", e.getMessage());
        }
    }
}

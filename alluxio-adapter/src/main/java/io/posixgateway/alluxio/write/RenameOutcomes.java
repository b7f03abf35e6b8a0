package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.LostAttributes;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.Clock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what became of the rename of a file whose answer was lost, and has Alluxio know what the store has. EIO while Alluxio does
 * not answer. Any thread; waits.
 */
final class RenameOutcomes {
    private static final Logger LOG = LoggerFactory.getLogger(RenameOutcomes.class);

    private final Store store;
    private final Clock clock;
    private final InodeTable table;
    private final AttrDecoder reader;
    private final LostAttributes lost;

    RenameOutcomes(Store store, Clock clock, InodeTable table, AttrDecoder reader) {
        this.store = store;
        this.clock = clock;
        this.table = table;
        this.reader = reader;
        this.lost = new LostAttributes(store);
    }

    /** What a renamed file is found to have become. */
    enum Outcome {
        IN_PLACE,
        /** The old file, or another one, has the name, and the renamed one its own; both are whole. */
        TARGET_STAYS,
        TARGET_MISSING,
        /** The renamed file is gone, or somewhere else: others renamed or deleted it, in Alluxio or in the store. */
        SOURCE_GONE,
        /** Neither is in the store any more: what lost both, nobody can tell, and nothing brings them back. */
        BOTH_GONE
    }

    /**
     * The renamed file is known by its id, which no other file has, where Alluxio has noted the rename. If the under file system has done it
     * and Alluxio has noted nothing, what has the name has another id; then it is the renamed file if the under file system says that it has
     * its content. Its length alone says nothing: another client's file may be as long.
     *
     * <p>Alluxio notes a rename before the under file system does it, and takes it back if that refuses; a master that is killed meanwhile
     * does not. So where Alluxio has noted it, the under file system is asked.
     *
     * @param renamed the file before; null: nothing is known of it
     * @param replaced what had the name; null: nothing, or nothing is known of it
     */
    Outcome of(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced) throws StoreException {
        String at = Existing.orNull(() -> store.pathOf(renaming.fileId()));
        if (renaming.to().equals(at)) {
            return ofNoted(renaming, renamed, replaced);
        }
        if (!renaming.from().equals(at)) {
            return at == null ? ofUnknown(renaming, renamed, replaced) : Outcome.SOURCE_GONE;
        }
        FileDetails source = Existing.orNull(() -> store.details(renaming.from()));
        // The master may know of a file whose object it has deleted.
        FileStatus there = Existing.orNull(() -> store.compared(renaming.to()));
        if (there == null) {
            boolean gone = store.deletesToReplace(renaming.to()) && isGone(renaming.from());
            return gone ? Outcome.BOTH_GONE : Outcome.TARGET_MISSING;
        }
        if (source == null) {
            return Outcome.SOURCE_GONE;
        }
        return ofBoth(renaming, source, there, replaced);
    }

    private Outcome ofNoted(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced) throws StoreException {
        FileStatus there = Existing.orNull(() -> store.status(renaming.to()));
        if (there == null || !isTheFile(renaming, renamed, there)) {
            return Outcome.SOURCE_GONE;
        }
        return there.directory() ? Outcome.IN_PLACE : ofNotedFile(renaming, there, renamed, replaced);
    }

    private Outcome ofNotedFile(Renaming renaming, FileStatus there, @Nullable Attr renamed, @Nullable Attr replaced)
            throws StoreException {
        // The old name first: if that fails, Alluxio knows the file by its id the next time, too.
        FileStatus left = Existing.orNull(() -> store.compared(renaming.from()));
        FileStatus now = Existing.orNull(() -> store.compared(renaming.to()));
        if (now != null && now.id() == renaming.fileId()) {
            return Outcome.IN_PLACE;
        }
        boolean isOurs = now == null || TempNames.isOf(renaming.from());
        if (left != null && isAsLong(left, there) && (isOurs || RevivedNames.isLoaded(left))) {
            return ofLeft(renaming, left, renamed, replaced);
        }
        return now == null ? Outcome.BOTH_GONE : ofLoaded(renaming, there, now, renamed);
    }

    /** A copy in parts has another ETag, so that Alluxio has loaded it anew. */
    private Outcome ofLoaded(Renaming renaming, FileStatus before, FileStatus now, @Nullable Attr renamed)
            throws StoreException {
        if (now.xattrs().isEmpty() && isAsLong(now, before)) {
            isNow(renaming, renaming.to(), now, renamed);
        }
        return Outcome.IN_PLACE;
    }

    /** A file with a hidden name is nobody else's: an earlier look made Alluxio load it anew, and ended before it was over. */
    private Outcome ofUnknown(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced)
            throws StoreException {
        FileStatus own =
                TempNames.isOf(renaming.from()) ? Existing.orNull(() -> store.compared(renaming.from())) : null;
        return own == null || own.directory() || own.id() == renaming.fileId()
                ? Outcome.SOURCE_GONE
                : ofLeft(renaming, own, renamed, replaced);
    }

    /** As {@link #of}, of what the under file system still has under the old name; Alluxio has loaded it anew. */
    private Outcome ofLeft(Renaming renaming, FileStatus left, @Nullable Attr renamed, @Nullable Attr replaced)
            throws StoreException {
        isNow(renaming, renaming.from(), left, renamed);
        return of(new Renaming(renaming.from(), left.id(), renaming.to()), renamed, replaced);
    }

    /** The renamed file is this one by now, which has lost its attributes. */
    private void isNow(Renaming renaming, String path, FileStatus there, @Nullable Attr renamed) throws StoreException {
        if (renamed != null && there.xattrs().isEmpty()) {
            lost.restore(path, there, renamed);
        }
        adopt(renaming, there);
    }

    /** True if it is the file itself: not another one with its id, as after a restore from a backup. */
    private static boolean isTheFile(Renaming renaming, @Nullable Attr renamed, FileStatus there) {
        int createdSeconds = renamed == null ? 0 : renamed.raw().createdSeconds();
        return there.id() == renaming.fileId()
                && there.complete()
                && AbandonedCreates.isSame(createdSeconds, there.createdSeconds());
    }

    /**
     * Was the master killed when the store had done all of it and the journal had nothing of that? Asked for again, it would delete
     * the only copy: the object of the old name is gone.
     */
    private Outcome ofBoth(Renaming renaming, FileDetails source, FileStatus there, @Nullable Attr replaced)
            throws StoreException {
        // To Alluxio it is the replaced file, too, if the contents are the same, and with that the ETags.
        boolean same = replaced != null && there.id() == replaced.fileId();
        boolean content = hasContentOf(source, renaming.to()) && (!same || store.copiesOnRename(renaming.to()));
        boolean anew = !same && there.xattrs().isEmpty();
        if (content && anew) {
            lost.restore(renaming.to(), there, attr(source.status())); // first, while the attributes are known
        }
        boolean gone = isGone(renaming.from());
        if (!content || !gone) {
            giveToCopyInParts(renaming, source.status(), there, gone && anew);
            giveBackAttributes(renaming, there, replaced);
            return gone ? Outcome.SOURCE_GONE : Outcome.TARGET_STAYS;
        }
        if (same) {
            lost.restore(renaming.to(), there, attr(source.status()));
        }
        adopt(renaming, there);
        return Outcome.IN_PLACE;
    }

    /** Of a file that the store has copied in parts, it seems, so that its content has another ETag; nobody knows whether it did. */
    private void giveToCopyInParts(Renaming renaming, FileStatus source, FileStatus there, boolean isLeft)
            throws StoreException {
        if (isLeft && isAsLong(there, source) && store.copiesOnRename(renaming.to())) {
            lost.restore(renaming.to(), there, attr(source));
        }
    }

    /** It is the same node as before. */
    private void adopt(Renaming renaming, FileStatus there) {
        Inode known = table.known(renaming.fileId());
        if (known != null && table.adopt(known, there.id(), clock.nanos())) {
            known.invalidateAttr(table.generation().changed());
        }
    }

    private static boolean isAsLong(FileStatus there, FileStatus other) {
        return !there.directory() && there.lengthBytes() == other.lengthBytes();
    }

    private boolean isGone(String path) throws StoreException {
        return Existing.orNull(() -> store.compared(path)) == null;
    }

    private boolean hasContentOf(FileDetails source, String path) throws StoreException {
        FileDetails there = Existing.orNull(() -> store.details(path));
        return there != null && there.hasContentOf(source);
    }

    /** As {@link #of}, and the file gets its name if nothing has it. */
    Outcome completed(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced) throws StoreException {
        Outcome outcome = of(renaming, renamed, replaced);
        if (outcome == Outcome.TARGET_MISSING) {
            store.rename(renaming.from(), renaming.to(), false);
            LOG.warn("{} was lost while being replaced; {} now has its name", renaming.to(), renaming.from());
            return Outcome.IN_PLACE;
        }
        return outcome;
    }

    /** As {@link #of}, with one look; null: Alluxio does not answer. */
    @Nullable
    Outcome atOnce(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced) {
        try {
            return of(renaming, renamed, replaced);
        } catch (StoreException e) {
            LOG.debug("The outcome for {} is unknown: {}", renaming.to(), e.getMessage());
            return null;
        }
    }

    /**
     * After a copy in parts, or one that the master does not know of, Alluxio may have it as another file, with another id and without
     * its attributes, which it gets back.
     */
    long idAfterCopy(Renaming renaming, @Nullable Attr renamed) {
        try {
            FileStatus now = store.status(renaming.to());
            boolean anew = now.id() != renaming.fileId() && now.xattrs().isEmpty() && !now.directory();
            if (anew && now.complete() && renamed != null && now.lengthBytes() == renamed.lengthBytes()) {
                lost.restore(renaming.to(), now, renamed);
            }
            return now.id();
        } catch (StoreException e) {
            LOG.debug("The current id of {} is unknown: {}", renaming.to(), e.getMessage());
            return renaming.fileId();
        }
    }

    /** Of a file that Alluxio dropped, and has loaded anew. */
    private void giveBackAttributes(Renaming renaming, FileStatus there, @Nullable Attr replaced)
            throws StoreException {
        if (replaced != null
                && there.id() != replaced.fileId()
                && isAsLong(there, replaced.raw())
                && there.xattrs().isEmpty()) {
            lost.restore(renaming.to(), there, replaced);
        }
    }

    private Attr attr(FileStatus status) {
        return reader.read(status, clock.nanos());
    }
}

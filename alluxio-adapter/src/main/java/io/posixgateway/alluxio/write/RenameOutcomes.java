package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.LostAttributes;
import io.posixgateway.alluxio.store.Existing;
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

    /** Of one to a name that nobody had, by a copy. */
    Outcome ofFree(Renaming renaming, Attr renamed) throws StoreException {
        String at = Existing.orNull(() -> store.pathOf(renaming.fileId()));
        if (renaming.to().equals(at)) {
            return Outcome.IN_PLACE;
        }
        if (!renaming.from().equals(at)) {
            return Outcome.SOURCE_GONE;
        }
        FileStatus there = Existing.orNull(() -> store.compared(renaming.to()));
        if (there != null && isAlike(renamed.raw(), there) && there.xattrs().isEmpty()) {
            lost.restore(renaming.to(), there, renamed); // first, while they are known
        }
        boolean gone = Existing.orNull(() -> store.compared(renaming.from())) == null;
        if (there == null) {
            return gone ? Outcome.BOTH_GONE : Outcome.TARGET_MISSING;
        }
        if (!gone) {
            return Outcome.TARGET_STAYS;
        }
        return moved(renaming, renamed.raw(), there, null) ? Outcome.IN_PLACE : Outcome.SOURCE_GONE;
    }

    /**
     * Of one over a file.
     *
     * @param replaced the file there; null: nothing is known of it
     */
    Outcome of(Renaming renaming, @Nullable Attr replaced) throws StoreException {
        String at = Existing.orNull(() -> store.pathOf(renaming.fileId()));
        if (renaming.to().equals(at)) {
            return Outcome.IN_PLACE;
        }
        if (!renaming.from().equals(at)) {
            return Outcome.SOURCE_GONE;
        }
        FileStatus source = Existing.orNull(() -> store.status(renaming.from()));
        // The master may know of a file whose object it has deleted.
        FileStatus there = Existing.orNull(() -> store.compared(renaming.to()));
        if (there == null) {
            boolean gone = Existing.orNull(() -> store.compared(renaming.from())) == null;
            return gone ? Outcome.BOTH_GONE : Outcome.TARGET_MISSING;
        }
        if (source == null) {
            return Outcome.SOURCE_GONE;
        }
        if (isGone(renaming, source, there, replaced)) {
            return moved(renaming, source, there, replaced) ? Outcome.IN_PLACE : Outcome.SOURCE_GONE;
        }
        giveBackAttributes(renaming, there, replaced);
        return Outcome.TARGET_STAYS;
    }

    /** As {@link #of}, and the file gets its name if nothing has it. */
    Outcome completed(Renaming renaming, @Nullable Attr replaced) throws StoreException {
        Outcome outcome = of(renaming, replaced);
        if (outcome == Outcome.TARGET_MISSING) {
            store.rename(renaming.from(), renaming.to(), false);
            LOG.warn("{} was lost while being replaced; {} now has its name", renaming.to(), renaming.from());
            return Outcome.IN_PLACE;
        }
        return outcome;
    }

    /** Of one over a file, in one step: one look; null: Alluxio does not answer. */
    @Nullable
    Outcome ofOneStep(Renaming renaming, @Nullable Attr replaced) {
        try {
            String at = Existing.orNull(() -> store.pathOf(renaming.fileId()));
            if (!renaming.from().equals(at)) {
                return renaming.to().equals(at) ? Outcome.IN_PLACE : Outcome.SOURCE_GONE;
            }
            FileStatus there = Existing.orNull(() -> store.compared(renaming.to()));
            if (there == null) {
                return Outcome.TARGET_MISSING;
            }
            if (replaced != null && there.lengthBytes() == replaced.lengthBytes()) {
                giveBackAttributes(renaming, there, replaced);
            }
            return Outcome.TARGET_STAYS;
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
    void giveBackAttributes(Renaming renaming, FileStatus there, @Nullable Attr replaced) throws StoreException {
        if (replaced != null
                && there.id() != replaced.fileId()
                && !there.directory()
                && there.xattrs().isEmpty()) {
            lost.restore(renaming.to(), there, replaced);
        }
    }

    /**
     * Was the master killed when the store had done all of it and the journal had nothing of that? Asked for again, it would delete
     * the only copy: the object of the old name is gone.
     */
    private boolean isGone(Renaming renaming, FileStatus source, FileStatus there, @Nullable Attr replaced)
            throws StoreException {
        boolean anew = isAlike(source, there) && !isReplaced(there, replaced);
        if (anew && there.xattrs().isEmpty()) {
            lost.restore(renaming.to(), there, attr(source)); // first, while they are known
        }
        return Existing.orNull(() -> store.compared(renaming.from())) == null;
    }

    private static boolean isAlike(FileStatus source, FileStatus there) {
        return !there.directory() && there.lengthBytes() == source.lengthBytes();
    }

    /** To Alluxio it is, too, if the contents are the same, and with that the ETags. */
    private static boolean isReplaced(FileStatus there, @Nullable Attr replaced) {
        return replaced != null && there.id() == replaced.fileId();
    }

    Attr attr(FileStatus status) {
        return reader.read(status, clock.nanos());
    }

    /** What Alluxio has of the old name is nothing; false: what has the other name is of somebody else. */
    private boolean moved(Renaming renaming, FileStatus source, FileStatus there, @Nullable Attr replaced)
            throws StoreException {
        boolean same = isReplaced(there, replaced);
        if (!isAlike(source, there) || (same && !store.copiesOnRename(renaming.to()))) {
            return false;
        }
        if (same) {
            lost.restore(renaming.to(), there, attr(source));
        }
        Inode known = table.known(renaming.fileId());
        if (known != null && table.adopt(known, there.id(), clock.nanos())) {
            known.invalidateAttr(table.generation().changed());
        }
        return true;
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog;
import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.journal.RetryQueue;
import io.posixgateway.alluxio.journal.SillyRenames;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.RenameOutcomes.Outcome;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renames a file over another. In one step where the under file system does it so; where it does not, so that the name is not lost:
 * Alluxio's master then deletes what has the name, and renames, or copies and deletes the source. Killed before that is done, it
 * leaves the name missing and the source whole.
 *
 * <pre>
 *   recorded ─► sent ──answered──────────────────────────────► in place
 *                ▲ └─outcome unknown─► new file is there ────► in place
 *                │                 ├─► nothing is there ─────► in place, by a rename to the free name
 *                │                 ├─► both are gone ────────► failed, for good
 *                │                 ├─► Alluxio is away ──────► unfinished: resolved as above by the {@link RetryQueue}, or by the next process
 *                │                 └─► both are as before ──┐
 *                └──── after a pause, if nobody answered ───┴► failed, the old file's attributes as they were
 * </pre>
 *
 * <p>Each is sent once, and again only after a look that found both files whole: a master that is killed when the store has done all of
 * it may know nothing of that, and would then delete the only copy. What cannot be recorded for the next process is not sent.
 *
 * <p>Whoever asks Alluxio for the path of a file that is being renamed waits for that, so a copy in flight is not taken for one that
 * failed. Any thread.
 */
public final class FileReplacer {
    private static final Logger LOG = LoggerFactory.getLogger(FileReplacer.class);
    /** Shorter objects have one part: it is the least that a part may have but for the last one. */
    private static final long PARTS_FROM_BYTES = 5 << 20;

    /** Failures of what the master checks before it deletes what has the name. */
    private static final Set<Integer> BEFORE_ANYTHING = Set.of(Errno.EISDIR, Errno.EACCES, Errno.EROFS, Errno.EXDEV);

    private final Store store;
    private final Clock clock;
    private final RenameLog log;
    private final RenameOutcomes outcomes;
    /** What earlier processes left. */
    private final FreeRenames free;

    private final UnfinishedRenames unfinished;
    private final Pauses pauses;

    public FileReplacer(
            Store store,
            Clock clock,
            RetryQueue retries,
            InodeTable table,
            AttrDecoder reader,
            RenameLog log,
            SillyRenames sillyRenames) {
        this.store = store;
        this.clock = clock;
        this.log = log;
        this.outcomes = new RenameOutcomes(store, clock, table, reader);
        this.unfinished = new UnfinishedRenames(store, retries, log.over, sillyRenames, outcomes);
        this.free = new FreeRenames(store, log, outcomes, this);
        this.pauses = new Pauses(clock);
    }

    /**
     * Renames the file over what is at the other path, if that is a file, or nothing. Waits.
     *
     * @param renamed the file; null: nothing is known of it
     * @param replaced the file there; null: nothing is known of it
     * @return the id that the file has from now on
     * @throws StoreException ENOENT: another client removed the file; ENOTDIR, EISDIR: another client put a directory in its place, or there,
     *     which stays; EIO if it cannot be recorded, before anything is done; else the old file stays, unless {@link UnfinishedRenames#has}
     */
    public long replace(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced) throws StoreException {
        checkIsFile(renaming.from());
        boolean answered = store.deletesToReplace(renaming.to())
                ? isRecordedAndSent(renaming, renamed, replaced)
                : isSentInOneStep(renaming, renamed, replaced);
        return answered && !isCopiedInParts(renaming, renamed)
                ? renaming.fileId()
                : outcomes.idAfterCopy(renaming, renamed);
    }

    /** The master drops what has the other name before it sees that this one is gone, or is a directory of another client by now. */
    private void checkIsFile(String path) throws StoreException {
        if (TempNames.isOf(path)) {
            return;
        }
        FileStatus there = store.deletesToReplace(path) ? store.compared(path) : store.status(path);
        if (there.directory()) {
            throw new StoreException(
                    Errno.ENOTDIR,
                    path + " is a directory now, which another client put in the place of the file",
                    null);
        }
    }

    private boolean isCopiedInParts(Renaming renaming, @Nullable Attr renamed) throws StoreException {
        return renamed != null && renamed.lengthBytes() >= PARTS_FROM_BYTES && store.copiesOnRename(renaming.to());
    }

    /**
     * The under file system does it in one step. But Alluxio has dropped what has the name by then, with its attributes, and does not take
     * that back where the under file system refuses: a file that only workers had is no more. Then the new one is not to go, too. A master
     * that was killed may have come so far as well, and the next one takes all of it for done: it is sent as another one then. Was it
     * answered, so that Alluxio knows of it?
     */
    private boolean isSentInOneStep(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced)
            throws StoreException {
        long beganNanos = clock.nanos();
        boolean looked = false; // which may have found that Alluxio has it with another id
        for (int waits = 0; ; waits++) {
            try {
                store.rename(renaming.from(), renaming.to(), true);
                return !looked;
            } catch (StoreException e) {
                boolean failed = e.errno() == Errno.EIO && !e.isUnanswered();
                boolean looks = failed || e.isOfRepetition();
                Outcome outcome = looks ? outcomes.atOnce(renaming, renamed, replaced) : null;
                looked |= looks;
                if (failed && outcome == Outcome.TARGET_MISSING) {
                    takeFreeName(renaming, e);
                    return !e.isOfRepetition();
                }
                if (outcome == Outcome.IN_PLACE) {
                    return false;
                }
                if (!isFirstPart(e, outcome) || !pauses.await(beganNanos, waits)) {
                    throw e;
                }
            }
        }
    }

    /** Was it said to be done while both files are as before, but for what Alluxio has dropped and loaded again? */
    private static boolean isFirstPart(StoreException failure, @Nullable Outcome found) {
        return failure.errno() == Errno.EIO && failure.isOfRepetition() && found == Outcome.TARGET_STAYS;
    }

    private void takeFreeName(Renaming renaming, StoreException failure) throws StoreException {
        log.over.add(renaming);
        try {
            store.rename(renaming.from(), renaming.to(), false);
            log.over.remove(renaming);
        } catch (StoreException e) {
            throw unfinished.add(renaming, failure);
        }
    }

    private void record(Renaming renaming) throws StoreException {
        if (!log.over.add(renaming)) {
            log.over.remove(renaming);
            throw RenameFailures.notRecorded(renaming, log.over.folder());
        }
    }

    /** As {@link #isSent}; after a failure that nobody expects, as of a class that is missing, the file may be the only copy, too. */
    private boolean isRecordedAndSent(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced)
            throws StoreException {
        record(renaming);
        try {
            boolean answered = isSent(renaming, renamed, replaced);
            log.over.remove(renaming);
            return answered;
        } catch (RuntimeException | Error e) {
            unfinished.addUnexpected(renaming);
            throw e;
        }
    }

    /**
     * Sends it until it is in place. One that is refused is sent once more: the store may have had an object there of which Alluxio knew
     * nothing, and knows since the look. Was it answered, so that Alluxio knows of it?
     */
    private boolean isSent(Renaming renaming, @Nullable Attr renamed, @Nullable Attr replaced) throws StoreException {
        long beganNanos = clock.nanos();
        for (int waits = 0; ; waits++) {
            try {
                store.rename(renaming.from(), renaming.to(), true);
                return true;
            } catch (StoreException e) {
                Outcome found = resolved(renaming, e, () -> outcomes.completed(renaming, renamed, replaced));
                if (found == Outcome.IN_PLACE) {
                    return false;
                }
                boolean whole = found == Outcome.TARGET_STAYS;
                if (!whole || !(isRefusedAtFirst(e, waits) || (e.isUnanswered() && pauses.await(beganNanos, waits)))) {
                    log.over.remove(renaming);
                    throw RenameFailures.of(renaming, found, e);
                }
                LOG.info("{} is unchanged; replacing it again: {}", renaming.to(), e.getMessage());
            }
        }
    }

    private static boolean isRefusedAtFirst(StoreException failure, int waits) {
        return waits == 0 && failure.errno() == Errno.EIO && !failure.isUnanswered();
    }

    /** After a failure: what is found, or has become of it now. */
    private Outcome resolved(Renaming renaming, StoreException failure, Existing.Question<Outcome> look)
            throws StoreException {
        if (BEFORE_ANYTHING.contains(failure.errno())) {
            return Outcome.TARGET_STAYS;
        }
        return answered(renaming, failure, look);
    }

    /** Looks until Alluxio answers. */
    Outcome answered(Renaming renaming, StoreException failure, Existing.Question<Outcome> look) throws StoreException {
        long beganNanos = clock.nanos();
        for (int waits = 0; ; waits++) {
            try {
                Outcome found = look.ask();
                if (found == Outcome.IN_PLACE) {
                    LOG.info("{} is in place, without a confirmation: {}", renaming.to(), failure.getMessage());
                }
                return found;
            } catch (StoreException e) {
                LOG.debug("The outcome for {} is unknown: {}", renaming.to(), e.getMessage());
            }
            if (!pauses.await(beganNanos, waits)) {
                throw unfinished.add(renaming, failure);
            }
        }
    }

    /** As {@link FreeRenames#run}. */
    public void renameToFree(Renaming renaming, @Nullable Attr renamed) throws StoreException {
        free.run(renaming, renamed);
    }

    /**
     * Moves another client's file to a hidden name beside its own, until {@link #putBack}, or the next process after this one, gives it
     * that back. Waits.
     */
    Renaming putAside(String path, long fileId) throws StoreException {
        String hidden = path.substring(0, path.lastIndexOf('/') + 1) + TempNames.make();
        Renaming back = new Renaming(hidden, fileId, path);
        log.over.add(back);
        rename(path, hidden, back);
        return back;
    }

    /** @throws StoreException something has its name by now; or Alluxio does not answer: then it is tried again */
    void putBack(Renaming back) throws StoreException {
        rename(back.from(), back.to(), back);
        log.over.remove(back);
    }

    private void rename(String from, String to, Renaming back) throws StoreException {
        try {
            store.rename(from, to, false);
        } catch (StoreException e) {
            if (e.isOutcomeUnknown()) {
                throw unfinished.add(back, e);
            }
            log.over.remove(back);
            throw e;
        }
    }

    /** Removes for good what was put aside. */
    void removeAside(Renaming aside) throws StoreException {
        store.delete(aside.from());
        log.over.remove(aside);
    }

    /** Those of which nobody knows yet what became of them. */
    public UnfinishedRenames unfinished() {
        return unfinished;
    }

    /** Takes over what processes that are no more left unfinished; true if there is something to settle. */
    public boolean inherit() {
        free.inherit();
        return unfinished.inherit();
    }

    /** Is there something for {@link #isFreeSettled}? */
    public boolean hasFree() {
        return !free.isEmpty();
    }

    /**
     * Has Alluxio know of the renames to free names that earlier processes were killed in, and that the store has done. Not before the
     * kernel has sent again what was not answered. Waits; false: Alluxio does not answer.
     */
    public boolean isFreeSettled() {
        return free.settle();
    }

    /** The same of the one from this path, before it is renamed: an earlier process may have done it. Waits. */
    public void settleFree(String from) {
        free.settle(from);
    }

    /** What is unfinished is of another Alluxio, or of another path in it: nothing is done there, and the files stay as they are. */
    public void leaveForeign(String why) {
        unfinished.leaveForeign(why);
        free.leave();
    }

    /** From now on nobody waits for an Alluxio that is away. */
    void stopRetrying() {
        pauses.stopRetrying();
    }
}

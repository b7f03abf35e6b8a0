package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.cache.FactsReader;
import io.posixgateway.alluxio.cache.HiddenNames;
import io.posixgateway.alluxio.client.Existing;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.InodeTable;
import io.posixgateway.alluxio.recovery.HiddenFiles;
import io.posixgateway.alluxio.recovery.RenameLog;
import io.posixgateway.alluxio.recovery.RenameLog.Renaming;
import io.posixgateway.alluxio.recovery.RetryQueue;
import io.posixgateway.alluxio.write.RenameOutcomes.Outcome;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
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
    private static final Set<Integer> BEFORE_ANYTHING = Set.of(Errno.EISDIR, Errno.EACCES, Errno.EXDEV);

    private final Store store;
    private final Clock clock;
    private final RenameLog log;
    private final HiddenFiles hiddenFiles;
    private final RenameOutcomes outcomes;
    /** What earlier processes left. */
    private final FreeRenames free;

    private final Pauses pauses;
    /** By the path before. */
    private final Map<String, Renaming> unfinished = new ConcurrentHashMap<>();
    /** Those that Alluxio refused to complete when it was asked last, by the path before. */
    private final Map<String, StoreException> refusals = new ConcurrentHashMap<>();
    /** Held while Alluxio is asked what became of them, for as long as that takes. */
    private final ReentrantLock settling = new ReentrantLock();

    private final RetryQueue retries;
    private volatile Consumer<String> resolved = path -> {};

    public FileReplacer(
            Store store,
            Clock clock,
            RetryQueue retries,
            InodeTable table,
            FactsReader reader,
            RenameLog log,
            HiddenFiles hiddenFiles) {
        this.store = store;
        this.clock = clock;
        this.retries = retries;
        this.log = log;
        this.hiddenFiles = hiddenFiles;
        this.outcomes = new RenameOutcomes(store, clock, table, reader);
        this.free = new FreeRenames(store, log, outcomes, this);
        this.pauses = new Pauses(clock);
    }

    /** From now on this hears of each path of which it is known again what has it. On any thread, which may serve a request. */
    public void whenResolved(Consumer<String> listener) {
        resolved = listener;
    }

    /**
     * Renames the file over what is at the other path, if that is a file, or nothing. Waits.
     *
     * @param renamed the file; null: nothing is known of it
     * @param replaced the file there; null: nothing is known of it
     * @return the id that the file has from now on
     * @throws StoreException ENOENT: another client removed the file; EISDIR: another client put a directory there, which stays; EIO if
     *     it cannot be recorded, before anything is done; else the old file stays, unless {@link #isUnfinished}
     */
    public long replace(Renaming renaming, @Nullable Facts renamed, @Nullable Facts replaced) throws StoreException {
        if (!store.deletesToReplace(renaming.to())) {
            replaceInOneStep(renaming, replaced);
            return renaming.fileId();
        }
        if (!HiddenNames.isOf(renaming.from())) {
            // The master deletes what has the other name before it sees that this one is gone.
            store.compared(renaming.from());
        }
        record(renaming);
        boolean answered = sent(renaming, replaced);
        log.over.remove(renaming);
        boolean isSame = answered && (renamed == null || renamed.lengthBytes() < PARTS_FROM_BYTES);
        return isSame ? renaming.fileId() : outcomes.idAfterCopy(renaming, renamed);
    }

    /**
     * The under file system does it in one step. But Alluxio has dropped what has the name by then, with its attributes, and does not take
     * that back where the under file system refuses: a file that only workers had is no more. Then the new one is not to go, too.
     */
    private void replaceInOneStep(Renaming renaming, @Nullable Facts replaced) throws StoreException {
        try {
            store.rename(renaming.from(), renaming.to(), true);
        } catch (StoreException e) {
            boolean refused = e.errno() == Errno.EIO && !e.isUnanswered();
            Outcome outcome = refused ? outcomes.ofOneStep(renaming, replaced) : null;
            if (outcome == Outcome.TARGET_MISSING) {
                takeFreeName(renaming, e);
            } else if (outcome != Outcome.IN_PLACE) {
                throw e;
            }
        }
    }

    private void takeFreeName(Renaming renaming, StoreException failure) throws StoreException {
        log.over.add(renaming);
        try {
            store.rename(renaming.from(), renaming.to(), false);
            log.over.remove(renaming);
        } catch (StoreException e) {
            throw unfinished(renaming, failure);
        }
    }

    private void record(Renaming renaming) throws StoreException {
        if (!log.over.add(renaming)) {
            log.over.remove(renaming);
            throw RenameFailures.notRecorded(renaming, log.over.folder());
        }
    }

    /** Sends it until it is in place. Was it answered, so that Alluxio knows of it? */
    private boolean sent(Renaming renaming, @Nullable Facts replaced) throws StoreException {
        long beganNanos = clock.nanos();
        for (int waits = 0; ; waits++) {
            try {
                store.rename(renaming.from(), renaming.to(), true);
                return true;
            } catch (StoreException e) {
                Outcome found = resolved(renaming, replaced, e);
                if (found == Outcome.IN_PLACE) {
                    return false;
                }
                boolean whole = found == Outcome.TARGET_STAYS;
                if (!whole || !e.isUnanswered() || !pauses.await(beganNanos, waits)) {
                    log.over.remove(renaming);
                    throw RenameFailures.of(renaming, found, e);
                }
                LOG.info("{} is unchanged; replacing it again: {}", renaming.to(), e.getMessage());
            }
        }
    }

    /** After a failure: what is found, or has become of it now. */
    private Outcome resolved(Renaming renaming, @Nullable Facts replaced, StoreException failure)
            throws StoreException {
        if (BEFORE_ANYTHING.contains(failure.errno())) {
            return Outcome.TARGET_STAYS;
        }
        return answered(renaming, failure, () -> found(renaming, replaced));
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
                throw unfinished(renaming, failure);
            }
        }
    }

    /** As {@link FreeRenames#run}. */
    public void renameToFree(Renaming renaming, @Nullable Facts renamed) throws StoreException {
        free.run(renaming, renamed);
    }

    private StoreException unfinished(Renaming renaming, StoreException failure) {
        LOG.error(
                "{} may be missing in Alluxio, which failed while replacing it ({}): {} will be renamed to it later",
                renaming.to(),
                failure.getMessage(),
                renaming.from());
        log.over.add(renaming);
        unfinished.put(renaming.from(), renaming);
        settleLater();
        return new StoreException(
                failure.errno(),
                "Whether " + renaming.from() + " was renamed to " + renaming.to()
                        + " is unknown: either may be missing until Alluxio answers; the rename is completed then: "
                        + failure.getMessage(),
                failure);
    }

    /** Finds out, and renames the file to its name if nothing has it. EIO while Alluxio is away. */
    private Outcome found(Renaming renaming, @Nullable Facts replaced) throws StoreException {
        Outcome outcome = outcomes.of(renaming, replaced);
        if (outcome == Outcome.TARGET_MISSING) {
            store.rename(renaming.from(), renaming.to(), false);
            LOG.warn("{} was lost while being replaced; {} now has its name", renaming.to(), renaming.from());
            return Outcome.IN_PLACE;
        }
        return outcome;
    }

    /**
     * Moves another client's file to a hidden name beside its own, until {@link #putBack}, or the next process after this one, gives it
     * that back. Waits.
     */
    Renaming putAside(String path, long fileId) throws StoreException {
        String hidden = path.substring(0, path.lastIndexOf('/') + 1) + HiddenNames.make();
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
                throw unfinished(back, e);
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

    /** Is the file of this path the only one that can take the name of what it replaces? It is not to be deleted then. */
    public boolean isUnfinished(String from) {
        return unfinished.containsKey(from);
    }

    /** Takes over what processes that are no more left unfinished; true if there is something to {@link #settle}. */
    public boolean inherit() {
        free.inherit();
        List<Renaming> inherited = log.over.inherit();
        inherited.forEach(renaming -> unfinished.put(renaming.from(), renaming));
        return !unfinished.isEmpty();
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

    /** Is there something to {@link #settle}? */
    public boolean hasUnfinished() {
        return !unfinished.isEmpty();
    }

    /** What is unfinished is of another Alluxio, or of another path in it: nothing is done there, and the files stay as they are. */
    public void leaveForeign(String why) {
        settling.lock();
        try {
            for (Renaming renaming : unfinished.values()) {
                LOG.warn("{} cannot get the name {}: {}", renaming.from(), renaming.to(), why);
                log.over.remove(renaming);
            }
            unfinished.clear();
            free.leave();
        } finally {
            settling.unlock();
        }
    }

    /**
     * Before what has this path is removed or renamed: it may be the only one that can take the name of what it replaces, be about to be
     * replaced, or be a directory with either below it, where neither would be found any more. Waits.
     *
     * @throws StoreException EIO: that is not known
     */
    public void settle(String path) throws StoreException {
        settle(path, "");
    }

    /** The same, before it is renamed to the other path; but if that is what is unfinished, it is the caller's own, again. */
    public void settle(String path, String again) throws StoreException {
        if (unfinishedAt(path, again) != null) {
            settle();
        }
        Renaming left = unfinishedAt(path, again);
        while (left != null && isRefused(left)) {
            left = unfinishedAt(path, again);
        }
        if (left != null) {
            throw new StoreException(
                    Errno.EIO,
                    path + " is not removed or renamed: " + left.from()
                            + " may be the only copy of the file that it was to" + " replace, " + left.to()
                            + ", and Alluxio does not answer; retry when Alluxio answers",
                    null);
        }
    }

    /** Alluxio answers, and refuses to complete it: then it is in nobody's way any more, and both files stay where they are. */
    private boolean isRefused(Renaming renaming) {
        StoreException why = refusals.remove(renaming.from());
        if (why == null) {
            return false;
        }
        LOG.error(
                "{} was lost while being replaced, and {} cannot be renamed to it: {}",
                renaming.to(),
                renaming.from(),
                why.getMessage());
        log.over.remove(renaming);
        unfinished.remove(renaming.from());
        resolved.accept(renaming.from());
        resolved.accept(renaming.to());
        return true;
    }

    private @Nullable Renaming unfinishedAt(String path, String again) {
        for (Renaming renaming : unfinished.values()) {
            boolean isSame = renaming.from().equals(path) && renaming.to().equals(again);
            boolean isReplaced = renaming.from().equals(again);
            if (!isSame && (isReplaced || isAtOrBelow(renaming.from(), path) || isAtOrBelow(renaming.to(), path))) {
                return renaming;
            }
        }
        return null;
    }

    private static boolean isAtOrBelow(String inner, String outer) {
        return inner.startsWith(outer) && (inner.length() == outer.length() || inner.charAt(outer.length()) == '/');
    }

    /** Resolves what is unfinished, now, or if Alluxio does not answer later. Waits; as in a call to Alluxio, a signal ends that. */
    public void settle() {
        if (!settledAll()) {
            settleLater();
        }
    }

    /** False, too, where it is interrupted while another thread asks Alluxio. */
    private boolean settledAll() {
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        try {
            settling.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            remote.end();
        }
        try {
            unfinished.values().removeIf(this::isSettled);
            return unfinished.isEmpty();
        } finally {
            settling.unlock();
        }
    }

    private boolean isSettled(Renaming renaming) {
        String from = renaming.from();
        refusals.remove(from);
        try {
            Outcome found = found(renaming, null);
            if (found == Outcome.BOTH_GONE) {
                LOG.error("{}", RenameFailures.bothGone(renaming));
            }
            if (found != Outcome.IN_PLACE && HiddenNames.isOf(from) && hiddenFiles.has(from)) {
                Existing.orNull(() -> {
                    store.delete(from);
                    return from;
                });
            }
            hiddenFiles.remove(from);
            log.over.remove(renaming);
            resolved.accept(from);
            resolved.accept(renaming.to());
            return true;
        } catch (StoreException e) {
            LOG.debug("The outcome for {} is not known yet: {}", renaming.to(), e.getMessage());
            if (!e.isOutcomeUnknown() && !e.isUnanswered()) {
                refusals.put(from, e);
            }
            return false;
        }
    }

    private void settleLater() {
        retries.retry("unfinished-renames", this::settledAll);
    }

    /** From now on nobody waits for an Alluxio that is away. */
    void hurry() {
        pauses.hurry();
    }
}

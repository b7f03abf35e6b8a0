package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog;
import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.RenameOutcomes.Outcome;
import io.posixgateway.fuse.spi.Errno;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renames files to free names, and looks after such renames, by a copy, that earlier processes were killed in. If Alluxio's master was
 * killed meanwhile, too, the store may have the file under its new name, and Alluxio, in its journal, under the old one: then Alluxio
 * gets it under the new one, with its attributes. Nothing of these is renamed: one that was not done stays undone. Any thread; waits.
 */
final class FreeRenames {
    private static final Logger LOG = LoggerFactory.getLogger(FreeRenames.class);

    private final Store store;
    private final RenameLog log;
    private final RenameOutcomes outcomes;
    private final FileReplacer replacer;
    /** By the path before. */
    private final Map<String, Renaming> inherited = new ConcurrentHashMap<>();

    FreeRenames(Store store, RenameLog log, RenameOutcomes outcomes, FileReplacer replacer) {
        this.store = store;
        this.log = log;
        this.outcomes = outcomes;
        this.replacer = replacer;
    }

    /**
     * Renames a file, or where that is no copy a directory, to a name that nobody has. Waits.
     *
     * <p>Where that is a copy, a master that is killed meanwhile may leave the file under either name, or both, and know of none of it. So
     * after each failure, which may hide such a one, the store is looked at, and Alluxio has both names as they are there.
     *
     * @param renamed the file; null: nothing is known of it
     * @throws StoreException EEXIST: something has the name by now, a copy of the file perhaps, and the file its own; else the file has its
     *     own name alone, unless {@link UnfinishedRenames#has}
     */
    void run(Renaming renaming, @Nullable Attr renamed) throws StoreException {
        if (!store.copiesOnRename(renaming.to())) {
            moveToFree(renaming, renamed);
            return;
        }
        log.free.add(renaming);
        try {
            copyToFree(renaming, renamed);
        } finally {
            log.free.remove(renaming);
        }
    }

    private void takeFree(Renaming renaming) throws StoreException {
        NameReservations.taking(store, renaming.to(), () -> {
            store.rename(renaming.from(), renaming.to(), false);
            return renaming;
        });
    }

    /** The next master refuses it where an earlier one did it, and was stopped before it answered, or confirms what that had only noted. */
    private void moveToFree(Renaming renaming, @Nullable Attr renamed) throws StoreException {
        try {
            takeFree(renaming);
        } catch (StoreException e) {
            Outcome found = e.isOfRepetition() ? outcomes.atOnce(renaming, renamed, null) : null;
            if (found == Outcome.TARGET_MISSING && e.errno() == Errno.EIO) {
                takeFree(renaming);
            } else if (found != Outcome.IN_PLACE) {
                throw e;
            }
        }
    }

    private void copyToFree(Renaming renaming, @Nullable Attr renamed) throws StoreException {
        try {
            takeFree(renaming);
        } catch (StoreException e) {
            if (!e.isOutcomeUnknown() && e.errno() != Errno.EEXIST) {
                throw e;
            }
            Outcome found = replacer.answered(renaming, e, () -> outcomes.of(renaming, renamed, null));
            log.over.remove(renaming);
            if (found == Outcome.TARGET_STAYS) {
                throw new StoreException(Errno.EEXIST, renaming.to() + " exists by now: " + e.getMessage(), e);
            }
            if (found != Outcome.IN_PLACE) {
                throw RenameFailures.of(renaming, found, e);
            }
        }
    }

    /** Takes over what processes that are no more left. */
    void inherit() {
        log.free.inherit().forEach(renaming -> inherited.put(renaming.from(), renaming));
    }

    boolean isEmpty() {
        return inherited.isEmpty();
    }

    /** They are of another Alluxio. */
    void leave() {
        inherited.values().forEach(log.free::remove);
        inherited.clear();
    }

    /** Looks what became of them; false: Alluxio does not answer for some. */
    boolean settle() {
        inherited.values().removeIf(this::isSettled);
        return inherited.isEmpty();
    }

    /** The same of the one from this path, if there is one. */
    void settle(String from) {
        Renaming renaming = inherited.get(from);
        if (renaming != null && isSettled(renaming)) { // under no lock of the map: renames of other files meet it
            inherited.remove(from, renaming);
        }
    }

    private boolean isSettled(Renaming renaming) {
        try {
            outcomes.of(renaming, null, null);
            log.free.remove(renaming);
            return true;
        } catch (StoreException e) {
            LOG.debug("The outcome for {} is not known yet: {}", renaming.from(), e.getMessage());
            return false;
        }
    }
}

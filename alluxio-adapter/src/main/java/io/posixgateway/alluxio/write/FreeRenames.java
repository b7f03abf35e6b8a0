package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.Existing;
import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.recovery.ProcessList;
import io.posixgateway.alluxio.recovery.RenameLog.Renaming;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renames of files to free names, by a copy, that earlier processes were killed in. If Alluxio's master was killed meanwhile, too, the
 * store may have the file under its new name, and Alluxio, in its journal, under the old one: then Alluxio gets it under the new one,
 * with its attributes. Nothing is renamed here: one that was not done stays undone. Any thread; waits.
 */
final class FreeRenames {
    private static final Logger LOG = LoggerFactory.getLogger(FreeRenames.class);

    private final Store store;
    private final ProcessList<Renaming> log;
    private final RenameOutcomes outcomes;
    /** By the path before. */
    private final Map<String, Renaming> inherited = new ConcurrentHashMap<>();

    FreeRenames(Store store, ProcessList<Renaming> log, RenameOutcomes outcomes) {
        this.store = store;
        this.log = log;
        this.outcomes = outcomes;
    }

    /** Takes over what processes that are no more left. */
    void inherit() {
        log.inherit().forEach(renaming -> inherited.put(renaming.from(), renaming));
    }

    boolean isEmpty() {
        return inherited.isEmpty();
    }

    /** They are of another Alluxio. */
    void leave() {
        inherited.values().forEach(log::remove);
        inherited.clear();
    }

    /** Looks what became of them; false: Alluxio does not answer for some. */
    boolean settle() {
        inherited.values().removeIf(this::isSettled);
        return inherited.isEmpty();
    }

    /** The same of the one from this path, if there is one. */
    void settle(String from) {
        inherited.computeIfPresent(from, (key, renaming) -> isSettled(renaming) ? null : renaming);
    }

    private boolean isSettled(Renaming renaming) {
        try {
            FileStatus source = Existing.orNull(() -> store.status(renaming.from()));
            if (source != null && source.id() == renaming.fileId()) {
                outcomes.ofFree(renaming, outcomes.facts(source));
            }
            log.remove(renaming);
            return true;
        } catch (StoreException e) {
            LOG.debug("The outcome for {} is not known yet: {}", renaming.from(), e.getMessage());
            return false;
        }
    }
}

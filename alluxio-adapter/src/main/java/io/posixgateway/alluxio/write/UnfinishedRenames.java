package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.JournalList;
import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.journal.RetryQueue;
import io.posixgateway.alluxio.journal.SillyRenames;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.RenameOutcomes.Outcome;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
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
 * Renames over files of which nobody knows yet what became of them: this process's, and those that earlier ones left. Each is resolved when
 * Alluxio answers, as {@link FileReplacer} has it; whatever would take one of its files away waits for that. Any thread.
 */
public final class UnfinishedRenames {
    private static final Logger LOG = LoggerFactory.getLogger(UnfinishedRenames.class);

    private final Store store;
    private final RetryQueue retries;
    private final JournalList<Renaming> log;
    private final SillyRenames sillyRenames;
    private final RenameOutcomes outcomes;
    /** By the path before. */
    private final Map<String, Renaming> unfinished = new ConcurrentHashMap<>();
    /** Those that Alluxio refused to complete when it was asked last, by the path before. */
    private final Map<String, StoreException> refusals = new ConcurrentHashMap<>();
    /** Hidden files that are left as they are. */
    private final Set<String> spared = ConcurrentHashMap.newKeySet();
    /** Held while Alluxio is asked what became of them, for as long as that takes. */
    private final ReentrantLock settling = new ReentrantLock();

    private volatile Consumer<String> resolved = path -> {};

    UnfinishedRenames(
            Store store,
            RetryQueue retries,
            JournalList<Renaming> log,
            SillyRenames sillyRenames,
            RenameOutcomes outcomes) {
        this.store = store;
        this.retries = retries;
        this.log = log;
        this.sillyRenames = sillyRenames;
        this.outcomes = outcomes;
    }

    /** From now on this hears of each path of which it is known again what has it. On any thread, which may serve a request. */
    public void whenResolved(Consumer<String> listener) {
        resolved = listener;
    }

    /** Nobody knows what became of it. Returns what to say of that. */
    StoreException add(Renaming renaming, StoreException failure) {
        LOG.error(
                "{} may be missing in Alluxio, which failed while replacing it ({}): {} will be renamed to it later",
                renaming.to(),
                failure.getMessage(),
                renaming.from());
        addUnexpected(renaming);
        return new StoreException(
                failure.errno(),
                "Whether " + renaming.from() + " was renamed to " + renaming.to()
                        + " is unknown: either may be missing until Alluxio answers; the rename is completed then: "
                        + failure.getMessage(),
                failure);
    }

    /** The same after a failure that nobody expects, which is thrown on. */
    void addUnexpected(Renaming renaming) {
        log.add(renaming);
        unfinished.put(renaming.from(), renaming);
        settleLater();
    }

    /** Is the file of this path the only one that can take the name of what it replaces? It is not to be deleted then. */
    public boolean has(String from) {
        return unfinished.containsKey(from);
    }

    /** Is this hidden file left as it is, for an operator? */
    public boolean spares(String hidden) {
        return spared.contains(hidden);
    }

    /** Takes over what processes that are no more left unfinished; true if there is something to {@link #settle}. */
    boolean inherit() {
        List<Renaming> inherited = log.inherit();
        inherited.forEach(renaming -> unfinished.put(renaming.from(), renaming));
        return !unfinished.isEmpty();
    }

    /** Is there nothing to {@link #settle}? */
    public boolean isEmpty() {
        return unfinished.isEmpty();
    }

    /** What is unfinished is of another Alluxio, or of another path in it: nothing is done there, and the files stay as they are. */
    void leaveForeign(String why) {
        settling.lock();
        try {
            for (Renaming renaming : unfinished.values()) {
                LOG.warn("{} cannot get the name {}: {}", renaming.from(), renaming.to(), why);
                log.remove(renaming);
            }
            unfinished.clear();
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
        if (at(path, again) != null) {
            settle();
        }
        Renaming left = at(path, again);
        while (left != null && isRefused(left)) {
            left = at(path, again);
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
        unfinished.remove(renaming.from());
        over(renaming);
        return true;
    }

    private void over(Renaming renaming) {
        log.remove(renaming);
        resolved.accept(renaming.from());
        resolved.accept(renaming.to());
    }

    private @Nullable Renaming at(String path, String again) {
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
        if (!isSettled()) {
            settleLater();
        }
    }

    /** False, too, where it is interrupted while another thread asks Alluxio. */
    private boolean isSettled() {
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
            settleNow(renaming);
            sillyRenames.remove(from);
            over(renaming);
            return true;
        } catch (StoreException e) {
            LOG.debug("The outcome for {} is not known yet: {}", renaming.to(), e.getMessage());
            if (!e.isOutcomeUnknown() && !e.isUnanswered()) {
                refusals.put(from, e);
            }
            return false;
        }
    }

    private void settleNow(Renaming renaming) throws StoreException {
        Renaming now = whereItIs(renaming);
        Outcome found = log.isOld(renaming) ? outcomes.of(now, null, null) : outcomes.completed(now, null, null);
        if (found == Outcome.BOTH_GONE) {
            LOG.error("{}", RenameFailures.bothGone(now));
        }
        if (found == Outcome.TARGET_MISSING) {
            LOG.warn("{}", RenameFailures.leftAsItIs(now));
            spared.add(renaming.from());
        } else if (found != Outcome.IN_PLACE && TempNames.isOf(now.from()) && sillyRenames.has(renaming.from())) {
            Existing.orNull(() -> {
                store.delete(now.from());
                return now;
            });
        }
    }

    /** A hidden file is beside what it is to replace: where another client has renamed their directory, both are there by now. */
    private Renaming whereItIs(Renaming renaming) throws StoreException {
        String from = renaming.from();
        if (!TempNames.isOf(from)) {
            return renaming;
        }
        String at = Existing.orNull(() -> store.pathOf(renaming.fileId()));
        if (at == null || !name(at).equals(name(from)) || !directory(from).equals(directory(renaming.to()))) {
            return renaming;
        }
        return new Renaming(at, renaming.fileId(), directory(at) + name(renaming.to()));
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static String directory(String path) {
        return path.substring(0, path.lastIndexOf('/') + 1);
    }

    private void settleLater() {
        retries.retry("unfinished-renames", this::isSettled);
    }
}

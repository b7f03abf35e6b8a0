package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What other clients put where a worker may still write, of which they know nothing: a copy of it is in the spool until the worker has
 * answered, and takes its place again if the worker has overwritten, or removed, it by then. For one thread, which waits.
 *
 * <pre>
 *   another file is there ─► copied ─worker is done─► compared by Alluxio ──same file───────► released
 *             ▲                │                              └────loaded anew, or none──► undone ─► restored ─► released
 *             └─another again──┘
 * </pre>
 *
 * <p>Not so of what is overwritten before the next look at its path, what has no room in the spool, and where this mount has ended: the
 * next process copies what is there then.
 */
final class GuardedFiles implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GuardedFiles.class);
    /** So many paths are looked at each time: the master is not to be asked for all of very many each second. */
    private static final int MAX_LOOKS = 16;

    private final Store store;
    private final SpoolFolder folder;
    private final Committer committer;
    private final Map<String, Guarded> guarded = new ConcurrentHashMap<>();
    private long looks;

    /** One of them. For the thread that looks. */
    private static final class Guarded {
        private FileStatus file;
        /** Null: there is no room for it. */
        private final @Nullable Spool content;
        /** The worker has done it. */
        private boolean undone;

        private Guarded(FileStatus file, @Nullable Spool content) {
            this.file = file;
            this.content = content;
        }
    }

    GuardedFiles(Store store, SpoolFolder folder, Committer committer) {
        this.store = store;
        this.folder = folder;
        this.committer = committer;
    }

    /** Is there none? Any thread. */
    boolean isEmpty() {
        return guarded.isEmpty();
    }

    /**
     * @param paths at which a worker may still write
     * @param isHeld has this mount the content of a file of this id, and looks after it?
     */
    void look(Set<String> paths, LongPredicate isHeld) {
        guarded.keySet().stream().filter(path -> !paths.contains(path)).forEach(this::settle);
        List<String> all = paths.stream().sorted().toList();
        for (int i = 0; i < Math.min(all.size(), MAX_LOOKS); i++) {
            guard(all.get((int) (looks++ % all.size())), isHeld);
        }
    }

    private void guard(String path, LongPredicate isHeld) {
        try {
            FileStatus there = Existing.orNull(() -> store.status(path));
            Guarded known = guarded.get(path);
            if (known != null && there != null && there.id() == known.file.id()) {
                known.file = there; // with other attributes, perhaps
                return;
            }
            release(path);
            if (there != null && !there.directory() && there.complete() && !isHeld.test(there.id())) {
                guarded.put(path, copied(path, there));
            }
        } catch (StoreException e) {
            LOG.debug("{} is copied later: {}", path, e.getMessage());
        }
    }

    private Guarded copied(String path, FileStatus file) throws StoreException {
        if (!hasRoom(file.lengthBytes())) {
            LOG.warn(
                    "Another client wrote {}, which a worker that stopped responding may overwrite; the spool has no room for a"
                            + " copy, so keep one elsewhere until that worker has resumed, or is restarted",
                    path);
            return new Guarded(file, null);
        }
        Spool content = folder.make();
        boolean copied = false;
        try (StoreReader source = store.open(path, file.id())) {
            content.unname();
            content.copyFrom(source, file.lengthBytes());
            copied = true;
        } finally {
            if (!copied) {
                content.close(false);
            }
        }
        return new Guarded(file, content);
    }

    /** Beside what programs write here, which comes first. */
    private boolean hasRoom(long bytes) {
        return bytes <= folder.diskBytes() / 2 && bytes <= folder.mostBytes() / 2 - folder.usedBytes();
    }

    /** The worker is done. */
    private void settle(String path) {
        Guarded known = guarded.get(path);
        if (known == null) {
            return;
        }
        try {
            Spool content = known.content;
            if (content != null && isUndone(path, known)) {
                committer.restore(path, known.file, content);
                LOG.warn(
                        "A worker that had stopped responding overwrote or removed {} late; it is as another client wrote it"
                                + " again",
                        path);
            }
            release(path);
        } catch (StoreException e) {
            LOG.info("Whether a worker has overwritten {} late is not settled yet: {}", path, e.getMessage());
        }
    }

    /** What changes with the comparison alone no client has changed. */
    private boolean isUndone(String path, Guarded known) throws StoreException {
        if (known.undone) {
            FileStatus there = Existing.orNull(() -> store.status(path));
            return there == null || RevivedNames.isLoaded(there);
        }
        FileStatus before = Existing.orNull(() -> store.status(path));
        if (before != null && before.id() == known.file.id()) {
            known.file = before;
            FileStatus after = Existing.orNull(() -> store.compared(path));
            known.undone = after == null || (after.id() != before.id() && RevivedNames.isLoaded(after));
        }
        return known.undone;
    }

    private void release(String path) {
        Guarded known = guarded.remove(path);
        if (known != null && known.content != null) {
            known.content.close(false);
        }
    }

    @Override
    public void close() {
        guarded.keySet().forEach(this::release);
    }
}

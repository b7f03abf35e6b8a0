package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.alluxio.write.RenameOutcomes.Outcome;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves the files of a directory that is renamed entry by entry, some at a time. Any thread. */
final class FileMoves {
    private static final Logger LOG = LoggerFactory.getLogger(FileMoves.class);
    private static final int THREADS = 8;
    /** So long files in flight are waited for after a rename has failed, or its program was killed. */
    private static final long LAST_FILES_SECONDS = 60;

    private final Store store;
    private final Metadata metadata;
    private final AttrDecoder reader;
    private final RenameOutcomes outcomes;

    FileMoves(Store store, Metadata metadata, InodeTable table, AttrDecoder reader) {
        this.store = store;
        this.metadata = metadata;
        this.reader = reader;
        this.outcomes = new RenameOutcomes(store, metadata.clock(), table, reader);
    }

    /** Moves these entries of a directory to another one. Waits. */
    void move(List<FileStatus> files, String from, String to, RenameProgress progress) throws StoreException {
        if (files.isEmpty()) {
            return;
        }
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(THREADS, files.size()), task -> {
            Thread thread = new Thread(task, "rename-directory");
            thread.setDaemon(true);
            return thread;
        });
        List<Future<?>> moves = new ArrayList<>();
        try {
            for (FileStatus file : files) {
                moves.add(threads.submit(() -> {
                    moveFile(from + "/" + file.name(), to + "/" + file.name(), file, progress);
                    progress.moved();
                    return file;
                }));
            }
            for (Future<?> move : moves) {
                await(move);
                progress.check();
            }
        } finally {
            moves.forEach(move -> move.cancel(false));
            threads.shutdown();
            awaitEnd(threads);
        }
    }

    /** Files that are under way arrive before anybody may go by the paths again; one that Alluxio does not answer for is left behind. */
    private static void awaitEnd(ExecutorService threads) {
        boolean interrupted = Thread.interrupted();
        try {
            if (!threads.awaitTermination(LAST_FILES_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("Files of a directory may still be moving, although its rename ended: Alluxio does not"
                        + " answer");
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** As in a call to Alluxio that copies: the wait ends when the program is killed, or has no end. */
    private static void await(Future<?> move) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        remote.beginUnlimited();
        try {
            move.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted while renaming a directory", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof StoreException failure
                    ? failure
                    : new StoreException(Errno.EIO, "A file of the directory could not be moved: " + e.getCause(), e);
        } finally {
            remote.endUnlimited();
            remote.end();
        }
    }

    private void moveFile(String from, String to, FileStatus source, RenameProgress progress) throws StoreException {
        if (!source.complete()) {
            throw new StoreException(Errno.EBUSY, from + " is being written by another client", null);
        }
        try {
            store.rename(from, to, false);
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return; // another client removed it, or an earlier attempt has moved it since it was listed
            }
            boolean refused = e.errno() == Errno.EIO && !e.isUnanswered();
            if ((!refused && e.errno() != Errno.EEXIST) || !isOver(from, to, source, refused, progress)) {
                throw e;
            }
        }
    }

    /**
     * A master may have ended when the store had a copy that Alluxio did not know of, with the original or without it. Is nothing left to
     * move? A file of another client that is in the way stays. One that others removed from the store alone is no file any more.
     *
     * @param finishes what has the name was unknown to Alluxio: if it is a copy of the file, that replaces it
     */
    private boolean isOver(String from, String to, FileStatus source, boolean finishes, RenameProgress progress)
            throws StoreException {
        Renaming renaming = new Renaming(from, source.id(), to);
        Outcome found = outcomes.of(renaming, reader.read(source, metadata.nowNanos()), null);
        if (found == Outcome.TARGET_STAYS && finishes && isCopy(from, to)) {
            store.rename(from, to, true);
            return true;
        }
        if (found == Outcome.BOTH_GONE) {
            progress.removed(from);
        }
        return found != Outcome.TARGET_STAYS && found != Outcome.TARGET_MISSING;
    }

    /** A copy in parts has another ETag: then both are read. */
    private boolean isCopy(String from, String to) throws StoreException {
        FileDetails original = store.details(from);
        FileDetails copy = store.details(to);
        boolean isAsLong = !copy.status().directory()
                && copy.status().lengthBytes() == original.status().lengthBytes();
        return isAsLong
                && (copy.hasContentOf(original) || digest(from, original).equals(digest(to, copy)));
    }

    private String digest(String path, FileDetails file) throws StoreException {
        try (StoreReader content = store.open(path, file.status().id())) {
            return ContentDigest.of(content::read, file.status().lengthBytes());
        }
    }
}

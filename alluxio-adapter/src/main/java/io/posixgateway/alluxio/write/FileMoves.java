package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.LostAttributes;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
    private final InodeTable table;
    private final AttrDecoder reader;
    private final LostAttributes lost;

    FileMoves(Store store, Metadata metadata, InodeTable table, AttrDecoder reader) {
        this.store = store;
        this.metadata = metadata;
        this.table = table;
        this.reader = reader;
        this.lost = new LostAttributes(store);
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
        List<Future<?>> pathLocks = new ArrayList<>();
        try {
            for (FileStatus file : files) {
                pathLocks.add(threads.submit(() -> {
                    moveFile(from + "/" + file.name(), to + "/" + file.name(), file);
                    progress.moved();
                    return file;
                }));
            }
            for (Future<?> move : pathLocks) {
                await(move);
                progress.check();
            }
        } finally {
            pathLocks.forEach(move -> move.cancel(false));
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

    private void moveFile(String from, String to, FileStatus source) throws StoreException {
        if (!source.complete()) {
            throw new StoreException(Errno.EBUSY, from + " is being written by another client", null);
        }
        try {
            store.rename(from, to, false);
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return; // another client removed it, or an earlier attempt has moved it since it was listed
            }
            if (e.errno() == Errno.EEXIST && isFoundMoved(from, to, source)) {
                return;
            }
            FileStatus copy = e.errno() != Errno.EIO || e.isUnanswered() ? null : orNull(to);
            if (copy == null || copy.directory() || copy.lengthBytes() != source.lengthBytes()) {
                throw e;
            }
            finishCopied(from, to, source, copy);
        }
    }

    /**
     * A master ended after the copy, so that the store has a file here that Alluxio did not know of. Where it has deleted the original,
     * too, the copy is the only one, and stays.
     */
    private void finishCopied(String from, String to, FileStatus source, FileStatus copy) throws StoreException {
        if (copy.xattrs().isEmpty()) {
            lost.restore(to, copy, reader.read(source, metadata.nowNanos())); // first, while they are known
        }
        if (orNull(from) != null) {
            store.rename(from, to, true);
            return;
        }
        adopt(to, source, store.status(to));
    }

    /**
     * Did a master end when the store had moved it, and has Alluxio found the copy by itself since? What is left of the original is in
     * Alluxio alone. False: both are there, and the other may be of another client.
     */
    private boolean isFoundMoved(String from, String to, FileStatus source) throws StoreException {
        if (orNull(from) != null) {
            return false;
        }
        FileStatus there = orNull(to);
        if (there != null && !there.directory() && there.lengthBytes() == source.lengthBytes()) {
            adopt(to, source, there);
        }
        return true;
    }

    /** What is there is the file. */
    private void adopt(String to, FileStatus source, FileStatus there) throws StoreException {
        if (there.xattrs().isEmpty()) {
            lost.restore(to, there, reader.read(source, metadata.nowNanos()));
        }
        Inode known = table.known(source.id());
        if (known != null && table.adopt(known, there.id(), metadata.nowNanos())) {
            known.invalidateAttr(table.generation().changed());
        }
    }

    /** What is there after a look at the under file system; null: nothing. */
    private @Nullable FileStatus orNull(String path) throws StoreException {
        return Existing.orNull(() -> store.compared(path));
    }
}

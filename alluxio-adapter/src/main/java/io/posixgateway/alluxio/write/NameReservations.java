package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.CreationLog;
import io.posixgateway.alluxio.journal.CreationLog.Creation;
import io.posixgateway.alluxio.journal.RetryQueue;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The names that are being taken in Alluxio for new files. Any thread; waits.
 *
 * <p>A creation has a number, made of what nobody else has: the name of its spool file. Alluxio remembers the numbers of what
 * it did, in its journal too: asked with the same number again it makes nothing, and answers with what is at the path. So a
 * creation whose answer was lost is found again, and its incomplete file, which is in everyone's way, is removed. That of another client
 * has not the attributes that were asked for. A file that was made, and whose upload came to nothing, is known by its id.
 *
 * <p>What cannot be removed now stands in the volume's journal until it is, by this process or the next one. Before a creation is requested
 * it stands there, or in the record beside its spool file.
 */
public final class NameReservations {
    private static final Logger LOG = LoggerFactory.getLogger(NameReservations.class);
    private static final int UNUSED_MODE = 0600;
    /** What says that nothing of a creation is there: its path is missing, another file's, or below a file. */
    private static final Set<Integer> GONE = Set.of(Errno.ENOENT, Errno.EEXIST, Errno.EINVAL);

    private final Store store;
    private final CreationLog log;
    private final RetryQueue retries;
    /** Those whose file is to be removed, if there is one, by number. */
    private final Map<UUID, Creation> left = new ConcurrentHashMap<>();
    /** Held while one is undone, for as long as Alluxio takes. */
    private final ReentrantLock settling = new ReentrantLock();

    private volatile Consumer<String> resolved = path -> {};

    public NameReservations(Store store, CreationLog log, RetryQueue retries) {
        this.store = store;
        this.log = log;
        this.retries = retries;
    }

    /** From now on this hears of each path of which it is known again what has it. On any thread. */
    public void whenResolved(Consumer<String> listener) {
        resolved = listener;
    }

    /** Takes the dirty file's name in Alluxio; the dirty file ends with a failure. */
    public StoreWriter take(PendingCreate dirtyFile) throws StoreException {
        FileStatus planned = dirtyFile.content().status();
        Creation creation = dirtyFile.creation();
        String path = creation.path();
        boolean sent = false;
        try {
            settle(path);
            sent = true;
            note(dirtyFile, creation);
            StoreWriter sink =
                    taking(store, path, () -> store.create(path, planned.mode(), planned.xattrs(), creation.number()));
            note(dirtyFile, creation.made(sink.fileId(), sink.madeMillis()));
            return sink;
        } catch (StoreException e) {
            if (sent && e.isOutcomeUnknown()) {
                leave(creation);
            } else {
                log.remove(creation);
            }
            dirtyFile.abandon();
            throw e;
        }
    }

    /** Where a record says it, the next process has it from there. */
    private void note(PendingCreate dirtyFile, Creation creation) {
        if (!dirtyFile.record.isStored()) {
            log.add(creation);
        }
    }

    /** The dirty file of this file has ended, complete or not. */
    void ended(@Nullable Creation creation) {
        if (creation != null) {
            log.remove(creation);
        }
    }

    /** The name was taken, but nothing comes of its file; where Alluxio does not answer now it is given back later. The dirty file ends. */
    public void giveBack(PendingCreate dirtyFile, StoreWriter sink) {
        remove(dirtyFile.content().path(), sink.fileId(), false);
        log.remove(dirtyFile.creation());
        dirtyFile.abandon();
    }

    /**
     * Removes the file of this id, if it is incomplete: of one that was made here, and came to nothing. Now, or when Alluxio answers.
     *
     * @param uploaded has an upload of this process begun, which may have put it into the under file system?
     */
    void remove(String path, long fileId, boolean uploaded) {
        try {
            AbandonedCreates.remove(store, fileId, 0, uploaded);
        } catch (StoreException e) {
            LOG.info("The incomplete file {} cannot be removed yet: {}", path, e.getMessage());
            leave(Creation.left(path, fileId, uploaded));
        }
    }

    private void leave(Creation creation) {
        log.add(creation);
        left.put(creation.number(), creation);
        undoLater();
    }

    private void undoLater() {
        retries.start("unfinished-creations", this::isSettled);
    }

    /** Takes over what earlier processes left, of this Alluxio. */
    public void inherit() {
        log.inherit().forEach(creation -> left.put(creation.number(), creation));
        if (!left.isEmpty()) {
            undoLater();
        }
    }

    /** Finds out about all of them, as far as Alluxio answers. */
    private boolean isSettled() {
        for (Creation creation : left.values()) {
            try {
                settle(creation);
            } catch (StoreException e) {
                LOG.debug("The outcome for {} is not known yet: {}", creation.path(), e.getMessage());
            }
        }
        return left.isEmpty();
    }

    /** For good: what Alluxio does not answer now is the next process's. */
    void close() {
        if (!isSettled()) {
            LOG.info("{} incomplete files are left for the next mount to remove", left.size());
        }
        left.clear();
    }

    /** Another Alluxio answers than the one in which these names were to be taken: at them is nothing of this mount. */
    public void forget() {
        left.clear();
        log.present().forEach(log::remove);
    }

    /** Before something else takes this name: what is undone afterwards could be that. */
    public void settle(String path) throws StoreException {
        for (Creation creation : left.values()) {
            if (creation.path().equals(path)) {
                settle(creation);
            }
        }
    }

    private void settle(Creation creation) throws StoreException {
        lock(creation.path());
        try {
            if (left.containsKey(creation.number())) {
                undo(store, creation);
                left.remove(creation.number());
                log.remove(creation);
                resolved.accept(creation.path());
            }
        } finally {
            settling.unlock();
        }
    }

    /** Whoever takes the name next waits until it is free. */
    private void lock(String path) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        remote.begin();
        try {
            settling.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted while undoing an earlier creation of " + path + "", e);
        } finally {
            remote.end();
        }
    }

    /**
     * Removes the file that this creation made or, as it may still be on its way, will make.
     *
     * @throws StoreException Alluxio does not answer, or refuses for now, as when its under file system fails: it may be there still
     */
    static void undo(Store store, Creation creation) throws StoreException {
        try {
            if (creation.fileId() != 0) {
                AbandonedCreates.remove(store, creation.fileId(), creation.createdSeconds(), creation.isUploaded());
            } else {
                undoUnanswered(store, creation);
            }
        } catch (StoreException e) {
            if (e.isOfRepetition() || !GONE.contains(e.errno())) {
                throw e;
            }
        }
    }

    private static void undoUnanswered(Store store, Creation creation) throws StoreException {
        String stamp = creation.stamp();
        Map<String, byte[]> xattrs = stamp.isEmpty()
                ? Map.of()
                : Map.of(PosixXattr.XATTR, HexFormat.of().parseHex(stamp));
        Existing.orNull(() -> store.compared(creation.path())); // what is there is not to be made anew
        long made = store.create(creation.path(), UNUSED_MODE, xattrs, creation.number())
                .fileId();
        FileStatus there = store.status(creation.path());
        boolean ours = there.id() == made && !there.complete() && stamp(there).equals(stamp);
        if (ours && there.lengthBytes() == 0) {
            store.forget(creation.path());
        }
    }

    /** The times in it are told to the nanosecond. */
    static String stamp(FileStatus file) {
        byte[] extras = file.xattrs().get(PosixXattr.XATTR);
        return extras == null ? "" : HexFormat.of().formatHex(extras);
    }

    /** What takes a name. */
    @FunctionalInterface
    public interface Taking<T> {
        T run() throws StoreException;
    }

    /**
     * Takes a name that nobody saw. Where Alluxio finds it taken all the same, it is asked to compare with the under file
     * system, and once more: a name that was being renamed or deleted while Alluxio loaded the directory's names may have come
     * back to life in Alluxio alone; and an answer that got lost made Alluxio's client ask twice.
     */
    public static <T> T taking(Store store, String path, Taking<T> work) throws StoreException {
        try {
            return work.run();
        } catch (StoreException e) {
            if (e.errno() != Errno.EEXIST) {
                throw e;
            }
            Existing.orNull(() -> store.compared(path));
            return again(work, e.isOfRepetition());
        }
    }

    private static <T> T again(Taking<T> work, boolean repeated) throws StoreException {
        try {
            return work.run();
        } catch (StoreException e) {
            throw repeated ? e.ofRepetition() : e;
        }
    }
}

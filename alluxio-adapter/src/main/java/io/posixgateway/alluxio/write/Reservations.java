package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.Existing;
import io.posixgateway.alluxio.client.FileSink;
import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.recovery.DraftRecord;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The names that are being taken in Alluxio for new files. Any thread; waits.
 *
 * <p>A creation has a number, made of what nobody else has: the name of its spool file. Alluxio remembers the numbers of what
 * it did, in its journal too: asked with the same number again it makes nothing, and answers with what was made. So a
 * creation whose answer was lost is found again, by this process or the next one, and its incomplete file, which is in
 * everyone's way, is removed; never that of another client.
 */
public final class Reservations {
    private static final Logger LOG = LoggerFactory.getLogger(Reservations.class);

    private final Store store;
    private final Map<String, NewDraft> unsure = new ConcurrentHashMap<>();
    /** Held while one is undone, for as long as Alluxio takes. */
    private final ReentrantLock settling = new ReentrantLock();

    private final AtomicBoolean requested = new AtomicBoolean();
    private volatile Consumer<String> resolved = path -> {};

    public Reservations(Store store) {
        this.store = store;
    }

    /** From now on this hears of each path of which it is known again what has it. On any thread. */
    public void whenResolved(Consumer<String> listener) {
        resolved = listener;
    }

    /** The number of the creation that this spool file belongs to. */
    static UUID number(Path spool, String path) {
        String unique = spool.getFileName() + " " + path;
        return UUID.nameUUIDFromBytes(unique.getBytes(StandardCharsets.UTF_8));
    }

    /** Takes the draft's name in Alluxio; the draft ends with a failure. */
    public FileSink take(NewDraft draft) throws StoreException {
        DraftRecord.Content content = draft.content();
        String path = content.path();
        try {
            settle(path);
            return taking(store, path, () -> create(store, content, draft.number()));
        } catch (StoreException e) {
            if (!e.isOutcomeUnknown() || unsure.putIfAbsent(path, draft) != null) {
                draft.abandon();
            }
            throw e;
        }
    }

    /** The name was taken, but nothing comes of its file; where Alluxio does not answer now it is given back later. The draft ends. */
    public void giveBack(NewDraft draft) {
        DraftRecord.Content content = draft.content();
        try {
            undo(store, content, draft.number());
        } catch (StoreException e) {
            LOG.debug("{} is not released yet: {}", content.path(), e.getMessage());
            if (unsure.putIfAbsent(content.path(), draft) == null) {
                return;
            }
        }
        draft.abandon();
    }

    private static FileSink create(Store store, DraftRecord.Content content, UUID number) throws StoreException {
        FileStatus planned = content.status();
        return store.create(content.path(), planned.mode(), planned.xattrs(), number);
    }

    /** Are there creations whose outcome is not known, and nobody is to {@link #settle()} them yet? Then the one who asks is. */
    public boolean isToSettle() {
        return !unsure.isEmpty() && !requested.getAndSet(true);
    }

    /** Finds out about all creations whose outcome is not known, as far as Alluxio answers. */
    public void settle() {
        requested.set(false);
        for (String path : unsure.keySet()) {
            try {
                settle(path);
            } catch (StoreException e) {
                LOG.debug("The outcome for {} is not known yet: {}", path, e.getMessage());
            }
        }
    }

    /** For good: what Alluxio does not answer now stays as it is. */
    void close() {
        settle();
        unsure.values().forEach(NewDraft::abandon);
        unsure.clear();
    }

    /** Another Alluxio answers than the one in which these names were to be taken: at them is nothing of this mount. */
    public void forget() {
        unsure.forEach((path, draft) -> {
            if (unsure.remove(path, draft)) {
                draft.abandon();
            }
        });
    }

    private void settle(String path) throws StoreException {
        if (!unsure.containsKey(path)) {
            return;
        }
        lock(path);
        try {
            NewDraft before = unsure.get(path);
            if (before != null) {
                undo(store, before.content(), before.number());
                if (unsure.remove(path, before)) {
                    before.abandon();
                }
                resolved.accept(path);
            }
        } finally {
            settling.unlock();
        }
    }

    /** Whoever takes the name next waits until it is free: what is undone afterwards could be theirs. */
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
     * @throws StoreException Alluxio does not answer
     */
    static void undo(Store store, DraftRecord.Content content, UUID number) throws StoreException {
        try {
            long made = create(store, content, number).fileId();
            FileStatus there = store.status(content.path());
            if (there.id() == made && !there.complete() && there.lengthBytes() == 0) {
                store.delete(content.path());
            }
        } catch (StoreException e) {
            if (e.isOutcomeUnknown()) {
                throw e;
            }
        }
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
            return work.run();
        }
    }
}

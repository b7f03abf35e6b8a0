package io.posixgateway.alluxio.cache;

import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.posix.PosixExtras;
import io.posixgateway.fuse.jni.FreeThread;
import io.posixgateway.fuse.spi.Errno;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this mount's own changes do to the times of directories. Any thread.
 *
 * <p>What is shown is what will be shown later, here and on other mounts: the master's time of the last change of names. The master
 * says it of a file that it makes. Of what is taken away it does not; then it is asked before the directory is shown again.
 *
 * <p>Content that is published takes the place of a file by a rename, which moves the master's time of the directory, though no name
 * was changed; so does the end of a file that was deleted while it was open. What the master's clock says at the end of that is known
 * from the last file that was made, at most; a later time means that others changed the directory. As long as it is not later,
 * what was shown stays. It is put into the directory's attribute, which counts while the master's time stays, a moment after the
 * last such change, or when the directory is asked for before.
 */
public final class DirectoryTimes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryTimes.class);
    /** Two clocks differ in speed by less than one part in so many. */
    private static final long DRIFT = 10_000;

    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** So many directories are seen to when another process takes over, which waits for that. */
    private static final int MOST_LEFT = 100;

    private final Metadata metadata;
    private final Store store;
    private final FactsReader reader;
    /** By node; guarded by this. */
    private final Map<Long, Window> windows = new HashMap<>();

    private volatile boolean any;
    private volatile @Nullable Made lastMade;
    private boolean closed;
    private @Nullable Thread thread;

    DirectoryTimes(Metadata metadata, Store store, FactsReader reader) {
        this.metadata = metadata;
        this.store = store;
        this.reader = reader;
    }

    /** The master made a file at this time, by its clock, after this one by ours. */
    private record Made(long millis, long beganNanos) {
        /** What the master's clock says now, at most. */
        long millisAtMost(long nowNanos) {
            long elapsed = nowNanos - beganNanos;
            return millis + TimeUnit.NANOSECONDS.toMillis(elapsed + elapsed / DRIFT) + 1;
        }
    }

    /** When the master's time of a directory is of publications here, by its clock. Guarded by the whole. */
    private static final class Window {
        private final Inode directory;
        /** Publications that have begun, and those of them that may have moved the time. */
        private int begun;

        private int moving;
        private long fromMillis = Long.MAX_VALUE;
        private long toMillis = Long.MIN_VALUE;
        /** Our attribute as Alluxio has it. */
        private byte @Nullable [] attribute;
        /** Alluxio does not take it from us. */
        private boolean refused;

        private Window(Inode directory) {
            this.directory = directory;
        }

        private boolean has(FileStatus status) {
            long millis = status.modifiedMillis();
            return millis >= fromMillis
                    && (moving > 0 || millis <= toMillis)
                    && Arrays.equals(attribute, status.xattrs().get(PosixExtras.XATTR));
        }
    }

    /** A name was taken away, or moved. */
    public void namesChanged(Inode directory) {
        if (any) {
            synchronized (this) {
                windows.remove(directory.node());
            }
        }
        directory.timesAreOld();
    }

    /**
     * A file was made in the directory.
     *
     * @param millis the master's time of that; 0: not known
     */
    public void nameMade(Inode directory, long millis) {
        if (millis == 0) {
            namesChanged(directory);
            return;
        }
        Facts before = directory.facts();
        while (before != null && before.raw().modifiedMillis() < millis) {
            Facts now = reader.read(before.raw().modified(millis), before.fetchedNanos());
            if (directory.madeIn(before, now)) {
                return;
            }
            before = directory.facts();
        }
    }

    /** One change that is none of names. For one thread. */
    public final class Replacement implements AutoCloseable {
        private final @Nullable Window window;
        private final long beganNanos = metadata.nowNanos();

        private Replacement(@Nullable Window window) {
            this.window = window;
        }

        /** A file was made, since this began, at this time of the master's clock; 0: not known. */
        public void made(long millis) {
            if (millis != 0) {
                lastMade = new Made(millis, beganNanos);
            }
        }

        /** The change is over, made or not. */
        @Override
        public void close() {
            if (window != null) {
                Made made = lastMade;
                end(window, made == null ? Long.MIN_VALUE : made.millisAtMost(metadata.nowNanos()));
            }
        }
    }

    /**
     * What is in the directory is about to be replaced by its new content, or a name that nobody sees to go. Waits: what others did before is to be seen first.
     *
     * @param directory null: not known
     */
    public Replacement replacing(@Nullable Inode directory) {
        if (directory == null) {
            return new Replacement(null);
        }
        Window window = begin(directory);
        try {
            move(window, metadata.refresh(directory));
            return new Replacement(window);
        } catch (StoreException e) {
            LOG.debug("The time of node {} is not known: {}", directory.node(), e.getMessage());
            end(window, Long.MIN_VALUE);
            return new Replacement(null);
        }
    }

    private synchronized Window begin(Inode directory) {
        Window window = windows.computeIfAbsent(directory.node(), node -> new Window(directory));
        window.begun++;
        any = true;
        return window;
    }

    private synchronized void move(Window window, Facts seen) {
        FileStatus raw = seen.raw();
        if (window.fromMillis == Long.MAX_VALUE) {
            window.fromMillis = raw.modifiedMillis();
            window.attribute = raw.xattrs().get(PosixExtras.XATTR);
        }
        window.moving++;
    }

    private synchronized void end(Window window, long toMillis) {
        window.begun--;
        window.moving = Math.max(0, window.moving - 1);
        window.toMillis = Math.max(window.toMillis, toMillis);
        if (window.begun == 0 && window.toMillis == Long.MIN_VALUE) {
            windows.remove(window.directory.node(), window);
        }
        if (thread == null && !closed && windows.get(window.directory.node()) == window) {
            thread = new FreeThread(this::look, "directory-times");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private synchronized @Nullable Window of(Inode directory) {
        return windows.get(directory.node());
    }

    /** May what is said of the directory be of publications here? */
    boolean concern(Inode directory) {
        return any && of(directory) != null;
    }

    /** What Alluxio says of a directory, with the times that were shown, if only publications here have moved its own since. */
    FileStatus seen(Inode directory, FileStatus status) {
        Window window = any && status.directory() ? of(directory) : null;
        Facts before = directory.facts();
        if (window == null || before == null || before.raw().modifiedMillis() == status.modifiedMillis()) {
            return status;
        }
        synchronized (this) {
            if (directory.areTimesOld() || !window.has(status)) {
                if (window.begun == 0) {
                    windows.remove(directory.node(), window);
                }
                return status;
            }
        }
        return AttributeEdit.shown(status, before);
    }

    /** Keeps in Alluxio what is shown, if it is to be kept. Waits. */
    void settle(Inode directory, FileStatus shown) {
        Window window = any && shown.directory() ? of(directory) : null;
        byte[] attribute = shown.xattrs().get(PosixExtras.XATTR);
        if (window == null || attribute == null || !isSettled(window, attribute)) {
            return;
        }
        try {
            Store.Change change = new Store.Change(null, null, null, Map.of(PosixExtras.XATTR, attribute));
            store.change(metadata.pathOf(directory), change);
            settled(window);
        } catch (StoreException e) {
            LOG.debug("The time of node {} is kept by this process alone: {}", directory.node(), e.getMessage());
            refused(window);
        }
    }

    private synchronized boolean isSettled(Window window, byte[] attribute) {
        return window.begun == 0 && !window.refused && !Arrays.equals(window.attribute, attribute);
    }

    private synchronized void refused(Window window) {
        window.refused = true;
    }

    private synchronized void settled(Window window) {
        if (window.begun == 0) {
            windows.remove(window.directory.node(), window);
        }
    }

    private void look() {
        while (waited()) {
            settleAll(Integer.MAX_VALUE);
        }
    }

    /** False: there is nothing left to do. */
    private synchronized boolean waited() {
        try {
            metadata.clock().waitOn(this, QUIET_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closed = true;
        }
        boolean goesOn = !closed && windows.values().stream().anyMatch(window -> !window.refused);
        if (!goesOn) {
            thread = null;
        }
        return goesOn;
    }

    private void settleAll(int most) {
        List<Window> all;
        synchronized (this) {
            all = new ArrayList<>(windows.values());
        }
        boolean answers = true;
        for (int i = 0; i < all.size() && i < most && answers; i++) {
            answers = settle(all.get(i));
        }
    }

    /** False: Alluxio does not answer. */
    private boolean settle(Window window) {
        synchronized (this) {
            if (window.begun > 0 || window.refused) {
                return true;
            }
        }
        boolean answered = true;
        try {
            metadata.refresh(window.directory);
        } catch (StoreException e) {
            LOG.debug("The time of node {} moves: {}", window.directory.node(), e.getMessage());
            answered = e.errno() == Errno.ESTALE || e.errno() == Errno.ENOENT;
        }
        settled(window);
        return answered;
    }

    /** Keeps in Alluxio what is to be kept; nothing is published any more. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        settleAll(MOST_LEFT);
    }
}

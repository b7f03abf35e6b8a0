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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this mount's own changes do to the times of directories. Any thread.
 *
 * <p>The master does not say which time a directory gets from a change of its names; to ask after each, before the kernel looks at the
 * directory again, which it does with the next name, would double the calls. But no such time is later than what the master's clock says at
 * the end of the call, and that is known from the last file that was made, at most. So this is what is shown at once. When the master is
 * asked for the directory next and its time is not later, nobody else has changed the directory since, and what was shown is put into the
 * directory's attribute, which counts while the master's time stays.
 *
 * <p>Content that is published takes the place of a file by a rename, which moves the master's time of the directory, too, though no
 * name was changed; so does the end of a file that was deleted while it was open. What was shown stays in the same way. As other mounts
 * would see the time move, and for long, the directory is then asked for a moment after the last publication.
 */
public final class DirectoryTimes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryTimes.class);
    /** Two clocks differ in speed by less than one part in so many. */
    private static final long DRIFT = 10_000;

    /** The master's clock may be set. */
    private static final long LEARNED_NANOS = TimeUnit.SECONDS.toNanos(60);
    /** More are forgotten, the first ones first: their times may then be others by a moment. */
    private static final int MOST_WINDOWS = 10_000;

    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** So many directories are seen to when another process takes over, which waits for that. */
    private static final int MOST_LEFT = 300;

    private final Metadata metadata;
    private final Store store;
    private final FactsReader reader;
    /** By node; guarded by this. */
    private final Map<Long, Window> windows = new LinkedHashMap<>();

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

    /** When the master's time of a directory is of changes here, by its clock. Guarded by the whole. */
    private static final class Window {
        private final Inode directory;
        /** With the times that were shown last. */
        private @Nullable Facts shown;
        /** Publications that have begun, and those of them that may have moved the time. */
        private int begun;

        private int moving;
        private long fromMillis = Long.MAX_VALUE;
        private long toMillis = Long.MIN_VALUE;
        /** Our attribute as Alluxio has it. */
        private byte @Nullable [] attribute;
        /** Alluxio does not take it from us. */
        private boolean refused;
        /** Publications are over that moved the time. */
        private boolean moved;

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
        Made made = lastMade;
        if (made == null) {
            directory.timesAreOld();
        } else {
            changed(directory, made.millisAtMost(metadata.nowNanos()));
        }
    }

    /**
     * A file was made in the directory.
     *
     * @param millis when, by the master's clock; 0: not known
     * @param beganNanos when the call began, by ours
     */
    public void nameMade(Inode directory, long millis, long beganNanos) {
        if (millis == 0) {
            namesChanged(directory);
        } else {
            learn(new Made(millis, beganNanos));
            changed(directory, millis);
        }
    }

    /** The longer a call took, the less it says: the one that says most counts, for a while. */
    private synchronized void learn(Made made) {
        Made before = lastMade;
        long now = metadata.nowNanos();
        if (before == null
                || now - before.beganNanos > LEARNED_NANOS
                || made.millisAtMost(now) <= before.millisAtMost(now)) {
            lastMade = made;
        }
    }

    /** The directory is no more, or Alluxio has just taken its attribute from us, and knows all. */
    public synchronized void settled(Inode directory) {
        windows.remove(directory.node());
    }

    /** The names were changed, at the latest then by the master's clock. */
    private void changed(Inode directory, long millis) {
        for (Facts before = directory.facts(); before != null; before = directory.facts()) {
            FileStatus raw = before.raw();
            Facts now = reader.read(raw.modified(Math.max(millis, raw.modifiedMillis())), before.fetchedNanos());
            expect(directory, raw, now);
            if (directory.namesChanged(before, now)) {
                return;
            }
        }
    }

    private synchronized void expect(Inode directory, FileStatus known, Facts now) {
        Window window = window(directory);
        window.shown = now;
        if (window.fromMillis == Long.MAX_VALUE) {
            window.attribute = known.xattrs().get(PosixExtras.XATTR);
        }
        window.fromMillis = Long.MIN_VALUE;
        window.toMillis = Math.max(window.toMillis, now.raw().modifiedMillis());
    }

    /** Guarded by this. */
    private Window window(Inode directory) {
        Window window = windows.computeIfAbsent(directory.node(), node -> new Window(directory));
        any = true;
        if (windows.size() > MOST_WINDOWS) {
            windows.remove(windows.keySet().iterator().next());
        }
        return window;
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
                learn(new Made(millis, beganNanos));
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
     * What is in the directory is about to be replaced by its new content, or a name that nobody sees to go. Waits: what others
     * did before is to be seen first.
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
        Window window = window(directory);
        window.begun++;
        return window;
    }

    private synchronized void move(Window window, Facts seen) {
        FileStatus raw = seen.raw();
        window.shown = seen;
        if (window.fromMillis == Long.MAX_VALUE) {
            window.fromMillis = raw.modifiedMillis();
            window.attribute = raw.xattrs().get(PosixExtras.XATTR);
        }
        window.moving++;
    }

    private synchronized void end(Window window, long toMillis) {
        window.begun--;
        window.moving = Math.max(0, window.moving - 1);
        window.moved = true;
        window.toMillis = Math.max(window.toMillis, toMillis);
        if (window.begun == 0 && window.toMillis == Long.MIN_VALUE) {
            windows.remove(window.directory.node(), window);
        }
        if (windows.get(window.directory.node()) == window) {
            lookLater();
        }
    }

    /** Guarded by this. */
    private void lookLater() {
        if (thread == null && !closed) {
            thread = new FreeThread(this::look, "directory-times");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private synchronized @Nullable Window of(Inode directory) {
        return windows.get(directory.node());
    }

    /** May what is said of the directory be of changes here? */
    boolean concern(Inode directory) {
        return any && of(directory) != null;
    }

    /** What Alluxio says of a directory, with the times that were shown, if only changes here have moved its own since. */
    FileStatus seen(Inode directory, FileStatus status) {
        Window window = any && status.directory() ? of(directory) : null;
        Facts seen = directory.facts();
        Facts before = seen != null || window == null ? seen : window.shown;
        if (window == null || before == null || before.sameTimes(reader.read(status, 0))) {
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
            settleAll(Integer.MAX_VALUE, true);
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
        boolean goesOn = !closed && windows.values().stream().anyMatch(window -> window.moved && !window.refused);
        if (!goesOn) {
            thread = null;
        }
        return goesOn;
    }

    /** @param moved only where publications moved the time */
    private void settleAll(int most, boolean moved) {
        List<Window> all;
        synchronized (this) {
            all = new ArrayList<>(windows.values());
            all.removeIf(window -> moved && !window.moved);
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

    /** Another process goes on with the mount, and waits for this one: keeps in Alluxio what does not take long. */
    public void leave() {
        end(MOST_LEFT);
    }

    /** Keeps in Alluxio what is to be kept; nothing is changed any more. */
    @Override
    public void close() {
        end(Integer.MAX_VALUE);
    }

    private void end(int most) {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        settleAll(most, false);
    }
}

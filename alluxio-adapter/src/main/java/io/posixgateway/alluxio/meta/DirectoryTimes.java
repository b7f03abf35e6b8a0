package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Supervised;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
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
 * <p>Content that is committed takes the place of a file by a rename, which moves the master's time of the directory, too, though no
 * name was changed; so does the end of a file that was deleted while it was open. What was shown stays in the same way. As other mounts
 * would see the time move, and for long, the directory is then asked for a moment after the last commit.
 *
 * <p>Who writes the directory's attribute does so {@link #alone}, or a program's change would be overwritten by what was seen before it.
 * The lock is taken behind {@link io.posixgateway.alluxio.meta.PathLocks} and that of a dirty file, before this object's monitor. Only a program's
 * change waits for it; what is kept for the times' sake is kept later where somebody has it.
 */
public final class DirectoryTimes implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryTimes.class);
    /** Two clocks differ in speed by less than one part in so many. */
    private static final long DRIFT = 10_000;
    /** The master's clock may be set. */
    private static final long LEARNED_NANOS = TimeUnit.SECONDS.toNanos(60);
    /** More are forgotten, the first ones first: their times may then be others by a moment. */
    private static final int MAX_WINDOWS = 10_000;

    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** So many directories are seen to when another process takes over, which waits for that. */
    private static final int MAX_LEFT = 300;
    /** As programs look at the directory all the time. */
    private static final int MAX_LOOKS = 3;
    /** Directories of one number share a lock. */
    private static final int LOCKS = 64;
    /** So long a wait is one; shorter than what a call to Alluxio may take. */
    private static final long SPELL_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** So long the next process waits at most for calls to Alluxio that are under way. */
    private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Metadata metadata;
    private final Store store;
    private final AttrDecoder reader;
    private final Generation generation;
    /** By node; guarded by this. */
    private final Map<Long, Window> windows = new LinkedHashMap<>();

    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    private volatile boolean any;
    private volatile @Nullable Made lastMade;
    /** Nothing is looked at any more but at the end. */
    private boolean closed;
    /** Nothing is kept any more. */
    private boolean left;

    private @Nullable Thread thread;

    DirectoryTimes(Metadata metadata, Store store, AttrDecoder reader) {
        this.metadata = metadata;
        this.store = store;
        this.reader = reader;
        this.generation = metadata.generation();
        Arrays.setAll(locks, i -> new ReentrantLock());
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
        private @Nullable Attr shown;
        /** Commits that have begun, and those of them that may have moved the time. */
        private int begun;

        private int moving;
        private long fromMillis = Long.MAX_VALUE;
        private long toMillis = Long.MIN_VALUE;
        /** Our attribute as Alluxio has it. */
        private byte @Nullable [] attribute;
        /** Alluxio does not take it from us. */
        private boolean refused;
        /** Commits are over that moved the time. */
        private boolean moved;
        /** Of the last change here. */
        private long generation;

        private Window(Inode directory) {
            this.directory = directory;
        }

        private boolean has(FileStatus status) {
            long millis = status.modifiedMillis();
            return millis >= fromMillis
                    && (moving > 0 || millis <= toMillis)
                    && Arrays.equals(attribute, status.xattrs().get(PosixXattr.XATTR));
        }
    }

    /** Names of the directory are about to be changed by the calling thread. */
    public NameChange changing(Inode directory) {
        return new NameChange(this, directory, metadata.nowNanos());
    }

    /** @param names how many more there are */
    void namesChanged(Inode directory, int names) {
        Made made = lastMade;
        if (made == null) {
            changed(directory, Long.MIN_VALUE, names);
            directory.timesAreOld(generation.changed());
        } else {
            changed(directory, made.millisAtMost(metadata.nowNanos()), names);
        }
    }

    /**
     * A file was made in the directory.
     *
     * @param millis when, by the master's clock; 0: not known
     * @param beganNanos when the call began, by ours
     */
    void nameMade(Inode directory, long millis, long beganNanos) {
        if (millis == 0) {
            namesChanged(directory, 1);
        } else {
            learn(new Made(millis, beganNanos));
            changed(directory, millis, 1);
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

    /** The directory is no more. */
    public synchronized void gone(Inode directory) {
        windows.remove(directory.node());
    }

    /**
     * While the work lasts nobody else here writes the directory's attribute; of a file that is not kept apart. To be called by who stays.
     *
     * @throws StoreException EINTR, or what the work throws
     */
    public <T> T alone(Inode inode, PathLocks.Work<T> work) throws StoreException {
        if (!inode.isDirectory()) {
            return work.run();
        }
        ReentrantLock lock = lock(inode);
        awaitRemotely(lock);
        try {
            return work.run();
        } finally {
            lock.unlock();
        }
    }

    private ReentrantLock lock(Inode directory) {
        return locks[Long.hashCode(directory.node()) & LOCKS - 1];
    }

    /** As in a call to Alluxio: the wait ends when the program is killed. */
    private static void awaitRemotely(ReentrantLock lock) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        boolean locked = lock.tryLock();
        while (!locked) {
            remote.begin();
            try {
                locked = lock.tryLock(SPELL_NANOS, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StoreException(Errno.EINTR, "Interrupted while writing the directory's attributes", e);
            } finally {
                remote.end();
            }
        }
    }

    /**
     * Alluxio has just taken the attribute from us, and knows all but what changed since.
     *
     * @param issued {@link Generation#issued} before it was asked what there was before
     */
    public synchronized void written(Inode directory, Attr now, long issued) {
        Window window = windows.get(directory.node());
        if (window != null) {
            window.shown = now;
            taken(window, now.raw().xattrs().get(PosixXattr.XATTR), issued);
        }
    }

    private synchronized void taken(Window window, byte @Nullable [] attribute, long issued) {
        window.attribute = attribute;
        drop(window, issued);
    }

    /** Ends it unless something is under way or has changed since. */
    private synchronized void drop(Window window, long issued) {
        if (window.begun == 0 && window.generation < issued) {
            windows.remove(window.directory.node(), window);
        }
    }

    /** @param millis when at the latest, by the master's clock; the least there is: not known */
    private void changed(Inode directory, long millis, int names) {
        for (Attr before = directory.attr(); before != null; before = directory.attr()) {
            FileStatus raw = before.raw();
            FileStatus counted = raw.withNames(Math.max(0, raw.lengthBytes() + names));
            Attr now = reader.read(counted.modified(Math.max(millis, raw.modifiedMillis())), before.fetchedNanos());
            if (millis != Long.MIN_VALUE) {
                expect(directory, raw, now);
            }
            if (directory.namesChanged(before, now, generation.changed())) {
                return;
            }
        }
        directory.raise(generation.changed()); // nothing is known of it, and no earlier response says it
    }

    /**
     * Can the time of a directory in Alluxio be of changes of names here?
     *
     * @param before what was known
     * @param more may there be later ones than are known?
     */
    synchronized boolean covers(Inode directory, Attr before, long millis, boolean more) {
        Window window = any ? windows.get(directory.node()) : null;
        if (window == null || window.fromMillis == Long.MAX_VALUE) {
            long knownMillis = before.raw().modifiedMillis();
            return more ? millis >= knownMillis : millis == knownMillis;
        }
        return millis >= window.fromMillis && (more || window.moving > 0 || millis <= window.toMillis);
    }

    private synchronized void expect(Inode directory, FileStatus known, Attr now) {
        Window window = window(directory);
        window.shown = now;
        if (window.fromMillis == Long.MAX_VALUE) {
            window.attribute = known.xattrs().get(PosixXattr.XATTR);
        }
        window.fromMillis = Long.MIN_VALUE;
        window.toMillis = Math.max(window.toMillis, now.raw().modifiedMillis());
    }

    /** Guarded by this. */
    private Window window(Inode directory) {
        Window window = windows.computeIfAbsent(directory.node(), node -> new Window(directory));
        any = true;
        if (windows.size() > MAX_WINDOWS) {
            windows.remove(windows.keySet().iterator().next());
        }
        touched(window);
        return window;
    }

    /** Guarded by this. */
    private void touched(Window window) {
        window.generation = generation.changed();
    }

    /** One change that is none of names. For one thread. */
    public final class Replacement implements AutoCloseable {
        private final @Nullable Window window;
        private final long beganNanos = metadata.nowNanos();
        private int names;

        private Replacement(@Nullable Window window) {
            this.window = window;
            if (window != null) {
                window.directory.dentries().changeBegins();
            }
        }

        /** A file was made, since this began, at this time of the master's clock; 0: not known. */
        public void made(long millis) {
            if (millis != 0) {
                learn(new Made(millis, beganNanos));
            }
        }

        /** A name that nobody sees is gone. */
        public void removed() {
            names = -1;
        }

        /** The change is over, made or not. */
        @Override
        public void close() {
            if (window != null) {
                Made made = lastMade;
                end(window, made == null ? Long.MIN_VALUE : made.millisAtMost(metadata.nowNanos()));
                changed(window.directory, Long.MIN_VALUE, names);
                window.directory.dentries().changeEnds();
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
            LOG.debug("The modification time of node {} is unknown: {}", directory.node(), e.getMessage());
            end(window, Long.MIN_VALUE);
            return new Replacement(null);
        }
    }

    private synchronized Window begin(Inode directory) {
        Window window = window(directory);
        window.begun++;
        return window;
    }

    private synchronized void move(Window window, Attr seen) {
        FileStatus raw = seen.raw();
        window.shown = seen;
        if (window.fromMillis == Long.MAX_VALUE) {
            window.fromMillis = raw.modifiedMillis();
            window.attribute = raw.xattrs().get(PosixXattr.XATTR);
        }
        window.moving++;
        touched(window);
    }

    private synchronized void end(Window window, long toMillis) {
        window.begun--;
        window.moving = Math.max(0, window.moving - 1);
        window.moved = true;
        window.toMillis = Math.max(window.toMillis, toMillis);
        touched(window);
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
            thread = new UnpinnedThread(metadata.clock().background(this::look), "directory-times");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private synchronized @Nullable Window of(Inode directory) {
        return windows.get(directory.node());
    }

    /**
     * What Alluxio says of a directory, with the times that were shown, if only changes here have moved its own since.
     *
     * @param issued {@link Generation#issued} before the request
     */
    FileStatus seen(Inode directory, FileStatus status, long issued) {
        if (!any || !status.directory()) {
            return status;
        }
        Window window = of(directory);
        Attr seen = directory.attr();
        if (window == null) { // it may have ended since the request, with its times kept in Alluxio
            boolean counts = directory.isNewerThan(issued) && !directory.areTimesOld();
            return seen != null && counts ? AttributeEdit.shown(status, seen) : status;
        }
        Attr before = seen == null ? window.shown : seen;
        return before == null || before.sameTimes(reader.read(status, 0))
                ? status
                : seen(window, status, before, issued);
    }

    private FileStatus seen(Window window, FileStatus status, Attr before, long issued) {
        Inode directory = window.directory;
        synchronized (this) {
            if (directory.areTimesOld() || !window.has(status)) {
                if (window.begun == 0 && !directory.isNewerThan(issued)) {
                    windows.remove(directory.node(), window);
                }
                return status;
            }
        }
        return AttributeEdit.shown(status, before);
    }

    /**
     * Keeps in Alluxio what is shown, if it is to be kept and nobody else writes there. Waits for Alluxio alone.
     *
     * @param issued {@link Generation#issued} before the request
     */
    void settle(Inode directory, FileStatus shown, long issued) {
        Window window = any && shown.directory() ? of(directory) : null;
        byte[] attribute = shown.xattrs().get(PosixXattr.XATTR);
        if (window == null || attribute == null || !isToKeep(window, attribute, issued)) {
            return;
        }
        try {
            tryAlone(directory, () -> keep(window, attribute, issued));
        } catch (StoreException e) {
            LOG.debug("Only this process knows the modification time of node {}: {}", directory.node(), e.getMessage());
            synchronized (this) {
                window.refused = true;
            }
        }
    }

    /** Something to do by who stays, alone. */
    @FunctionalInterface
    private interface Task {
        void run() throws StoreException;
    }

    /** As {@link #alone}; does nothing where that would be waited for. */
    private void tryAlone(Inode directory, Task task) throws StoreException {
        metadata.pathLocks().tryShared(directory, () -> {
            ReentrantLock lock = lock(directory);
            if (lock.tryLock()) {
                try {
                    task.run();
                } finally {
                    lock.unlock();
                }
            }
            return directory;
        });
    }

    private void keep(Window window, byte[] attribute, long issued) throws StoreException {
        if (isToKeep(window, attribute, issued)) {
            Store.Change change = new Store.Change(null, null, null, Map.of(PosixXattr.XATTR, attribute));
            try {
                store.change(metadata.pathOf(window.directory), change);
            } finally {
                window.directory.raise(generation.changed()); // with an unknown outcome, too
            }
            taken(window, attribute, issued);
        }
    }

    private synchronized boolean isToKeep(Window window, byte[] attribute, long issued) {
        return !left
                && windows.get(window.directory.node()) == window
                && window.begun == 0
                && window.generation < issued
                && !window.refused
                && !Arrays.equals(window.attribute, attribute);
    }

    private void look() {
        while (waited()) {
            settleAll(Integer.MAX_VALUE, false);
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

    /** @param last all of them; else only where commits moved the time, and until the end */
    private void settleAll(int most, boolean last) {
        List<Window> all;
        synchronized (this) {
            all = new ArrayList<>(windows.values());
            all.removeIf(window -> !last && !window.moved);
        }
        boolean goesOn = true;
        for (int i = 0; i < all.size() && i < most && goesOn; i++) {
            goesOn = settle(all.get(i), last);
        }
    }

    /** False: Alluxio does not answer, or it is over. */
    private boolean settle(Window window, boolean last) {
        long issued;
        synchronized (this) {
            if (closed && !last) {
                return false;
            }
            if (window.begun > 0 || window.refused) {
                return true;
            }
            issued = generation.issued();
        }
        boolean answered = true;
        try {
            tryAlone(window.directory, () -> lookAt(window, issued));
        } catch (StoreException e) {
            LOG.debug("The modification time of node {} may change: {}", window.directory.node(), e.getMessage());
            answered = e.errno() == Errno.ESTALE || e.errno() == Errno.ENOENT;
            drop(window, issued);
        } catch (RuntimeException | Error e) { // one that fails, in whatever way, stops no other
            Supervised.failed("Keeping the modification time of node " + window.directory.node(), e);
            drop(window, issued);
        }
        return answered;
    }

    /** What is to be kept is kept by who sees the answer; who has seen a later one meanwhile could not, and it is asked for again. */
    @SuppressWarnings("ReferenceEquality") // an equal one that others saw was not kept by this thread
    private void lookAt(Window window, long issued) throws StoreException {
        for (int tries = 1; metadata.refresh(window.directory) != window.directory.attr(); tries++) {
            if (tries == MAX_LOOKS) {
                return;
            }
        }
        drop(window, issued);
    }

    /** Another process goes on with the mount, and waits for this one: keeps in Alluxio what does not take long. */
    public void leave() {
        end(MAX_LEFT);
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
        settleAll(most, true);
        synchronized (this) {
            left = true;
        }
        awaitWriters();
    }

    /** Returns when what was begun to be written before is written. */
    private void awaitWriters() {
        long deadline = metadata.nowNanos() + LEAVE_NANOS;
        try {
            for (ReentrantLock lock : locks) {
                if (lock.tryLock(deadline - metadata.nowNanos(), TimeUnit.NANOSECONDS)) {
                    lock.unlock();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

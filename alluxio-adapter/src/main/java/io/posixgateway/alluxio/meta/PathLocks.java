package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reader/writer lock over paths: renames and removals lock a subtree exclusively, operations that go by path share it. Any thread;
 * waits.
 *
 * <p>An operation that changes something by a path holds it shared ({@link #shared}) from before it determines the path until it is done. A
 * rename or removal holds the path exclusively ({@link #exclusive}): it waits for all who share it or a path below, and later ones wait
 * for it. One directory is renamed at a time, and none is removed meanwhile above or below its old or new path; so a rename need not
 * share the path above. Without this lock an Alluxio worker that is writing would create a renamed directory again in the under file
 * system, and a commit would give a removed file its name back. Operations that only read do not lock: they retry if
 * {@link #directoryMovedSince} says that a concurrent directory rename made the response stale.
 *
 * <p>Lock order: before the lock of a dirty file; a thread that holds one only tries ({@link #tryShared}). Reentrant: a thread that holds a
 * path may share it again.
 */
public final class PathLocks {
    /** So long a wait is one; shorter than what a call to Alluxio may take. */
    private static final long SPELL_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final InodeTable table;
    private final Clock clock;
    private final List<Shared> stays = new ArrayList<>();
    private final List<Move> moves = new ArrayList<>();
    private final Generation generation;
    /** Of the last move of a directory that is over; see {@link Generation}. */
    private volatile long moved;
    /** So many directories are being moved. */
    private volatile int moving;

    public PathLocks(InodeTable table, Clock clock) {
        this.table = table;
        this.clock = clock;
        this.generation = table.generation();
    }

    /** What is done meanwhile. */
    @FunctionalInterface
    public interface Work<T> {
        T run() throws StoreException;
    }

    private static final class Shared {
        private final @Nullable String path;
        private final Thread thread = Thread.currentThread();

        private Shared(@Nullable String path) {
            this.path = path;
        }

        private boolean isTakenBy(Move move) {
            return path != null && move.takes(path);
        }
    }

    private static boolean isAtOrBelow(String inner, @Nullable String outer) {
        return outer != null
                && inner.startsWith(outer)
                && (inner.length() == outer.length() || inner.charAt(outer.length()) == '/');
    }

    /** Where a directory is renamed to. */
    private record Destination(Inode parent, Name name) {}

    private static final class Move {
        private final String path;
        private final boolean directory;
        /** Of the directory from now on; null: it is removed, or no directory. */
        private final @Nullable String to;
        /** What has that path goes, with all below. */
        private final boolean over;

        private final Thread thread = Thread.currentThread();
        /** Nobody else stays there any more: whoever comes now waits. */
        private boolean begun;

        private Move(String path, boolean directory, @Nullable String to, boolean over) {
            this.path = path;
            this.directory = directory;
            this.to = to;
            this.over = over;
        }

        private boolean takes(String other) {
            return isAtOrBelow(other, path) || (over && isAtOrBelow(other, to));
        }

        /** May what Alluxio says of this path be another thing before it and after it? Null: of a path that is not known. */
        private boolean concerns(@Nullable String other) {
            return directory && (other == null || isAtOrBelow(other, path) || isAtOrBelow(other, to));
        }

        /** Can they not go on at the same time? */
        private boolean excludes(Move other) {
            boolean renames = to != null && other.to != null;
            return directory
                    && other.directory
                    && (renames || meets(other.path) || meets(other.to) || other.meets(path) || other.meets(to));
        }

        /** Is one of its paths this one, or below it? */
        private boolean meets(@Nullable String other) {
            return isAtOrBelow(path, other) || (to != null && isAtOrBelow(to, other));
        }
    }

    /**
     * While the work lasts, neither the inode's path nor a directory above it is taken away. Waits while it is being moved.
     *
     * @throws StoreException EINTR, or what the work throws
     */
    public <T> T shared(Inode inode, Work<T> work) throws StoreException {
        return shared(inode, true, work);
    }

    /** As {@link #shared}, but no killed program ends the wait: what is done at the end of a handle is done. */
    public <T> T sharedUninterruptibly(Inode inode, Work<T> work) throws StoreException {
        return shared(inode, false, work);
    }

    private <T> T shared(Inode inode, boolean mayGiveUp, Work<T> work) throws StoreException {
        Shared stay = begin(inode, mayGiveUp);
        try {
            return work.run();
        } finally {
            end(stay);
        }
    }

    private synchronized Shared begin(Inode inode, boolean mayGiveUp) throws StoreException {
        BooleanSupplier free = () -> mayStay(new Shared(table.path(inode)));
        if (mayGiveUp) {
            awaitRemotely(free);
        }
        while (!free.getAsBoolean()) {
            awaitTrue(free, SPELL_NANOS);
        }
        Shared stay = new Shared(table.path(inode));
        stays.add(stay);
        return stay;
    }

    /** As {@link #shared}, but does nothing, and says false, when the inode, or a directory above it, is being moved. */
    public boolean tryShared(Inode inode, Work<?> work) throws StoreException {
        Shared stay;
        synchronized (this) {
            stay = new Shared(table.path(inode));
            if (!mayStay(stay)) {
                return false;
            }
            stays.add(stay);
        }
        try {
            work.run();
            return true;
        } finally {
            end(stay);
        }
    }

    private synchronized void end(Shared stay) {
        stays.remove(stay);
        notifyAll();
    }

    private boolean mayStay(Shared wanted) {
        for (Move move : moves) {
            boolean concerned = move.thread != wanted.thread && wanted.isTakenBy(move);
            if (concerned && (move.begun || !holds(wanted.thread))) {
                return false;
            }
        }
        return true;
    }

    /** Does it stay somewhere, or move something? Then a move may be waiting for this thread. */
    private boolean holds(Thread thread) {
        return stays.stream().anyMatch(stay -> stay.thread == thread)
                || moves.stream().anyMatch(move -> move.thread == thread);
    }

    /**
     * While the work lasts, nobody else stays at the inode's path or below it. Waits for those who do; if it is a directory, which
     * is removed, also for others above or below it that are being moved.
     *
     * @throws StoreException EINTR, ESTALE when nobody knows where the inode is, or what the work throws
     */
    public <T> T exclusive(Inode inode, Work<T> work) throws StoreException {
        return alone(inode, null, work);
    }

    /** The same for a directory that gets another name, and for what has that; waits for another one that is being renamed. */
    public <T> T rename(Inode directory, Inode parent, Name name, Work<T> work) throws StoreException {
        return alone(directory, new Destination(parent, name), work);
    }

    private <T> T alone(Inode inode, @Nullable Destination to, Work<T> work) throws StoreException {
        Move move = clear(inode, to);
        try {
            return work.run();
        } finally {
            end(move);
        }
    }

    private synchronized Move clear(Inode inode, @Nullable Destination to) throws StoreException {
        awaitRemotely(() -> {
            Move wanted = wanted(inode, to);
            return wanted == null || moves.stream().noneMatch(wanted::excludes);
        });
        Move move = wanted(inode, to);
        if (move == null) {
            throw new StoreException(Errno.ESTALE, "The file of node " + inode.node() + " is gone", null);
        }
        moves.add(move);
        moving += move.directory ? 1 : 0;
        try {
            awaitAlone(move);
        } catch (StoreException e) {
            end(move);
            throw e;
        }
        move.begun = true;
        return move;
    }

    private synchronized void awaitAlone(Move move) throws StoreException {
        awaitRemotely(() -> stays.stream().noneMatch(stay -> stay.thread != move.thread && stay.isTakenBy(move)));
    }

    /** Null: nobody knows where it is. */
    private @Nullable Move wanted(Inode inode, @Nullable Destination to) {
        String path = table.path(inode);
        String newPath = to == null ? null : table.path(to.parent, to.name);
        if (path == null || (to != null && newPath == null)) {
            return null;
        }
        return new Move(path, inode.isDirectory(), newPath, to != null && table.child(to.parent, to.name) != null);
    }

    private synchronized void end(Move move) {
        moves.remove(move);
        if (move.directory) {
            moved = generation.changed();
            moving--;
        }
        notifyAll();
    }

    /**
     * Has a directory moved since a request was issued, or does one move that its path is of? Waits for that one's end, unless that may
     * wait for this thread.
     *
     * @param issued {@link Generation#issued} before its path was made
     * @param path of what Alluxio was asked for; null: it is not known
     * @throws StoreException EINTR
     */
    public boolean directoryMovedSince(long issued, @Nullable String path) throws StoreException {
        if (moving == 0 && moved < issued) { // in this order: that one moved is noted before none moves
            return false;
        }
        Thread asking = Thread.currentThread();
        synchronized (this) {
            if (moved < issued && moves.stream().noneMatch(move -> move.concerns(path))) {
                return false;
            }
            awaitRemotely(() -> moves.stream()
                    .noneMatch(move -> move.concerns(path) && move.thread != asking && (move.begun || !holds(asking))));
        }
        return true;
    }

    /** As in a call to Alluxio: the wait ends when the program is killed. Others may make long ones meanwhile: it begins again. */
    private synchronized void awaitRemotely(BooleanSupplier condition) throws StoreException {
        RemoteCalls remote = RemoteCalls.ofThread();
        while (!condition.getAsBoolean()) {
            remote.begin();
            try {
                awaitTrue(condition, SPELL_NANOS);
            } finally {
                remote.end();
            }
        }
    }

    /** Returns when it is true, or after so long. */
    private synchronized void awaitTrue(BooleanSupplier condition, long mostNanos) throws StoreException {
        long deadline = clock.nanos() + mostNanos;
        try {
            long left = mostNanos;
            while (left > 0 && !condition.getAsBoolean()) {
                clock.waitOn(this, left);
                left = deadline - clock.nanos();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Errno.EINTR, "Interrupted while a name above was being changed", e);
        }
    }
}

package io.posixgateway.alluxio.inode;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what takes a path away (a rename, a removal) apart from what goes by that path. Any thread.
 *
 * <p>What changes something by a path stays ({@link #stay}) from before the path is asked for until all is done. What takes
 * a path away moves ({@link #move}): it waits for those who stay there or below, and who come later wait for it. One
 * directory moves at a time, so whoever moves one need not stay above it. Without that a worker of Alluxio that is writing
 * would make a renamed directory anew in the under file system, and a publication would give a removed file its name back.
 * Who only reads does not stay: it compares {@link #count} before and after, and asks again when the answer may be about a
 * path of yesterday.
 *
 * <p>To be taken before the lock of a draft; who holds one only tries ({@link #tryStay}). A thread that stays, or moves, may
 * stay again.
 */
public final class Moves {
    /** So long a wait is one; shorter than what a call to Alluxio may take. */
    private static final long SPELL_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final InodeTable table;
    private final Clock clock;
    private final List<Stay> stays = new ArrayList<>();
    private final List<Move> moves = new ArrayList<>();
    /** Odd while a directory is being moved. */
    private volatile long count;

    public Moves(InodeTable table, Clock clock) {
        this.table = table;
        this.clock = clock;
    }

    /** What is done meanwhile. */
    @FunctionalInterface
    public interface Work<T> {
        T run() throws StoreException;
    }

    private static final class Stay {
        private final @Nullable String path;
        private final Thread thread = Thread.currentThread();

        private Stay(@Nullable String path) {
            this.path = path;
        }

        private boolean isAtOrBelow(String other) {
            return path != null
                    && path.startsWith(other)
                    && (path.length() == other.length() || path.charAt(other.length()) == '/');
        }
    }

    private static final class Move {
        private final String path;
        private final boolean directory;
        private final Thread thread = Thread.currentThread();
        /** Nobody else stays there any more: whoever comes now waits. */
        private boolean begun;

        private Move(String path, boolean directory) {
            this.path = path;
            this.directory = directory;
        }
    }

    /**
     * While the work lasts, neither the inode's path nor a directory above it is taken away. Waits while it is being moved.
     *
     * @throws StoreException EINTR, or what the work throws
     */
    public <T> T stay(Inode inode, Work<T> work) throws StoreException {
        return stay(inode, true, work);
    }

    /** As {@link #stay}, but no killed program ends the wait: what is done at the end of a handle is done. */
    public <T> T staySurely(Inode inode, Work<T> work) throws StoreException {
        return stay(inode, false, work);
    }

    private <T> T stay(Inode inode, boolean mayGiveUp, Work<T> work) throws StoreException {
        Stay stay = begin(inode, mayGiveUp);
        try {
            return work.run();
        } finally {
            end(stay);
        }
    }

    private synchronized Stay begin(Inode inode, boolean mayGiveUp) throws StoreException {
        BooleanSupplier free = () -> mayStay(new Stay(table.path(inode)));
        if (mayGiveUp) {
            awaitRemotely(free);
        }
        while (!free.getAsBoolean()) {
            awaitTrue(free, SPELL_NANOS);
        }
        Stay stay = new Stay(table.path(inode));
        stays.add(stay);
        return stay;
    }

    /** As {@link #stay}, but does nothing, and says false, when the inode, or a directory above it, is being moved. */
    public boolean tryStay(Inode inode, Work<?> work) throws StoreException {
        Stay stay;
        synchronized (this) {
            stay = new Stay(table.path(inode));
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

    private synchronized void end(Stay stay) {
        stays.remove(stay);
        notifyAll();
    }

    private boolean mayStay(Stay wanted) {
        for (Move move : moves) {
            boolean concerned = move.thread != wanted.thread && wanted.isAtOrBelow(move.path);
            if (concerned && (move.begun || !stays(wanted.thread))) {
                return false;
            }
        }
        return true;
    }

    /** Then a move may be waiting for this thread. */
    private boolean stays(Thread thread) {
        return stays.stream().anyMatch(stay -> stay.thread == thread);
    }

    /**
     * While the work lasts, nobody else stays at the inode's path or below it. Waits for those who do, and for another
     * directory that is being moved if this is one.
     *
     * @throws StoreException EINTR, ESTALE when nobody knows where the inode is, or what the work throws
     */
    public <T> T move(Inode inode, Work<T> work) throws StoreException {
        Move move = clear(inode);
        try {
            return work.run();
        } finally {
            end(move);
        }
    }

    private synchronized Move clear(Inode inode) throws StoreException {
        boolean directory = inode.isDirectory();
        awaitRemotely(() -> !directory || moves.stream().noneMatch(other -> other.directory));
        String path = table.path(inode);
        if (path == null) {
            throw new StoreException(Errno.ESTALE, "The file of node " + inode.node() + " is gone", null);
        }
        Move move = new Move(path, directory);
        moves.add(move);
        count += directory ? 1 : 0;
        try {
            awaitRemotely(() -> stays.stream().noneMatch(stay -> stay.thread != move.thread && stay.isAtOrBelow(path)));
        } catch (StoreException e) {
            end(move);
            throw e;
        }
        move.begun = true;
        return move;
    }

    private synchronized void end(Move move) {
        moves.remove(move);
        count += move.directory ? 1 : 0;
        notifyAll();
    }

    /** The number of directory moves that began or ended so far; odd while one is under way. Never waits. */
    public long count() {
        return count;
    }

    /**
     * Has a directory moved since this count, or does one move? Waits for that one's end, unless that may wait for this thread.
     *
     * @throws StoreException EINTR
     */
    public boolean directoryMovedSince(long countBefore) throws StoreException {
        if (count == countBefore && (countBefore & 1) == 0) {
            return false;
        }
        Thread asking = Thread.currentThread();
        synchronized (this) {
            awaitRemotely(() -> moves.stream()
                    .noneMatch(move -> move.directory && move.thread != asking && (move.begun || !stays(asking))));
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

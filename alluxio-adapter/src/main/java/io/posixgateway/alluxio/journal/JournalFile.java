package io.posixgateway.alluxio.journal;

import io.posixgateway.fuse.jni.UnpinnedThread;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of a {@link Journal}, to which is only appended, until it is written anew. It is opened by the first write: reading needs a
 * disk that can be read, no more. Not by a channel, which an interrupt of a thread that serves a request would close. Guarded by its own
 * monitor, which is not held while the disk is waited for.
 */
final class JournalFile {
    /** How the name of a file ends that has not taken its place yet. */
    static final String FRESH = ".new";

    private static final Logger LOG = LoggerFactory.getLogger(JournalFile.class);

    private final Path path;
    private final Disk disk;
    private long endBytes;
    /** Null before the first write, while the disk takes nothing, and once closed. */
    private @Nullable RandomAccessFile open;

    /** Behind the end there may be a part of a record, which could be taken for damage if another one followed it. */
    private boolean ragged = true;

    private boolean rewriting;
    /** How long it was when that failed last. */
    private long failedBytes;

    private boolean closed;

    /** What is done to the disk, so that a test can have it fail. */
    enum Step {
        OPEN,
        APPEND,
        COPY,
        SYNC,
        RENAME
    }

    /** Throws what a step is to fail with. */
    interface Steps {
        void before(Step step) throws IOException;
    }

    /**
     * What it works with.
     *
     * @param reserve room for records on a disk that is full; null: none
     * @param isLocked others look for such files in its folder: it is locked as long as its process lives
     * @param waiting runs what waits for the disk
     */
    record Disk(@Nullable Reserve reserve, boolean isLocked, Executor waiting, Steps steps) {
        static Disk of(@Nullable Reserve reserve, boolean isLocked) {
            return new Disk(
                    reserve, isLocked, task -> new UnpinnedThread(task, "journal-compaction").start(), step -> {});
        }
    }

    JournalFile(Path path, Disk disk) {
        this.path = path;
        this.disk = disk;
    }

    Path path() {
        return path;
    }

    /** Where the next write goes; what lies behind goes with it. */
    synchronized void endIs(long bytes) {
        endBytes = bytes;
    }

    synchronized long endBytes() {
        return endBytes;
    }

    /** All of it, or nothing. */
    synchronized void append(byte[] bytes) throws IOException {
        RandomAccessFile there = opened();
        if (ragged) {
            there.setLength(endBytes);
        }
        ragged = true;
        Reserve.Write write = () -> {
            disk.steps.before(Step.APPEND);
            there.seek(endBytes);
            there.write(bytes);
        };
        if (disk.reserve == null) {
            write.run();
        } else {
            disk.reserve.write(write);
        }
        ragged = false;
        endBytes += bytes.length;
    }

    private RandomAccessFile opened() throws IOException {
        RandomAccessFile there = open;
        if (there != null) {
            return there;
        }
        if (closed) {
            throw new ClosedChannelException();
        }
        StateFolder.makeParentIfMissing(path);
        disk.steps.before(Step.OPEN);
        there = open(path);
        open = there;
        return there;
    }

    private RandomAccessFile open(Path file) throws IOException {
        RandomAccessFile there = new RandomAccessFile(file.toFile(), "rw");
        if (disk.isLocked) {
            there.getChannel().lock();
            if (Files.notExists(file)) {
                there.close(); // who looks for such files took it for that of a dead process
                throw new IOException(file + " was removed");
            }
        }
        return there;
    }

    /** Nothing in it counts. False: it stays, as it is being written anew, or was not written here. */
    synchronized boolean isEmptied() throws IOException {
        RandomAccessFile there = open;
        if (there == null || rewriting) {
            return false;
        }
        there.setLength(0);
        endBytes = 0;
        return true;
    }

    /** What is there is kept by another name; the file begins anew. */
    synchronized void moveAway() throws IOException {
        int number = 1;
        while (Files.exists(path.resolveSibling(path.getFileName() + "." + number))) {
            number++;
        }
        Files.move(path, path.resolveSibling(path.getFileName() + "." + number));
        RandomAccessFile there = open;
        open = null;
        endBytes = 0;
        if (there != null) {
            there.close();
        }
    }

    /**
     * Has this in the place of all that is there now, on the disk before it takes its place. On a thread of its own, as that waits; what is
     * appended meanwhile follows it. A failure leaves the file as it is.
     */
    synchronized void rewrite(byte[] whole) {
        long fromBytes = endBytes;
        boolean started = false;
        rewriting = true;
        try {
            disk.waiting.execute(() -> tryToReplace(whole, fromBytes));
            started = true;
        } finally {
            rewriting &= started; // the process may get no more threads
        }
    }

    private void tryToReplace(byte[] whole, long fromBytes) {
        try {
            replace(whole, fromBytes);
        } catch (IOException | RuntimeException | Error e) {
            notRewritten(e);
        } finally {
            rewritten();
        }
    }

    /** Not while it is; and where the disk did not take it, not before the file is twice as long. */
    synchronized boolean mayBeRewritten() {
        return !rewriting && endBytes > 2 * failedBytes;
    }

    /** It stays as it is; what needs it done is done. */
    synchronized void notRewritten(Throwable failure) {
        LOG.info("{} cannot be compacted: {}", path, failure.toString());
        failedBytes = endBytes;
    }

    private synchronized void rewritten() {
        rewriting = false;
    }

    private void replace(byte[] whole, long fromBytes) throws IOException {
        // By a name that no other process has, nor another journal of this one: that may begin before this thread has
        // its turn.
        Path fresh = path.resolveSibling(path.getFileName() + "." + UUID.randomUUID() + FRESH);
        RandomAccessFile target = open(fresh);
        boolean replaced = false;
        try {
            disk.steps.before(Step.COPY);
            target.setLength(0);
            target.write(whole);
            disk.steps.before(Step.SYNC);
            target.getFD().sync();
            replaced = isInPlace(fresh, target, fromBytes);
        } finally {
            if (!replaced) {
                target.close();
                Files.deleteIfExists(fresh);
            }
        }
    }

    /** False: the file was closed meanwhile. */
    private synchronized boolean isInPlace(Path fresh, RandomAccessFile target, long fromBytes) throws IOException {
        RandomAccessFile there = open;
        if (there == null) {
            return false;
        }
        byte[] since = new byte[(int) (endBytes - fromBytes)];
        there.seek(fromBytes);
        there.readFully(since);
        target.write(since);
        disk.steps.before(Step.RENAME);
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        open = target;
        endBytes = target.getFilePointer();
        failedBytes = 0;
        try {
            there.close();
        } catch (IOException e) {
            LOG.debug("Closing the old {} failed: {}", path, e.toString());
        }
        return true;
    }

    /**
     * Nothing is written from now on.
     *
     * @param removes nobody needs it any more
     */
    synchronized void close(boolean removes) throws IOException {
        RandomAccessFile there = open;
        open = null;
        if (removes && !closed) {
            Files.deleteIfExists(path);
        }
        closed = true;
        if (there != null) {
            there.close();
        }
    }
}

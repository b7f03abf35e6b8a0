package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * What the next process must know of a changed file, in a small file beside its spool file: {version, state, node, file id,
 * path, status}. It counts only once a state was put, which is written last. Guarded by the dirty file that owns it.
 */
public final class DirtyFileRecord {
    // What the bits say of the phase is written in bit(), mark() and phase() alone.
    private static final int DIRTY = 1;
    /** The attributes differ from those in Alluxio. */
    private static final int ATTRIBUTES = 1 << 1;

    private static final int UNLINKED = 1 << 2;
    /** Nobody has it open: it is to be committed at once. */
    private static final int UNOPENED = 1 << 3;

    private static final int RESERVING = 1 << 4;
    /** A modification time was given after the last write. */
    private static final int TIMED = 1 << 5;

    private static final int STREAMED = 1 << 6;
    /** A worker that stopped may still write at its path; where it is not dirty, it was committed there as this file. */
    private static final int UNSTABLE = 1 << 7;

    /** The content is being written over the object that was there, which may be lost: it is to be uploaded, whoever had the file open. */
    private static final int OVERWRITING = 1 << 8;

    /** How its name ends; it begins as that of its spool file. */
    public static final String SUFFIX = ".draft";
    /** How the name of a record ends that has not taken its place yet. */
    public static final String FRESH = ".new";

    private static final int COUNTS = 1 << 30;
    static final int VERSION = 1;
    private static final int STATE_AT = 4;
    private static final int NODE_AT = 8;
    private static final int HEAD_BYTES = NODE_AT + 2 * Long.BYTES;
    private static final int KNOWN = (OVERWRITING << 1) - 1;

    /**
     * What does not change while a file is being changed, but for the status.
     *
     * @param path where it is in Alluxio when the change begins
     * @param status all but the content
     */
    public record Content(long node, long fileId, String path, FileStatus status) {}

    private final @Nullable Path file;
    private Content content;
    private int state;

    private DirtyFileRecord(@Nullable Path file, Content content, int state) {
        this.file = file;
        this.content = content;
        this.state = state;
    }

    /** A record of a volume that nobody keeps: stored nowhere. */
    public static DirtyFileRecord unstored(Content content) {
        return new DirtyFileRecord(null, content, 0);
    }

    /** A new record, which does not count yet. */
    public static DirtyFileRecord make(Path file, Content content) throws StoreException {
        DirtyFileRecord record = new DirtyFileRecord(file, content, 0);
        record.store(made -> {
            try {
                Files.write(made, RecordCodec.encode(content, 0), StandardOpenOption.CREATE_NEW);
            } catch (IOException e) {
                Files.deleteIfExists(made);
                throw e;
            }
        });
        return record;
    }

    /**
     * A record of an earlier process; null: it never counted.
     *
     * @throws StoreException it is damaged, of another version, or cannot be read: it is to be kept
     */
    public static @Nullable DirtyFileRecord read(Path file) throws StoreException {
        try {
            byte[] bytes = Files.readAllBytes(file);
            ByteBuffer head = ByteBuffer.wrap(bytes);
            int version = bytes.length < HEAD_BYTES ? 0 : head.getInt(0);
            if (version != VERSION) {
                throw new IOException(version == 0 ? "it is damaged" : "it has version " + version);
            }
            int state = head.getInt(STATE_AT);
            if ((state & ~(COUNTS | KNOWN)) != 0) {
                throw new IOException("it has states that this version does not know");
            }
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes, NODE_AT, bytes.length - NODE_AT));
            Content content = RecordCodec.decode(in);
            if (in.available() > 0 || !content.path().startsWith("/")) {
                throw new IOException("it is damaged");
            }
            return (state & COUNTS) == 0 ? null : new DirtyFileRecord(file, content, state);
        } catch (EOFException e) {
            throw failure(file, new IOException("it is truncated", e));
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    /**
     * The ids of the node and of the file that a record is of, though the record may not be understood: what it begins with means
     * the same in every version, and what stands beside it says it, too. Null: not known.
     */
    public static @Nullable Ids ids(Path file) {
        Origin origin = Origin.read(Origin.beside(file));
        if (origin != null) {
            return new Ids(origin.node(), origin.fileId());
        }
        try {
            ByteBuffer head = ByteBuffer.wrap(Files.readAllBytes(file));
            boolean known = head.remaining() >= HEAD_BYTES && head.getLong(NODE_AT) > 0;
            return known ? new Ids(head.getLong(NODE_AT), head.getLong(NODE_AT + Long.BYTES)) : null;
        } catch (IOException e) {
            return null;
        }
    }

    /** Is it too short to be one? */
    public static boolean isShort(Path file) {
        try {
            return Files.size(file) < HEAD_BYTES;
        } catch (IOException e) {
            return false;
        }
    }

    /** Of a changed file. */
    public record Ids(long node, long fileId) {}

    public Content content() {
        return content;
    }

    private static int bit(Phase phase) {
        return switch (phase) {
            case PENDING -> RESERVING;
            case SPOOLED -> DIRTY;
            case STREAMING -> STREAMED;
            case UNSTABLE -> UNSTABLE;
            case UNLINKED -> UNLINKED;
            case COMMITTING, COMMITTED, LOST, CLOSED -> 0;
        };
    }

    /**
     * Notes that the file has come to a phase; from now on the record counts. What has no bit of its own is noted by the lack of others: a
     * file that is {@link Phase#COMMITTED} has all of it in Alluxio, one that is {@link Phase#SPOOLED} has its name. What is unlinked or
     * streamed stays so.
     */
    public void mark(Phase phase) throws StoreException {
        put(
                bit(phase),
                switch (phase) {
                    case SPOOLED -> RESERVING | TIMED;
                    case COMMITTED -> DIRTY | ATTRIBUTES | UNSTABLE | OVERWRITING;
                    default -> 0;
                });
    }

    /** The content changes through a handle: the file is {@link Phase#SPOOLED}, and somebody has it open. */
    public void written() throws StoreException {
        put(DIRTY, RESERVING | TIMED | UNOPENED);
    }

    /** From now on what is there, a file of this id, may be lost. Onto the disk. */
    public void overwriting(long fileId, String path) throws StoreException {
        replace(new Content(content.node(), fileId, path, content.status()), OVERWRITING, 0);
        force();
        store(DirtyFileRecord::forceFolder); // the record is another file by now
    }

    /** Was the content being written over what was there, and was that not noted to be done? */
    public boolean isOverwriting() {
        return (state & OVERWRITING) != 0;
    }

    /** As {@link #mark} of the first phase, in one step with whether somebody will have the file open. */
    public void pending(boolean opened) throws StoreException {
        put(RESERVING | (opened ? 0 : UNOPENED), 0);
    }

    /** It is of content that was committed, as the origin says, and is not safe yet; nobody has it open. */
    public void synced() throws StoreException {
        put(UNSTABLE | UNOPENED, 0);
    }

    /** Takes back that it came there. */
    public void unmark(Phase phase) throws StoreException {
        put(0, bit(phase));
    }

    /** Was it noted that the file came there? Of a phase that has a bit of its own. */
    public boolean isMarked(Phase phase) {
        return (state & bit(phase)) != 0;
    }

    /**
     * What the file is to the next process. An upload that was in flight begins again.
     *
     * @param hasContent is there anything in the spool? If not, a stream took it
     */
    public Phase phase(boolean hasContent) {
        if (isMarked(Phase.PENDING)) {
            return Phase.PENDING;
        }
        if (isMarked(Phase.STREAMING) && !hasContent) {
            return Phase.LOST;
        }
        if (isMarked(Phase.UNLINKED)) {
            return Phase.UNLINKED;
        }
        if (isMarked(Phase.SPOOLED)) {
            return Phase.SPOOLED;
        }
        return isMarked(Phase.UNSTABLE) ? Phase.UNSTABLE : Phase.COMMITTED;
    }

    /** Are there attributes that Alluxio does not have yet? */
    public boolean hasAttributes() {
        return (state & ATTRIBUTES) != 0;
    }

    /** Is the time of the last write what the file shows? */
    public boolean showsLastWrite() {
        return (state & (DIRTY | TIMED)) == DIRTY;
    }

    /** Has nobody it open? */
    public boolean isUnopened() {
        return (state & UNOPENED) != 0;
    }

    /** Nobody has it open. */
    public void unopened() throws StoreException {
        put(UNOPENED, 0);
    }

    /** Will the next process hear of it? */
    public boolean isStored() {
        return file != null;
    }

    /**
     * What the file was when this change of it began.
     *
     * @throws StoreException it could not be stored; an earlier one then still counts
     */
    public void began(Origin origin) throws StoreException {
        store(stored -> origin.write(Origin.beside(stored)));
    }

    /** The same; null: it is not known, as the record is one of an earlier version. */
    public @Nullable Origin origin() {
        Path target = file;
        return target == null ? null : Origin.read(Origin.beside(target));
    }

    /** When it was put, or changed, last; 0: it is stored nowhere. */
    public long storedMillis() throws StoreException {
        Path target = file;
        try {
            return target == null ? 0 : Files.getLastModifiedTime(target).toMillis();
        } catch (IOException e) {
            throw failure(target, e);
        }
    }

    /** Was it committed, and not changed since, but is not safe yet? */
    public boolean isUnstable() {
        return (state & (UNSTABLE | DIRTY)) == UNSTABLE;
    }

    private void put(int on, int off) throws StoreException {
        int now = (state & ~off) | on | COUNTS;
        if (now != state) {
            overwrite(STATE_AT, ByteBuffer.allocate(Integer.BYTES).putInt(now).flip());
            state = now;
        }
    }

    /** The ids are known now. */
    public void identify(long node, long fileId) throws StoreException {
        overwrite(
                NODE_AT,
                ByteBuffer.allocate(2 * Long.BYTES)
                        .putLong(node)
                        .putLong(fileId)
                        .flip());
        content = new Content(node, fileId, content.path(), content.status());
    }

    /**
     * The attributes changed.
     *
     * @param base as Alluxio had them before; null: that is not known
     */
    public void change(FileStatus status, @Nullable FileStatus base, boolean givesTime) throws StoreException {
        Origin origin = base == null ? null : origin();
        if (base != null && origin != null) {
            store(stored -> replace(Origin.beside(stored), stored, origin.with(base)::write));
        }
        Content now = new Content(content.node(), content.fileId(), content.path(), status);
        replace(now, ATTRIBUTES | (givesTime ? TIMED : 0), 0);
    }

    /** The content was committed there as this file, but is not safe yet. Known here even where it cannot be stored. */
    public void doubt(long node, long fileId, String path) throws StoreException {
        Content now = new Content(node, fileId, path, content.status());
        if (!now.equals(content) || !isUnstable() || hasAttributes()) {
            content = now;
            replace(now, UNSTABLE, DIRTY | ATTRIBUTES | OVERWRITING);
        }
    }

    private void replace(Content now, int on, int off) throws StoreException {
        int next = (state & ~off) | on;
        store(stored -> replace(stored, stored, fresh -> Files.write(fresh, RecordCodec.encode(now, next))));
        content = now;
        state = next;
    }

    /** Replaces what is beside a record, or that, at once. */
    private static void replace(Path old, Path stored, Work work) throws IOException {
        Path fresh = stored.resolveSibling(stored.getFileName() + FRESH);
        try {
            work.on(fresh);
            Files.move(fresh, old, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    /** The next process will not hear of it. */
    public void delete() throws StoreException {
        store(stored -> {
            Files.deleteIfExists(stored);
            Files.deleteIfExists(Origin.beside(stored));
        });
    }

    private void overwrite(int at, ByteBuffer bytes) throws StoreException {
        store(stored -> {
            try (FileChannel channel = FileChannel.open(stored, StandardOpenOption.WRITE)) {
                channel.write(bytes, at);
            }
        });
    }

    /** Onto the disk, so that the node may lose its power. */
    public void force() throws StoreException {
        store(stored -> {
            try (FileChannel channel = FileChannel.open(stored, StandardOpenOption.WRITE)) {
                channel.force(false);
            }
        });
    }

    private static void forceFolder(Path stored) throws IOException {
        try (FileChannel folder = FileChannel.open(stored.resolveSibling(""), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    private interface Work {
        void on(Path stored) throws IOException;
    }

    /** Does nothing where it is stored nowhere. */
    private void store(Work work) throws StoreException {
        Path target = file;
        if (target != null) {
            try {
                work.on(target);
            } catch (IOException e) {
                throw failure(target, e);
            }
        }
    }

    private static StoreException failure(Path file, IOException e) {
        int errno = DiskErrno.takesNothing(e) ? DiskErrno.of(e) : Errno.EIO;
        return StoreException.ofThisNode(errno, "The record " + file + ": " + e, e);
    }
}

package io.posixgateway.fuse.spi;

import java.nio.ByteBuffer;

/**
 * A file system by inodes: the kernel names files by node ids that earlier answers gave it, the root being 1.
 *
 * <p><b>Answers.</b> A method returns 0 (or a count where it says so), or a negative {@link Errno}. A method not overridden
 * answers ENOSYS, which the kernel remembers for most operations and does not ask again. Exceptions are no answers: one that
 * escapes is logged once and answered EIO.
 *
 * <p><b>Threads.</b> Any method may run on many threads at once, for one node or handle as well. A call with
 * {@link Request#mayWait()} false runs on a thread that serves others too: what cannot be answered from memory or a local
 * file returns {@link #WOULD_WAIT}, without effect, and is called again on a pool thread with mayWait() true.
 *
 * <p><b>Ownership.</b> Names, reply objects and buffers are lent for the call. Reply objects come cleared. Buffers are
 * direct, positioned at 0, limited to what is asked; their position at return is of no meaning, the returned count is.
 */
public interface FileSystem extends AutoCloseable {
    /** The root's node id. */
    long ROOT = 1;

    /** "Not without waiting": no errno; see above. */
    int WOULD_WAIT = Integer.MIN_VALUE;

    /** Called once, before the first request, with the mount's line to the kernel. */
    default void started(Kernel kernel) {}

    /** Do lock requests come here? If not, the kernel keeps the locks of this mount itself. */
    default boolean handlesLocks() {
        return false;
    }

    /**
     * Does it take set-user-id and set-group-id off a file that is changed as {@link Request#killsPrivileges} and {@link
     * SetAttributes#KILL_SUID_GID} say? If not, the kernel does, by a setattr before the change, but for the set-group-id of a file
     * that its group may not execute.
     */
    default boolean dropsPrivileges() {
        return false;
    }

    /** Finds a name. A missing one: ENOENT, or 0 with {@code entry.node} 0 to have it remembered. */
    int lookup(Request request, long parent, Name name, Entry entry);

    /**
     * Are nodes found by {@link #find} as long as the file is there? Then file handles (name_to_handle_at(2), NFS) live as long as
     * the mount. If not, the kernel is told that this mount has none; one that is too old to be told (before 6.9) gives some that
     * are ESTALE once it forgot the node.
     */
    default boolean findsForgotten() {
        return false;
    }

    /**
     * Finds a node that the kernel knew once and has forgotten; it counts as a lookup. Never another file: ids that are used again
     * differ in their generation. ESTALE: it is gone.
     *
     * @param above the directory above is wanted, of a directory that the kernel knows
     */
    default int find(Request request, long node, boolean above, Entry entry) {
        return -Errno.ESTALE;
    }

    /** Do its attributes hold the time of birth? If so, statx(2) shows it, for one more question to {@link #getattr}. */
    default boolean tellsBirth() {
        return false;
    }

    /** Takes {@code lookups} off the node's count. At 0 the kernel no longer knows the node. Never waits; has no answer. */
    default void forget(long node, long lookups) {}

    /** @param handle an open file through which is asked, or 0 */
    int getattr(Request request, long node, long handle, Attributes attributes);

    /** Changes what {@code changes} names and answers the attributes after it. */
    default int setattr(Request request, long node, SetAttributes changes, Attributes attributes) {
        return -Errno.ENOSYS;
    }

    /** Only asked without default_permissions. */
    default int access(Request request, long node, int mask) {
        return -Errno.ENOSYS;
    }

    /** Puts the target into the buffer; returns its length in bytes. */
    default int readlink(Request request, long node, ByteBuffer target) {
        return -Errno.ENOSYS;
    }

    /** @param target a copy to keep */
    default int symlink(Request request, long parent, Name name, byte[] target, Entry entry) {
        return -Errno.ENOSYS;
    }

    /** @param mode type and permissions, umask already taken off */
    default int mknod(Request request, long parent, Name name, int mode, int device, Entry entry) {
        return -Errno.ENOSYS;
    }

    /** @param mode permissions, umask already taken off */
    default int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        return -Errno.ENOSYS;
    }

    default int unlink(Request request, long parent, Name name) {
        return -Errno.ENOSYS;
    }

    default int rmdir(Request request, long parent, Name name) {
        return -Errno.ENOSYS;
    }

    /** @param flags {@link Stat#RENAME_NOREPLACE}, {@link Stat#RENAME_EXCHANGE}; EINVAL for what is not supported */
    default int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        return -Errno.ENOSYS;
    }

    /** EOPNOTSUPP where there are no hard links: on EPERM, programs that could copy report a lack of permission and end. */
    default int link(Request request, long node, long newParent, Name newName, Entry entry) {
        return -Errno.EOPNOTSUPP;
    }

    /**
     * ENOSYS is remembered: the kernel opens and closes files by itself from then on, keeps their pages, and sends what it
     * wants of them with handle 0. {@link #flush} is to answer ENOSYS for these, too.
     *
     * @param flags of open(2), without O_CREAT and O_EXCL; O_TRUNC only where atomic truncation was negotiated
     */
    int open(Request request, long node, int flags, OpenReply reply);

    /** Makes a regular file and opens it, in one. */
    default int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        return -Errno.ENOSYS;
    }

    /**
     * Makes a regular file without a name in this directory and opens it (O_TMPFILE); it goes with its last descriptor, unless
     * {@link #link} gives it a name before.
     */
    default int tmpfile(Request request, long parent, int mode, int flags, CreateReply reply) {
        return -Errno.ENOSYS;
    }

    /** Reads at {@code offset} into the buffer; returns the bytes put; fewer than its limit only at the end of the file. */
    int read(Request request, long node, long handle, long offset, ByteBuffer into);

    /** Writes the buffer at {@code offset}; returns the bytes taken. */
    default int write(Request request, long node, long handle, long offset, ByteBuffer data) {
        return -Errno.ENOSYS;
    }

    /** One descriptor of the open file was closed; may come several times. Its error is what close(2) returns. */
    default int flush(Request request, long node, long handle, long lockOwner) {
        return -Errno.ENOSYS;
    }

    /** The last descriptor is gone. Nobody sees the answer; it is counted and logged. */
    default int release(Request request, long node, long handle) {
        return 0;
    }

    default int fsync(Request request, long node, long handle, boolean dataOnly) {
        return -Errno.ENOSYS;
    }

    default int opendir(Request request, long node, int flags, OpenReply reply) {
        return 0;
    }

    /**
     * Adds entries from {@code offset} on (0: the beginning; else what an entry gave as next) until the writer is full or
     * the listing ends; nothing added means the end.
     */
    int readdir(Request request, long node, long handle, long offset, DirectoryWriter writer);

    default int releasedir(Request request, long node, long handle) {
        return 0;
    }

    default int fsyncdir(Request request, long node, long handle, boolean dataOnly) {
        return -Errno.ENOSYS;
    }

    default int statfs(Request request, long node, StatFs reply) {
        return -Errno.ENOSYS;
    }

    /** @param flags 1: create only (EEXIST), 2: replace only (ENODATA) */
    default int setxattr(Request request, long node, Name name, ByteBuffer value, int flags) {
        return -Errno.ENOSYS;
    }

    /** Returns the value's length always; puts it into the buffer where it fits. ENODATA: no such attribute. */
    default int getxattr(Request request, long node, Name name, ByteBuffer into) {
        return -Errno.ENOSYS;
    }

    /** Returns the length of all names, each ended by a NUL; puts them where they fit. */
    default int listxattr(Request request, long node, ByteBuffer into) {
        return -Errno.ENOSYS;
    }

    default int removexattr(Request request, long node, Name name) {
        return -Errno.ENOSYS;
    }

    /** @param whence 3 (SEEK_DATA) or 4 (SEEK_HOLE); returns the offset, or a negative errno (ENXIO: beyond the end) */
    default long lseek(Request request, long node, long handle, long offset, int whence) {
        return -Errno.ENOSYS;
    }

    /** @param mode of fallocate(2); EOPNOTSUPP for what is not supported */
    default int fallocate(Request request, long node, long handle, long offset, long lengthBytes, int mode) {
        return -Errno.ENOSYS;
    }

    /** Copies between two open files; returns the bytes copied, or a negative errno. */
    default int copyFileRange(Request request, CopyRange range) {
        return -Errno.ENOSYS;
    }

    /** Fills {@code lock} with one that is in the way, or with type UNLOCK. */
    default int getlk(Request request, long node, long handle, FileLock lock) {
        return -Errno.ENOSYS;
    }

    /** Sets or takes off a lock; EAGAIN when another is in the way and {@code sleep} is false. */
    default int setlk(Request request, long node, long handle, FileLock lock, boolean sleep) {
        return -Errno.ENOSYS;
    }

    /** After the last request: frees what is held, publishes what is not yet published. */
    @Override
    default void close() {}

    /** The answer to create: an entry and an open file. */
    final class CreateReply {
        public final Entry entry = new Entry();
        public final OpenReply open = new OpenReply();

        /** Puts every field to zero. */
        public void clear() {
            entry.clear();
            open.clear();
        }
    }

    /** The arguments of copy_file_range(2). */
    final class CopyRange {
        public long node;
        public long handle;
        public long offset;
        public long toNode;
        public long toHandle;
        public long toOffset;
        public long lengthBytes;
    }
}

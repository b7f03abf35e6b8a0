package io.posixgateway.fuse.jni;

import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * The natives: system calls that Java has no way to make. Results below 0 are negative errnos. Descriptors and mapped memory
 * given out belong to the caller. A text is bytes without a NUL, shorter than 4096.
 */
public final class Native {
    /** {@link #writeThenRead} tells a write that failed by the errno less this. */
    public static final int WRITE_FAILED = 4096;

    private static final Charset FILE_NAMES = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

    static {
        NativeLoader.ensureAvailable();
    }

    private Native() {}

    /** A file's path as the kernel wants it. */
    public static byte[] pathBytes(String path) {
        return path.getBytes(FILE_NAMES);
    }

    /** "read_in": a struct's size in C; "read_in.offset": a field's place; "ENOENT": an error number; -1: no such name. */
    public static long layout(String name) {
        return layoutOf(name.getBytes(StandardCharsets.US_ASCII));
    }

    private static native long layoutOf(byte[] name);

    /** What a negative result means, in words. */
    public static String errorText(long result) {
        return new String(errorBytes((int) -result), StandardCharsets.US_ASCII);
    }

    private static native byte[] errorBytes(int errno);

    /** Maps zeroed memory that takes room when first touched; its address. */
    public static native long map(long bytes);

    /** Maps the beginning of a memfd; its address. */
    public static native long mapShared(int fd, long bytes);

    /** Maps a part of a memfd at this address and no other. EEXIST: something lies there. */
    public static native int mapAt(int fd, long offset, long bytes, long address);

    /** Makes a memfd at least so long. */
    public static native int enlarge(int fd, long bytes);

    /** Gives whole pages of what {@link #map} mapped back to the machine; they are zeroed when next touched. */
    public static native int discard(long address, long bytes);

    public static native int unmap(long address, long bytes);

    /** A direct buffer over mapped memory, big-endian as all new ones; dead once that is unmapped. */
    public static native ByteBuffer buffer(long address, int bytes);

    public static native int close(int fd);

    /**
     * Closes a descriptor but keeps its number, so that no other file gets it: every use of the number fails with EBADF from now on. For one
     * that a thread may still use at any time.
     */
    public static native int retire(int fd);

    /** The length of the file behind a descriptor. */
    public static native long fileBytes(int fd);

    /** fallocate(2) of an open file. EOPNOTSUPP: its disk cannot do that. */
    public static native int allocate(FileDescriptor file, int mode, long offset, long bytes);

    /**
     * lseek(2) of an open file; the offset found. Whoever reads and writes it does so at offsets of their own.
     *
     * @param whence 3 (SEEK_DATA) or 4 (SEEK_HOLE)
     */
    public static native long seek(FileDescriptor file, long offset, int whence);

    /**
     * Prepares an open file for {@link #residentRead}, where its disk may be waited for: reads of it change no time of access and
     * start no reading ahead.
     */
    public static native int residentBegin(FileDescriptor file);

    /**
     * Reads without the disk, from the page cache alone, into so many bytes of a direct buffer, all of them. EAGAIN: the disk would
     * have to be waited for, or the file ends before, and the bytes are undefined; ENOSYS, EOPNOTSUPP: kernel (before 6.5) or file
     * system cannot do it.
     */
    public static native int residentRead(FileDescriptor file, ByteBuffer into, int at, int bytes, long offset);

    /** Has the kernel begin to read a part of a file into its page cache; may wait for the disk. */
    public static native int prefetch(FileDescriptor file, long offset, long bytes);

    /** Has the kernel drop what it has of a part of a file in its page cache, as far as nobody maps or changes it. */
    public static native int discardPages(FileDescriptor file, long offset, long bytes);

    /** Opens /dev/fuse. */
    public static native int openDevice();

    /** One more descriptor of the same connection, with requests of its own. */
    public static native int cloneDevice(int fd);

    /** Whether the connection has not ended; before its device number goes to another mount, it has. Does not wait. */
    public static native boolean isConnected(int fd);

    /** Blocks for a message; its bytes. EINTR: woken. ENODEV or ECONNABORTED: the connection has ended. */
    public static native int readMessage(int fd, long into, int capacity);

    /** Sends the message at this address, whose out-header tells the length. ENOENT: nobody waits for it. */
    public static native int writeMessage(int fd, long message);

    /** Both in one call; ENOENT of the write is passed over, another failure of it ends the call: {@link #WRITE_FAILED}. */
    public static native int writeThenRead(int fd, long message, long into, int capacity);

    /** Writes from the beginning of a direct buffer. */
    public static native int write(int fd, ByteBuffer message, int bytes);

    /**
     * Opens a regular file for reading that lies beneath a trusted folder, through no link, on its file system, and belongs to
     * the owner of the folder it lies in. ELOOP, ENOTDIR: a link; EXDEV: elsewhere; EPERM: no such file, or of another owner.
     *
     * @param rootFolderName a trusted folder, the path of another beneath it (empty: the same), and the file's name there
     * @param into closed; open afterwards, unless this failed
     * @param identity gets the file's device and inode
     */
    public static native int openBeneath(byte[][] rootFolderName, FileDescriptor into, long[] identity);

    /**
     * Opens a folder and takes its flock(2) exclusively, without waiting; the descriptor holds the lock. EAGAIN: somebody else holds
     * it; ELOOP, ENOTDIR: a link, or no folder; EBADF, ENOLCK, EOPNOTSUPP: its file system cannot lock folders.
     *
     * @param identity gets the device and inode of what was locked
     */
    public static native int lockFolder(byte[] path, long[] identity);

    /**
     * Whether another process holds a record lock of any kind on a file: 1 or 0; it need not be writable. This process must hold none
     * on it, as it would lose it.
     */
    public static native int isLocked(byte[] path);

    /**
     * Takes the lock of a file that can be written, without waiting: one that excludes each other, and that the kernel releases as soon
     * as this process is killed, whatever its threads wait for ({@code pgw_life_lock.h}). The lock, or -EAGAIN: somebody else has it.
     */
    public static native long lockForLife(byte[] path);

    /** The same of an open file, whose descriptor stays the caller's and may be shared. */
    public static native long lockOpenedForLife(int fd);

    public static native void releaseLifeLock(long lock);

    /** Gives the kernel an open file to read by itself; the backing id. */
    public static native int openBacking(int fd, FileDescriptor file);

    public static native int closeBacking(int fd, int backingId);

    /** mount(2) of an opened device; texts: source, target, ",more,options". */
    public static native int mountDirect(int fd, byte[][] sourceTargetOptions, int flags);

    /**
     * Lets fusermount mount, and gives the descriptor of the connection; texts: source (unused), target, "all,options".
     *
     * @param complaint direct; gets what fusermount said on its standard error, ended by a NUL
     * @return ENOENT: there is no fusermount; EPERM: it refused
     */
    public static native int mountFusermount(byte[][] sourceTargetOptions, ByteBuffer complaint);

    public static native int unmount(byte[] target, boolean lazy);

    /** Installs the handler of the signal that {@link #wakeThread} sends. Idempotent. */
    public static native int installWake();

    /** The calling thread's number, for {@link #wakeThread}. */
    public static native int currentThread();

    /** Lets this thread run wherever the process's first one may; see {@link UnpinnedThread}. */
    static native int unpin();

    /** Makes a blocking native of that thread return EINTR. May come too early: repeat until it has been seen. */
    public static native int wakeThread(int thread);

    /** The size of a page of memory: 4 KiB on most machines, 64 KiB on some. */
    public static native int pageBytes();

    /** Connects to a Unix socket; every send and receive is bounded by the time-out. */
    public static native int connectUnix(byte[] path, int timeoutMillis);

    /** Sends the beginning of a direct buffer, all of it. EAGAIN: time-out. */
    public static native int send(int socket, ByteBuffer data, int bytes);

    /**
     * Sends some bytes of the beginning of a direct buffer, at least one, and with them descriptors, which stay the caller's.
     *
     * @param fds 1 to 8
     * @return how many bytes; EAGAIN: time-out
     */
    public static native int sendWithFds(int socket, ByteBuffer data, int bytes, int[] fds);

    /**
     * Receives what there is into the beginning of a direct buffer; 0: the peer has closed; EMFILE: this process has no room for each
     * descriptor that came, and has none of them.
     *
     * @param fds at most 8 places; filled with descriptors that came, the rest with -1
     */
    public static native int receive(int socket, ByteBuffer into, int[] fds);

    /** User id of the process at the other end of a Unix socket. */
    public static native long peerUid(int socket);
}

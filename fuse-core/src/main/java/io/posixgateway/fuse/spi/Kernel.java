package io.posixgateway.fuse.spi;

import java.io.FileDescriptor;
import java.nio.ByteBuffer;

/**
 * What a file system can ask of the kernel about its own mount. Any thread; none of these wait for the file system itself,
 * but an invalidation may wait for the page cache: never call one from inside a request of the same node. That of attributes alone
 * waits for nothing where the request has the node in use, as an open has.
 *
 * <p>Every method returns 0 or a negative errno; ENOENT (the kernel does not know the node) is no failure.
 */
public interface Kernel {
    /** What was negotiated with this kernel. */
    Features features();

    /** Drops cached attributes, and cached data of this range (length 0: to the end; offset &lt; 0: attributes only). */
    int invalidateInode(long node, long offset, long lengthBytes);

    /**
     * Puts bytes into the page cache of a file, before anybody asks for them; a file that ends before them grows in the kernel's eyes.
     *
     * @param offset in the file, bytes, ≥ 0
     * @param bytes what remains of it is taken, and copied; its position does not move
     * @return 0 once all is there, or a negative errno: what came before the failure may be there
     */
    int store(long node, long offset, ByteBuffer bytes);

    /** Drops the name from its directory in the dentry cache. */
    int invalidateEntry(long parent, Name name);

    /** Collects notifications that are told together, for when there are many. The caller closes it; one thread. */
    Batch batch();

    /** Notifications in their order. They are told when they fill a message, and by {@link #close}; what becomes of one is not told. */
    interface Batch extends AutoCloseable {
        /** As {@link Kernel#invalidateInode}. */
        void invalidateInode(long node, long offset, long lengthBytes);

        /** As {@link Kernel#invalidateEntry}. */
        void invalidateEntry(long parent, Name name);

        /** Tells what is left. */
        @Override
        void close();
    }

    /** The name is gone; who watches the directory is told. */
    int notifyDelete(long parent, long child, Name name);

    /**
     * Hands a file to the kernel so that opens can be answered with it (passthrough).
     *
     * @param file a local file, open for reading; it stays the caller's, who may close it afterwards
     * @return the backing id (&gt; 0), or a negative errno; EOPNOTSUPP where passthrough was not negotiated
     */
    int openBacking(FileDescriptor file);

    /** Gives a backing id back; files open with it go on. */
    int closeBacking(int backingId);
}

package io.posixgateway.fuse.spi;

/** The answer to open, create and opendir. */
public final class OpenReply {
    /** Reads and writes go past the kernel's page cache. */
    public static final int DIRECT_IO = 1;
    /**
     * What the page cache holds of this file is still right. Without it the pages are dropped; not to be left out while somebody
     * writes, for what he writes is in the pages before it comes to the file system. Pages of a file that is open are dropped, too,
     * when its length is another than the kernel knows; else {@link Kernel#invalidateInode} tells of what changes without it.
     */
    public static final int KEEP_CACHE = 1 << 1;

    public static final int NON_SEEKABLE = 1 << 2;
    /** Opendir: the kernel may cache the listing. */
    public static final int CACHE_DIR = 1 << 3;
    /** The kernel need not send FLUSH at close. */
    public static final int NO_FLUSH = 1 << 5;
    /** Direct writes of several threads at once are fine. */
    public static final int PARALLEL_DIRECT_WRITES = 1 << 6;

    /** The file system's own number for the open file; comes back in read, write, flush, release. */
    public long handle;
    /** Of the constants here. */
    public int flags;
    /** Of {@link Kernel#openBacking}: the kernel itself reads and writes that file; 0: none. */
    public int backingId;

    /** Puts every field to zero. */
    public void clear() {
        handle = 0;
        flags = 0;
        backingId = 0;
    }
}

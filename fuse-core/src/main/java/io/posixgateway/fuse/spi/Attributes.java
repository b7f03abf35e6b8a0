package io.posixgateway.fuse.spi;

/**
 * What stat(2) shows of a file; filled by the file system, one object per request, cleared before each.
 *
 * <p>Times are seconds since the epoch with nanoseconds 0…999,999,999 beside them. {@code mode} carries the file type.
 */
public final class Attributes {
    /** Inode number that programs see; 0 takes the node id. */
    public long inode;

    public long sizeBytes;
    /** Units of 512 bytes. */
    public long blocks;

    public long accessSeconds;
    public int accessNanos;
    public long modifySeconds;
    public int modifyNanos;
    public long changeSeconds;
    public int changeNanos;
    /** When the file was made; told by file systems that {@linkplain FileSystem#tellsBirth say so}. */
    public long birthSeconds;

    public int birthNanos;
    public int mode;
    public int links;
    public int uid;
    public int gid;
    public int device;
    public int blockSizeBytes;
    /** How long the kernel may believe these attributes, in nanoseconds; 0: not at all. */
    public long validNanos;

    /** Puts every field to zero. */
    public void clear() {
        inode = 0;
        sizeBytes = 0;
        blocks = 0;
        accessSeconds = 0;
        accessNanos = 0;
        modifySeconds = 0;
        modifyNanos = 0;
        changeSeconds = 0;
        changeNanos = 0;
        birthSeconds = 0;
        birthNanos = 0;
        mode = 0;
        links = 0;
        uid = 0;
        gid = 0;
        device = 0;
        blockSizeBytes = 0;
        validNanos = 0;
    }

    /** Sets access, modify and change time to one instant. */
    public void setAllTimes(long seconds, int nanos) {
        accessSeconds = seconds;
        accessNanos = nanos;
        modifySeconds = seconds;
        modifyNanos = nanos;
        changeSeconds = seconds;
        changeNanos = nanos;
    }
}

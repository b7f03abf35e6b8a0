package io.posixgateway.fuse.spi;

/** A POSIX or flock lock: asked for, or found. Offsets are inclusive; {@code end} of Long.MAX_VALUE is the end of file. */
public final class FileLock {
    public static final int READ = 0;
    public static final int WRITE = 1;
    public static final int UNLOCK = 2;

    public long start;
    public long end;
    /** READ, WRITE or UNLOCK. */
    public int type;

    public int pid;
    /** The kernel's name for who holds it. */
    public long owner;
    /** flock(2) rather than fcntl(2). */
    public boolean flock;
}

package io.posixgateway.fuse.spi;

/** What setattr is to change: only what {@link #valid} names. */
public final class SetAttributes {
    public static final int MODE = 1;
    public static final int UID = 1 << 1;
    public static final int GID = 1 << 2;
    public static final int SIZE = 1 << 3;
    public static final int ACCESS_TIME = 1 << 4;
    public static final int MODIFY_TIME = 1 << 5;
    /** {@link #handle} is set: the change comes through an open file. */
    public static final int HANDLE = 1 << 6;

    public static final int ACCESS_TIME_NOW = 1 << 7;
    public static final int MODIFY_TIME_NOW = 1 << 8;
    public static final int LOCK_OWNER = 1 << 9;
    public static final int CHANGE_TIME = 1 << 10;
    /** Set-user-id and set-group-id go with the change: {@link Stat#withoutPrivileges}. */
    public static final int KILL_SUID_GID = 1 << 11;

    /** Of the constants here. */
    public int valid;

    public long handle;
    public long sizeBytes;
    public int mode;
    public int uid;
    public int gid;
    public long accessSeconds;
    public int accessNanos;
    public long modifySeconds;
    public int modifyNanos;
    public long changeSeconds;
    public int changeNanos;

    /** Is any of these asked for? */
    public boolean has(int flags) {
        return (valid & flags) != 0;
    }
}

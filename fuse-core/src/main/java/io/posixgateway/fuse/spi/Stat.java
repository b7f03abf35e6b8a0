package io.posixgateway.fuse.spi;

/** Bits of a file mode, of open(2) and of fallocate(2), as Linux on x86-64 and arm64 has them. */
public final class Stat {
    public static final int S_IFMT = 0170000;
    public static final int S_IFSOCK = 0140000;
    public static final int S_IFLNK = 0120000;
    public static final int S_IFREG = 0100000;
    public static final int S_IFBLK = 0060000;
    public static final int S_IFDIR = 0040000;
    public static final int S_IFCHR = 0020000;
    public static final int S_IFIFO = 0010000;
    public static final int S_ISUID = 04000;
    public static final int S_ISGID = 02000;
    public static final int S_ISVTX = 01000;
    public static final int S_IXGRP = 010;
    /** Every bit that chmod can set. */
    public static final int PERMISSIONS = 07777;

    public static final int O_ACCMODE = 03;
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 01;
    public static final int O_RDWR = 02;
    public static final int O_CREAT = 0100;
    public static final int O_EXCL = 0200;
    public static final int O_TRUNC = 01000;
    public static final int O_APPEND = 02000;

    public static final int RENAME_NOREPLACE = 1;
    public static final int RENAME_EXCHANGE = 1 << 1;

    public static final int SEEK_DATA = 3;
    public static final int SEEK_HOLE = 4;

    /** Of fallocate(2): the size stays. */
    public static final int FALLOC_KEEP_SIZE = 1;
    /** The range becomes a hole; always with the one above. */
    public static final int FALLOC_PUNCH_HOLE = 1 << 1;
    /** The range reads as zeros and is held. */
    public static final int FALLOC_ZERO_RANGE = 1 << 4;

    private Stat() {}

    /**
     * What is left of a file's mode once somebody without privileges changed it: set-user-id goes, and set-group-id, unless the
     * group may not execute the file (it meant mandatory locks once) and the change came from one of the group.
     */
    public static int withoutPrivileges(int mode, boolean byMember) {
        boolean keepsGroup = byMember && (mode & S_IXGRP) == 0;
        return mode & ~(keepsGroup ? S_ISUID : S_ISUID | S_ISGID);
    }

    public static boolean isDirectory(int mode) {
        return (mode & S_IFMT) == S_IFDIR;
    }

    public static boolean isRegular(int mode) {
        return (mode & S_IFMT) == S_IFREG;
    }

    public static boolean isSymlink(int mode) {
        return (mode & S_IFMT) == S_IFLNK;
    }
}

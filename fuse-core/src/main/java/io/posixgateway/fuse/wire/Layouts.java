package io.posixgateway.fuse.wire;

/** Sizes and offsets, in bytes, of the kernel's structures (protocol 7.x); named {@code STRUCT_FIELD}. */
public final class Layouts {
    /** The resend bit of {@code unique}. */
    public static final long UNIQUE_RESEND = 1L << 63;

    public static final int IN_HEADER_BYTES = 40;
    public static final int IN_HEADER_LEN = 0;
    public static final int IN_HEADER_OPCODE = 4;
    public static final int IN_HEADER_UNIQUE = 8;
    public static final int IN_HEADER_NODEID = 16;
    public static final int IN_HEADER_UID = 24;
    public static final int IN_HEADER_GID = 28;
    public static final int IN_HEADER_PID = 32;

    public static final int OUT_HEADER_BYTES = 16;

    public static final int ATTR_BYTES = 88;
    public static final int ATTR_INO = 0;
    public static final int ATTR_SIZE = 8;
    public static final int ATTR_BLOCKS = 16;
    public static final int ATTR_ATIME = 24;
    public static final int ATTR_MTIME = 32;
    public static final int ATTR_CTIME = 40;
    public static final int ATTR_ATIMENSEC = 48;
    public static final int ATTR_MTIMENSEC = 52;
    public static final int ATTR_CTIMENSEC = 56;
    public static final int ATTR_MODE = 60;
    public static final int ATTR_NLINK = 64;
    public static final int ATTR_UID = 68;
    public static final int ATTR_GID = 72;
    public static final int ATTR_RDEV = 76;
    public static final int ATTR_BLKSIZE = 80;
    public static final int ATTR_FLAGS = 84;

    public static final int ENTRY_OUT_BYTES = 128;
    public static final int ENTRY_OUT_NODEID = 0;
    public static final int ENTRY_OUT_GENERATION = 8;
    public static final int ENTRY_OUT_ENTRY_VALID = 16;
    public static final int ENTRY_OUT_ATTR_VALID = 24;
    public static final int ENTRY_OUT_ENTRY_VALID_NSEC = 32;
    public static final int ENTRY_OUT_ATTR_VALID_NSEC = 36;
    public static final int ENTRY_OUT_ATTR = 40;

    public static final int ATTR_OUT_BYTES = 104;
    public static final int ATTR_OUT_ATTR_VALID = 0;
    public static final int ATTR_OUT_ATTR_VALID_NSEC = 8;
    public static final int ATTR_OUT_DUMMY = 12;
    public static final int ATTR_OUT_ATTR = 16;

    public static final int OPEN_OUT_BYTES = 16;
    public static final int OPEN_OUT_FH = 0;
    public static final int OPEN_OUT_OPEN_FLAGS = 8;
    public static final int OPEN_OUT_BACKING_ID = 12;
    /** Bit of open_flags: backing_id names the file that the kernel reads and writes itself. */
    public static final int FOPEN_PASSTHROUGH = 1 << 7;

    public static final int WRITE_OUT_BYTES = 8;
    public static final int GETXATTR_OUT_BYTES = 8;
    public static final int LSEEK_OUT_BYTES = 8;

    public static final int STATFS_OUT_BYTES = 80;
    public static final int STATFS_OUT_BLOCKS = 0;
    public static final int STATFS_OUT_BFREE = 8;
    public static final int STATFS_OUT_BAVAIL = 16;
    public static final int STATFS_OUT_FILES = 24;
    public static final int STATFS_OUT_FFREE = 32;
    public static final int STATFS_OUT_BSIZE = 40;
    public static final int STATFS_OUT_NAMELEN = 44;
    public static final int STATFS_OUT_FRSIZE = 48;

    public static final int FILE_LOCK_BYTES = 24;
    public static final int FILE_LOCK_START = 0;
    public static final int FILE_LOCK_END = 8;
    public static final int FILE_LOCK_TYPE = 16;
    public static final int FILE_LOCK_PID = 20;

    public static final int DIRENT_BYTES = 24;
    public static final int DIRENT_INO = 0;
    public static final int DIRENT_OFF = 8;
    public static final int DIRENT_NAMELEN = 16;
    public static final int DIRENT_TYPE = 20;

    public static final int FORGET_ONE_BYTES = 16;
    public static final int FORGET_ONE_NODEID = 0;
    public static final int FORGET_ONE_NLOOKUP = 8;

    public static final int GETATTR_IN_FLAGS = 0;
    public static final int GETATTR_IN_FH = 8;
    public static final int GETATTR_FH = 1;

    public static final int STATX_IN_GETATTR_FLAGS = 0;
    public static final int STATX_IN_FH = 8;

    public static final int SX_TIME_TV_SEC = 0;
    public static final int SX_TIME_TV_NSEC = 8;

    public static final int STATX_MASK = 0;
    public static final int STATX_BLKSIZE = 4;
    public static final int STATX_NLINK = 16;
    public static final int STATX_UID = 20;
    public static final int STATX_GID = 24;
    public static final int STATX_MODE = 28;
    public static final int STATX_INO = 32;
    public static final int STATX_SIZE = 40;
    public static final int STATX_BLOCKS = 48;
    public static final int STATX_ATIME = 64;
    public static final int STATX_BTIME = 80;
    public static final int STATX_CTIME = 96;
    public static final int STATX_MTIME = 112;
    public static final int STATX_RDEV_MAJOR = 128;
    public static final int STATX_RDEV_MINOR = 132;

    public static final int STATX_OUT_BYTES = 288;
    public static final int STATX_OUT_ATTR_VALID = 0;
    public static final int STATX_OUT_ATTR_VALID_NSEC = 8;
    public static final int STATX_OUT_STAT = 32;

    public static final int SETATTR_IN_VALID = 0;
    public static final int SETATTR_IN_FH = 8;
    public static final int SETATTR_IN_SIZE = 16;
    public static final int SETATTR_IN_ATIME = 32;
    public static final int SETATTR_IN_MTIME = 40;
    public static final int SETATTR_IN_CTIME = 48;
    public static final int SETATTR_IN_ATIMENSEC = 56;
    public static final int SETATTR_IN_MTIMENSEC = 60;
    public static final int SETATTR_IN_CTIMENSEC = 64;
    public static final int SETATTR_IN_MODE = 68;
    public static final int SETATTR_IN_UID = 76;
    public static final int SETATTR_IN_GID = 80;

    public static final int MKNOD_IN_MODE = 0;
    public static final int MKNOD_IN_RDEV = 4;
    public static final int MKNOD_IN_UMASK = 8;

    public static final int MKDIR_IN_MODE = 0;
    public static final int MKDIR_IN_UMASK = 4;

    public static final int RENAME_IN_NEWDIR = 0;
    public static final int RENAME2_IN_FLAGS = 8;
    public static final int LINK_IN_OLDNODEID = 0;

    public static final int OPEN_IN_FLAGS = 0;
    public static final int OPEN_IN_OPEN_FLAGS = 4;
    /** Bit of open_flags: cut by somebody without privileges. */
    public static final int OPEN_KILL_SUIDGID = 1;

    public static final int CREATE_IN_FLAGS = 0;
    public static final int CREATE_IN_MODE = 4;
    public static final int CREATE_IN_UMASK = 8;
    public static final int CREATE_IN_OPEN_FLAGS = 12;

    /** Of read, readdir and write alike. */
    public static final int READ_IN_FH = 0;

    public static final int READ_IN_OFFSET = 8;
    public static final int READ_IN_SIZE = 16;

    public static final int WRITE_IN_WRITE_FLAGS = 20;
    /** Bit of write_flags: pages that were written before, by whom is not known. */
    public static final int WRITE_CACHE = 1;
    /** Bit of write_flags: by somebody without privileges. */
    public static final int WRITE_KILL_SUIDGID = 1 << 2;

    public static final int RELEASE_IN_FH = 0;
    public static final int RELEASE_IN_RELEASE_FLAGS = 12;
    public static final int RELEASE_IN_LOCK_OWNER = 16;
    public static final int RELEASE_FLOCK_UNLOCK = 1 << 1;

    public static final int FLUSH_IN_FH = 0;
    public static final int FLUSH_IN_LOCK_OWNER = 16;

    public static final int FSYNC_IN_FH = 0;
    public static final int FSYNC_IN_FSYNC_FLAGS = 8;
    public static final int FSYNC_FDATASYNC = 1;

    public static final int SETXATTR_IN_SIZE = 0;
    public static final int SETXATTR_IN_FLAGS = 4;
    public static final int GETXATTR_IN_SIZE = 0;

    public static final int LK_IN_FH = 0;
    public static final int LK_IN_OWNER = 8;
    public static final int LK_IN_LK = 16;
    public static final int LK_IN_LK_FLAGS = 40;
    public static final int LK_FLOCK = 1;

    public static final int ACCESS_IN_MASK = 0;
    public static final int INTERRUPT_IN_UNIQUE = 0;
    public static final int FORGET_IN_NLOOKUP = 0;
    public static final int BATCH_FORGET_IN_COUNT = 0;

    public static final int FALLOCATE_IN_FH = 0;
    public static final int FALLOCATE_IN_OFFSET = 8;
    public static final int FALLOCATE_IN_LENGTH = 16;
    public static final int FALLOCATE_IN_MODE = 24;

    public static final int LSEEK_IN_FH = 0;
    public static final int LSEEK_IN_OFFSET = 8;
    public static final int LSEEK_IN_WHENCE = 16;

    public static final int COPY_FILE_RANGE_IN_FH_IN = 0;
    public static final int COPY_FILE_RANGE_IN_OFF_IN = 8;
    public static final int COPY_FILE_RANGE_IN_NODEID_OUT = 16;
    public static final int COPY_FILE_RANGE_IN_FH_OUT = 24;
    public static final int COPY_FILE_RANGE_IN_OFF_OUT = 32;
    public static final int COPY_FILE_RANGE_IN_LEN = 40;
    public static final int COPY_FILE_RANGE_IN_FLAGS = 48;

    private Layouts() {}
}

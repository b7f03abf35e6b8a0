package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileLock;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.StatFs;
import io.posixgateway.fuse.wire.Layouts;
import java.nio.ByteBuffer;

/** Puts answers into the wire's form, at an absolute position; each method returns the bytes put. */
final class ReplyWriter {
    private static final long NANOS = 1_000_000_000L;

    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int STATX_BTIME = 0x800;

    private static final int FLAGS_WITH_BACKING =
            OpenReply.DIRECT_IO | OpenReply.NO_FLUSH | OpenReply.PARALLEL_DIRECT_WRITES;

    private ReplyWriter() {}

    static int entry(ByteBuffer to, int at, Entry entry) {
        long entryNanos = Math.max(0, entry.validNanos);
        long attributeNanos = Math.max(0, entry.attributes.validNanos);
        to.putLong(at + Layouts.ENTRY_OUT_NODEID, entry.node);
        to.putLong(at + Layouts.ENTRY_OUT_GENERATION, entry.generation);
        to.putLong(at + Layouts.ENTRY_OUT_ENTRY_VALID, entryNanos / NANOS);
        to.putLong(at + Layouts.ENTRY_OUT_ATTR_VALID, attributeNanos / NANOS);
        to.putInt(at + Layouts.ENTRY_OUT_ENTRY_VALID_NSEC, (int) (entryNanos % NANOS));
        to.putInt(at + Layouts.ENTRY_OUT_ATTR_VALID_NSEC, (int) (attributeNanos % NANOS));
        attr(to, at + Layouts.ENTRY_OUT_ATTR, entry.attributes, entry.node);
        return Layouts.ENTRY_OUT_BYTES;
    }

    static int attributes(ByteBuffer to, int at, Attributes attributes, long node) {
        long validNanos = Math.max(0, attributes.validNanos);
        to.putLong(at + Layouts.ATTR_OUT_ATTR_VALID, validNanos / NANOS);
        to.putInt(at + Layouts.ATTR_OUT_ATTR_VALID_NSEC, (int) (validNanos % NANOS));
        to.putInt(at + Layouts.ATTR_OUT_DUMMY, 0);
        attr(to, at + Layouts.ATTR_OUT_ATTR, attributes, node);
        return Layouts.ATTR_OUT_BYTES;
    }

    private static void attr(ByteBuffer to, int at, Attributes from, long node) {
        to.putLong(at + Layouts.ATTR_INO, from.inode != 0 ? from.inode : node);
        to.putLong(at + Layouts.ATTR_SIZE, from.sizeBytes);
        to.putLong(at + Layouts.ATTR_BLOCKS, from.blocks);
        to.putLong(at + Layouts.ATTR_ATIME, from.accessSeconds);
        to.putLong(at + Layouts.ATTR_MTIME, from.modifySeconds);
        to.putLong(at + Layouts.ATTR_CTIME, from.changeSeconds);
        to.putInt(at + Layouts.ATTR_ATIMENSEC, from.accessNanos);
        to.putInt(at + Layouts.ATTR_MTIMENSEC, from.modifyNanos);
        to.putInt(at + Layouts.ATTR_CTIMENSEC, from.changeNanos);
        to.putInt(at + Layouts.ATTR_MODE, from.mode);
        to.putInt(at + Layouts.ATTR_NLINK, from.links);
        to.putInt(at + Layouts.ATTR_UID, from.uid);
        to.putInt(at + Layouts.ATTR_GID, from.gid);
        to.putInt(at + Layouts.ATTR_RDEV, from.device);
        to.putInt(at + Layouts.ATTR_BLKSIZE, from.blockSizeBytes);
        to.putInt(at + Layouts.ATTR_FLAGS, 0);
    }

    /** The basic attributes and the time of birth. */
    static int statx(ByteBuffer to, int at, Attributes from, long node) {
        for (int i = 0; i < Layouts.STATX_OUT_BYTES; i += Long.BYTES) {
            to.putLong(at + i, 0);
        }
        long validNanos = Math.max(0, from.validNanos);
        to.putLong(at + Layouts.STATX_OUT_ATTR_VALID, validNanos / NANOS);
        to.putInt(at + Layouts.STATX_OUT_ATTR_VALID_NSEC, (int) (validNanos % NANOS));
        int stat = at + Layouts.STATX_OUT_STAT;
        to.putInt(stat + Layouts.STATX_MASK, STATX_BASIC_STATS | STATX_BTIME);
        to.putInt(stat + Layouts.STATX_BLKSIZE, from.blockSizeBytes);
        to.putInt(stat + Layouts.STATX_NLINK, from.links);
        to.putInt(stat + Layouts.STATX_UID, from.uid);
        to.putInt(stat + Layouts.STATX_GID, from.gid);
        to.putShort(stat + Layouts.STATX_MODE, (short) from.mode);
        to.putLong(stat + Layouts.STATX_INO, from.inode != 0 ? from.inode : node);
        to.putLong(stat + Layouts.STATX_SIZE, from.sizeBytes);
        to.putLong(stat + Layouts.STATX_BLOCKS, from.blocks);
        time(to, stat + Layouts.STATX_ATIME, from.accessSeconds, from.accessNanos);
        time(to, stat + Layouts.STATX_BTIME, from.birthSeconds, from.birthNanos);
        time(to, stat + Layouts.STATX_CTIME, from.changeSeconds, from.changeNanos);
        time(to, stat + Layouts.STATX_MTIME, from.modifySeconds, from.modifyNanos);
        to.putInt(stat + Layouts.STATX_RDEV_MAJOR, (from.device >>> 8) & 0xfff);
        to.putInt(stat + Layouts.STATX_RDEV_MINOR, (from.device & 0xff) | ((from.device >>> 12) & 0xfff00));
        return Layouts.STATX_OUT_BYTES;
    }

    private static void time(ByteBuffer to, int at, long seconds, int nanos) {
        to.putLong(at + Layouts.SX_TIME_TV_SEC, seconds);
        to.putInt(at + Layouts.SX_TIME_TV_NSEC, nanos);
    }

    /** With a backing file the kernel refuses the flags of its page cache (EIO): they say nothing then, and are left out. */
    static int open(ByteBuffer to, int at, OpenReply open) {
        boolean backed = open.backingId > 0;
        int flags = backed ? (open.flags & FLAGS_WITH_BACKING) | Layouts.FOPEN_PASSTHROUGH : open.flags;
        to.putLong(at + Layouts.OPEN_OUT_FH, open.handle);
        to.putInt(at + Layouts.OPEN_OUT_OPEN_FLAGS, flags);
        to.putInt(at + Layouts.OPEN_OUT_BACKING_ID, open.backingId);
        return Layouts.OPEN_OUT_BYTES;
    }

    static int statFs(ByteBuffer to, int at, StatFs from) {
        for (int i = 0; i < Layouts.STATFS_OUT_BYTES; i += Long.BYTES) {
            to.putLong(at + i, 0);
        }
        to.putLong(at + Layouts.STATFS_OUT_BLOCKS, from.blocks);
        to.putLong(at + Layouts.STATFS_OUT_BFREE, from.freeBlocks);
        to.putLong(at + Layouts.STATFS_OUT_BAVAIL, from.availableBlocks);
        to.putLong(at + Layouts.STATFS_OUT_FILES, from.files);
        to.putLong(at + Layouts.STATFS_OUT_FFREE, from.freeFiles);
        to.putInt(at + Layouts.STATFS_OUT_BSIZE, from.blockSizeBytes);
        to.putInt(at + Layouts.STATFS_OUT_NAMELEN, from.maxNameBytes);
        to.putInt(at + Layouts.STATFS_OUT_FRSIZE, from.fragmentSizeBytes);
        return Layouts.STATFS_OUT_BYTES;
    }

    static int lock(ByteBuffer to, int at, FileLock lock) {
        to.putLong(at + Layouts.FILE_LOCK_START, lock.start);
        to.putLong(at + Layouts.FILE_LOCK_END, lock.end);
        to.putInt(at + Layouts.FILE_LOCK_TYPE, lock.type);
        to.putInt(at + Layouts.FILE_LOCK_PID, lock.pid);
        return Layouts.FILE_LOCK_BYTES;
    }

    /** A count of bytes, followed by padding: the answer to write, copy_file_range and an asked size of attributes. */
    static int count(ByteBuffer to, int at, int bytes) {
        to.putInt(at, bytes);
        to.putInt(at + Integer.BYTES, 0);
        return Layouts.WRITE_OUT_BYTES;
    }

    static int offset(ByteBuffer to, int at, long offset) {
        to.putLong(at, offset);
        return Layouts.LSEEK_OUT_BYTES;
    }
}

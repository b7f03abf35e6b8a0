package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileLock;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;

/** What is asked of an open file. */
final class FileOperations {
    /** The largest count that a 32-bit answer carries. */
    private static final int MAX_COPY_BYTES = 0x7fff_f000;
    /** A copy that is limited to less than this a second still gets so far each time. */
    private static final int MIN_COPY_BYTES = 1 << 20;

    private final FileSystem fileSystem;
    private final SessionMetrics metrics;
    private final boolean readOnly;
    private final long maxCopyBytes;

    FileOperations(FileSystem fileSystem, SessionMetrics metrics, DispatchOptions options) {
        this.fileSystem = fileSystem;
        this.metrics = metrics;
        this.readOnly = options.readOnly();
        this.maxCopyBytes = maxCopyBytes(options.limit());
    }

    /** What a second allows, so that no other request waits much longer than that for a copy; callers go on after a short one. */
    static long maxCopyBytes(RateLimit limit) {
        long bytesPerSecond = limit.bytesPerSecond();
        return bytesPerSecond == 0
                ? MAX_COPY_BYTES
                : Math.min(MAX_COPY_BYTES, Math.max(MIN_COPY_BYTES, bytesPerSecond));
    }

    void define(Operations.Builder table) {
        table.on(Opcode.OPEN, this::open)
                .on(Opcode.READ, this::read)
                .on(Opcode.WRITE, this::write)
                .onStatus(Opcode.FLUSH, this::flush)
                .onStatus(Opcode.RELEASE, this::release)
                .onStatus(Opcode.FSYNC, this::fsync)
                .on(Opcode.LSEEK, this::lseek)
                .onStatus(Opcode.FALLOCATE, this::fallocate)
                .on(Opcode.COPY_FILE_RANGE, this::copyFileRange);
        if (fileSystem.handlesLocks()) {
            table.on(Opcode.GETLK, this::getlk)
                    .onStatus(Opcode.SETLK, call -> setlk(call, false))
                    .onStatus(Opcode.SETLKW, call -> setlk(call, true));
        }
    }

    private int open(Call call) {
        int flags = call.int32(Layouts.OPEN_IN_FLAGS);
        if (readOnly && (flags & (Stat.O_ACCMODE | Stat.O_TRUNC)) != 0) {
            return -Errno.EROFS;
        }
        call.killsPrivileges =
                call.isKnownNotRoot() || (call.int32(Layouts.OPEN_IN_OPEN_FLAGS) & Layouts.OPEN_KILL_SUIDGID) != 0;
        call.open.clear();
        int result = fileSystem.open(call, call.node, flags, call.open);
        return result < 0 ? result : ReplyWriter.open(call.reply(), call.replyAt(), call.open);
    }

    private int read(Call call) {
        long offset = call.int64(Layouts.READ_IN_OFFSET);
        if (offset < 0) {
            return -Errno.EINVAL;
        }
        ByteBuffer room = call.room(call.int32(Layouts.READ_IN_SIZE));
        int limit = room.limit();
        long handle = call.int64(Layouts.READ_IN_FH);
        int bytes = fileSystem.read(call, call.node, handle, offset, room);
        if (bytes > limit) {
            return -Errno.EIO;
        }
        if (bytes > 0) {
            metrics.bytesRead(bytes);
        }
        return bytes;
    }

    private int write(Call call) {
        int size = call.int32(Layouts.READ_IN_SIZE);
        long offset = call.int64(Layouts.READ_IN_OFFSET);
        if (offset < 0 || size < 0 || size > call.payloadBytes()) {
            return -Errno.EINVAL;
        }
        ByteBuffer data = call.data(size);
        int flags = call.int32(Layouts.WRITE_IN_WRITE_FLAGS);
        call.killsPrivileges = (flags & Layouts.WRITE_KILL_SUIDGID) != 0
                || ((flags & Layouts.WRITE_CACHE) == 0 && call.isKnownNotRoot());
        long handle = call.int64(Layouts.READ_IN_FH);
        int bytes = fileSystem.write(call, call.node, handle, offset, data);
        if (bytes < 0) {
            return bytes;
        }
        metrics.bytesWritten(bytes);
        return bytes > size ? -Errno.EIO : ReplyWriter.count(call.reply(), call.replyAt(), bytes);
    }

    private int flush(Call call) {
        return fileSystem.flush(
                call, call.node, call.int64(Layouts.FLUSH_IN_FH), call.int64(Layouts.FLUSH_IN_LOCK_OWNER));
    }

    private int release(Call call) {
        long handle = call.int64(Layouts.RELEASE_IN_FH);
        if ((call.int32(Layouts.RELEASE_IN_RELEASE_FLAGS) & Layouts.RELEASE_FLOCK_UNLOCK) != 0) {
            FileLock lock = call.lock;
            lock.start = 0;
            lock.end = Long.MAX_VALUE;
            lock.type = FileLock.UNLOCK;
            lock.pid = call.pid();
            lock.owner = call.int64(Layouts.RELEASE_IN_LOCK_OWNER);
            lock.flock = true;
            int result = fileSystem.setlk(call, call.node, handle, lock, false);
            if (result == FileSystem.WOULD_WAIT) {
                return result;
            }
        }
        return fileSystem.release(call, call.node, handle);
    }

    private int fsync(Call call) {
        boolean dataOnly = (call.int32(Layouts.FSYNC_IN_FSYNC_FLAGS) & Layouts.FSYNC_FDATASYNC) != 0;
        return fileSystem.fsync(call, call.node, call.int64(Layouts.FSYNC_IN_FH), dataOnly);
    }

    private int lseek(Call call) {
        long offset = fileSystem.lseek(
                call,
                call.node,
                call.int64(Layouts.LSEEK_IN_FH),
                call.int64(Layouts.LSEEK_IN_OFFSET),
                call.int32(Layouts.LSEEK_IN_WHENCE));
        return offset < 0 ? (int) offset : ReplyWriter.offset(call.reply(), call.replyAt(), offset);
    }

    private int fallocate(Call call) {
        long offset = call.int64(Layouts.FALLOCATE_IN_OFFSET);
        long length = call.int64(Layouts.FALLOCATE_IN_LENGTH);
        if (offset < 0 || length <= 0) {
            return -Errno.EINVAL;
        }
        if (offset > Long.MAX_VALUE - length) {
            return -Errno.EFBIG;
        }
        call.killsPrivileges = !call.isRoot();
        long handle = call.int64(Layouts.FALLOCATE_IN_FH);
        return fileSystem.fallocate(call, call.node, handle, offset, length, call.int32(Layouts.FALLOCATE_IN_MODE));
    }

    private int copyFileRange(Call call) {
        FileSystem.CopyRange range = call.range;
        range.node = call.node;
        range.handle = call.int64(Layouts.COPY_FILE_RANGE_IN_FH_IN);
        range.offset = call.int64(Layouts.COPY_FILE_RANGE_IN_OFF_IN);
        range.toNode = call.int64(Layouts.COPY_FILE_RANGE_IN_NODEID_OUT);
        range.toHandle = call.int64(Layouts.COPY_FILE_RANGE_IN_FH_OUT);
        range.toOffset = call.int64(Layouts.COPY_FILE_RANGE_IN_OFF_OUT);
        range.lengthBytes = Math.min(call.int64(Layouts.COPY_FILE_RANGE_IN_LEN), maxCopyBytes);
        if (range.offset < 0 || range.toOffset < 0 || range.lengthBytes < 0) {
            return -Errno.EINVAL;
        }
        call.killsPrivileges = !call.isRoot();
        int bytes = fileSystem.copyFileRange(call, range);
        return bytes < 0 ? bytes : ReplyWriter.count(call.reply(), call.replyAt(), bytes);
    }

    private int getlk(Call call) {
        takeLock(call);
        int result = fileSystem.getlk(call, call.node, call.int64(Layouts.LK_IN_FH), call.lock);
        return result < 0 ? result : ReplyWriter.lock(call.reply(), call.replyAt(), call.lock);
    }

    private int setlk(Call call, boolean sleep) {
        takeLock(call);
        return fileSystem.setlk(call, call.node, call.int64(Layouts.LK_IN_FH), call.lock, sleep);
    }

    private static void takeLock(Call call) {
        FileLock lock = call.lock;
        lock.start = call.int64(Layouts.LK_IN_LK + Layouts.FILE_LOCK_START);
        lock.end = call.int64(Layouts.LK_IN_LK + Layouts.FILE_LOCK_END);
        lock.type = call.int32(Layouts.LK_IN_LK + Layouts.FILE_LOCK_TYPE);
        lock.pid = call.int32(Layouts.LK_IN_LK + Layouts.FILE_LOCK_PID);
        lock.owner = call.int64(Layouts.LK_IN_OWNER);
        lock.flock = (call.int32(Layouts.LK_IN_LK_FLAGS) & Layouts.LK_FLOCK) != 0;
    }
}

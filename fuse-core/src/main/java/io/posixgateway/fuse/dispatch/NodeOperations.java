package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;

/** What is asked of a node itself: attributes, forgetting, links, the whole file system. */
final class NodeOperations {
    /** The kernel refuses a longer target. */
    private static final int MAX_TARGET_BYTES = 4095;

    private final FileSystem fileSystem;

    NodeOperations(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    void define(Operations.Builder table) {
        table.on(Opcode.FORGET, this::forget)
                .on(Opcode.BATCH_FORGET, this::batchForget)
                .on(Opcode.GETATTR, this::getattr)
                .on(Opcode.SETATTR, this::setattr)
                .onStatus(Opcode.ACCESS, this::access)
                .on(Opcode.READLINK, this::readlink)
                .on(Opcode.STATFS, this::statfs);
        if (fileSystem.tellsBirth()) {
            table.on(Opcode.STATX, this::statx);
        }
    }

    private int forget(Call call) {
        fileSystem.forget(call.node, call.int64(Layouts.FORGET_IN_NLOOKUP));
        return 0;
    }

    private int batchForget(Call call) {
        int wanted = call.int32(Layouts.BATCH_FORGET_IN_COUNT);
        int count = Math.min(wanted, call.payloadBytes() / Layouts.FORGET_ONE_BYTES);
        ByteBuffer list = call.exchange().payload();
        int at = call.exchange().payloadAt(Opcode.BATCH_FORGET.argumentBytes());
        for (int i = 0; i < count; i++, at += Layouts.FORGET_ONE_BYTES) {
            fileSystem.forget(
                    list.getLong(at + Layouts.FORGET_ONE_NODEID), list.getLong(at + Layouts.FORGET_ONE_NLOOKUP));
        }
        return 0;
    }

    private int getattr(Call call) {
        boolean open = (call.int32(Layouts.GETATTR_IN_FLAGS) & Layouts.GETATTR_FH) != 0;
        call.attributes.clear();
        int result = fileSystem.getattr(call, call.node, open ? call.int64(Layouts.GETATTR_IN_FH) : 0, call.attributes);
        return result < 0 ? result : ReplyWriter.attributes(call.reply(), call.replyAt(), call.attributes, call.node);
    }

    /** The kernel asks so for the time of birth alone; all else it takes from getattr. */
    private int statx(Call call) {
        boolean open = (call.int32(Layouts.STATX_IN_GETATTR_FLAGS) & Layouts.GETATTR_FH) != 0;
        call.attributes.clear();
        int result = fileSystem.getattr(call, call.node, open ? call.int64(Layouts.STATX_IN_FH) : 0, call.attributes);
        return result < 0 ? result : ReplyWriter.statx(call.reply(), call.replyAt(), call.attributes, call.node);
    }

    private int setattr(Call call) {
        SetAttributes changes = call.changes;
        changes.valid = call.int32(Layouts.SETATTR_IN_VALID);
        changes.handle = changes.has(SetAttributes.HANDLE) ? call.int64(Layouts.SETATTR_IN_FH) : 0;
        changes.sizeBytes = call.int64(Layouts.SETATTR_IN_SIZE);
        changes.mode = call.int32(Layouts.SETATTR_IN_MODE);
        changes.uid = call.int32(Layouts.SETATTR_IN_UID);
        changes.gid = call.int32(Layouts.SETATTR_IN_GID);
        changes.accessSeconds = call.int64(Layouts.SETATTR_IN_ATIME);
        changes.accessNanos = call.int32(Layouts.SETATTR_IN_ATIMENSEC);
        changes.modifySeconds = call.int64(Layouts.SETATTR_IN_MTIME);
        changes.modifyNanos = call.int32(Layouts.SETATTR_IN_MTIMENSEC);
        changes.changeSeconds = call.int64(Layouts.SETATTR_IN_CTIME);
        changes.changeNanos = call.int32(Layouts.SETATTR_IN_CTIMENSEC);
        if (changes.has(SetAttributes.SIZE) && changes.sizeBytes < 0) {
            return -Errno.EINVAL;
        }
        if (changes.has(SetAttributes.SIZE) ? call.isKnownNotRoot() : asksForNothing(changes)) {
            changes.valid |= SetAttributes.KILL_SUID_GID;
        }
        call.attributes.clear();
        int result = fileSystem.setattr(call, call.node, changes, call.attributes);
        return result < 0 ? result : ReplyWriter.attributes(call.reply(), call.replyAt(), call.attributes, call.node);
    }

    /** So comes chown(2) to no other owner or group, and what goes before a write that takes privileges off. */
    private static boolean asksForNothing(SetAttributes changes) {
        return !changes.has(~(SetAttributes.HANDLE | SetAttributes.LOCK_OWNER));
    }

    private int access(Call call) {
        return fileSystem.access(call, call.node, call.int32(Layouts.ACCESS_IN_MASK));
    }

    private int readlink(Call call) {
        ByteBuffer room = call.room(MAX_TARGET_BYTES);
        int limit = room.limit();
        int bytes = fileSystem.readlink(call, call.node, room);
        return bytes > limit ? -Errno.EIO : bytes;
    }

    private int statfs(Call call) {
        call.statFs.clear();
        int result = fileSystem.statfs(call, call.node, call.statFs);
        return result < 0 ? result : ReplyWriter.statFs(call.reply(), call.replyAt(), call.statFs);
    }
}

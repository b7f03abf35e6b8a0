package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;

/** Extended attributes. A question with size 0 asks how long the answer would be. */
final class AttributeOperations {
    private final FileSystem fileSystem;

    AttributeOperations(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    void define(Operations.Builder table) {
        table.onStatus(Opcode.SETXATTR, this::setxattr)
                .on(Opcode.GETXATTR, this::getxattr)
                .on(Opcode.LISTXATTR, this::listxattr)
                .onStatus(Opcode.REMOVEXATTR, this::removexattr);
    }

    private int setxattr(Call call) {
        int nameBytes = call.takeAttributeName();
        if (nameBytes < 0) {
            return nameBytes;
        }
        int size = call.int32(Layouts.SETXATTR_IN_SIZE);
        int from = nameBytes + 1;
        if (size < 0 || size > call.payloadBytes() - from) {
            return -Errno.EINVAL;
        }
        int flags = call.int32(Layouts.SETXATTR_IN_FLAGS);
        return fileSystem.setxattr(call, call.node, call.name, call.dataBehindNames(from, size), flags);
    }

    private int getxattr(Call call) {
        int nameBytes = call.takeAttributeName();
        if (nameBytes < 0) {
            return nameBytes;
        }
        int size = call.int32(Layouts.GETXATTR_IN_SIZE);
        return answer(call, size, fileSystem.getxattr(call, call.node, call.name, call.room(size)));
    }

    private int listxattr(Call call) {
        int size = call.int32(Layouts.GETXATTR_IN_SIZE);
        return answer(call, size, fileSystem.listxattr(call, call.node, call.room(size)));
    }

    private static int answer(Call call, int size, int bytes) {
        if (bytes < 0) {
            return bytes;
        }
        if (size == 0) {
            return ReplyWriter.count(call.reply(), call.replyAt(), bytes);
        }
        return bytes > Math.min(size, call.exchange().replyCapacity()) ? -Errno.ERANGE : bytes;
    }

    private int removexattr(Call call) {
        int nameBytes = call.takeAttributeName();
        return nameBytes < 0 ? nameBytes : fileSystem.removexattr(call, call.node, call.name);
    }
}

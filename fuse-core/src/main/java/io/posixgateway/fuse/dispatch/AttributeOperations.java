package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Extended attributes. A question with size 0 asks how long the answer would be. */
final class AttributeOperations {
    private static final byte[] TRUSTED = "trusted.".getBytes(StandardCharsets.US_ASCII);

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

    /** A length that is asked for counts those names, too, that are not listed. */
    private int listxattr(Call call) {
        int size = call.int32(Layouts.GETXATTR_IN_SIZE);
        ByteBuffer names = call.room(size);
        int bytes = fileSystem.listxattr(call, call.node, names);
        boolean there = bytes > 0 && bytes <= names.limit();
        return answer(call, size, there && !call.isRoot() ? withoutTrusted(names, bytes) : bytes);
    }

    /** Leaves out what the kernel lets nobody but root read; returns how many bytes stay. */
    private static int withoutTrusted(ByteBuffer names, int bytes) {
        int kept = 0;
        for (int at = 0; at < bytes; ) {
            int end = at;
            while (end < bytes && names.get(end) != 0) {
                end++;
            }
            int next = Math.min(end + 1, bytes);
            if (!startsWith(names, at, end, TRUSTED)) {
                for (int i = at; i < next; i++) {
                    names.put(kept++, names.get(i));
                }
            }
            at = next;
        }
        return kept;
    }

    private static boolean startsWith(ByteBuffer names, int at, int end, byte[] prefix) {
        if (end - at < prefix.length) {
            return false;
        }
        for (int i = 0; i < prefix.length; i++) {
            if (names.get(at + i) != prefix[i]) {
                return false;
            }
        }
        return true;
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

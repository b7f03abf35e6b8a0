package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;

/** What is asked of an open directory. */
final class DirectoryOperations {
    private final FileSystem fileSystem;

    DirectoryOperations(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    void define(Operations.Builder table) {
        table.on(Opcode.OPENDIR, this::opendir)
                .on(Opcode.READDIR, call -> readdir(call, false))
                .on(Opcode.READDIRPLUS, call -> readdir(call, true))
                .onStatus(Opcode.RELEASEDIR, this::releasedir)
                .onStatus(Opcode.FSYNCDIR, this::fsyncdir);
    }

    private int opendir(Call call) {
        call.open.clear();
        int result = fileSystem.opendir(call, call.node, call.int32(Layouts.OPEN_IN_FLAGS), call.open);
        return result < 0 ? result : ReplyWriter.open(call.reply(), call.replyAt(), call.open);
    }

    private int readdir(Call call, boolean plus) {
        long handle = call.int64(Layouts.READ_IN_FH);
        long offset = call.int64(Layouts.READ_IN_OFFSET);
        call.listing.begin(call.room(call.int32(Layouts.READ_IN_SIZE)), plus);
        int result = fileSystem.readdir(call, call.node, handle, offset, call.listing);
        return result < 0 ? result : call.listing.bytes();
    }

    private int releasedir(Call call) {
        return fileSystem.releasedir(call, call.node, call.int64(Layouts.RELEASE_IN_FH));
    }

    private int fsyncdir(Call call) {
        boolean dataOnly = (call.int32(Layouts.FSYNC_IN_FSYNC_FLAGS) & Layouts.FSYNC_FDATASYNC) != 0;
        return fileSystem.fsyncdir(call, call.node, call.int64(Layouts.FSYNC_IN_FH), dataOnly);
    }
}

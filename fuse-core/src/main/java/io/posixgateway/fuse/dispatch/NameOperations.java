package io.posixgateway.fuse.dispatch;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.wire.Layouts;
import io.posixgateway.fuse.wire.Opcode;

/** What is asked of a name in a directory. The names are copied before anything else is done. */
final class NameOperations {
    private final FileSystem fileSystem;

    NameOperations(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    void define(Operations.Builder table) {
        table.on(Opcode.LOOKUP, this::lookup)
                .on(Opcode.SYMLINK, this::symlink)
                .on(Opcode.MKNOD, this::mknod)
                .on(Opcode.MKDIR, this::mkdir)
                .onStatus(Opcode.UNLINK, this::unlink)
                .onStatus(Opcode.RMDIR, this::rmdir)
                .onStatus(Opcode.RENAME, call -> rename(call, 0))
                .onStatus(Opcode.RENAME2, call -> rename(call, call.int32(Layouts.RENAME2_IN_FLAGS)))
                .on(Opcode.LINK, this::link)
                .on(Opcode.CREATE, this::create)
                .on(Opcode.TMPFILE, this::tmpfile);
    }

    private int lookup(Call call) {
        int dots = call.dots();
        if (dots > 0 && fileSystem.findsForgotten()) {
            call.entry.clear();
            return entry(call, fileSystem.find(call, call.node, dots == 2, call.entry));
        }
        int bad = call.takeName();
        if (bad != 0) {
            return bad;
        }
        call.entry.clear();
        return entry(call, fileSystem.lookup(call, call.node, call.name, call.entry));
    }

    private int symlink(Call call) {
        int bad = call.takeName();
        if (bad != 0) {
            return bad;
        }
        byte[] target = call.textBehindName();
        if (target == null) {
            return -Errno.EINVAL;
        }
        call.entry.clear();
        return entry(call, fileSystem.symlink(call, call.node, call.name, target, call.entry));
    }

    private int mknod(Call call) {
        int bad = call.takeName();
        if (bad != 0) {
            return bad;
        }
        call.umask = call.int32(Layouts.MKNOD_IN_UMASK);
        call.entry.clear();
        int mode = call.int32(Layouts.MKNOD_IN_MODE);
        int device = call.int32(Layouts.MKNOD_IN_RDEV);
        return entry(call, fileSystem.mknod(call, call.node, call.name, mode, device, call.entry));
    }

    private int mkdir(Call call) {
        int bad = call.takeName();
        if (bad != 0) {
            return bad;
        }
        call.umask = call.int32(Layouts.MKDIR_IN_UMASK);
        call.entry.clear();
        int mode = call.int32(Layouts.MKDIR_IN_MODE) & Stat.PERMISSIONS;
        return entry(call, fileSystem.mkdir(call, call.node, call.name, mode, call.entry));
    }

    private int unlink(Call call) {
        int bad = call.takeName();
        return bad != 0 ? bad : fileSystem.unlink(call, call.node, call.name);
    }

    private int rmdir(Call call) {
        int bad = call.takeName();
        return bad != 0 ? bad : fileSystem.rmdir(call, call.node, call.name);
    }

    private int rename(Call call, int flags) {
        int bad = call.takeTwoNames();
        if (bad != 0) {
            return bad;
        }
        long newParent = call.int64(Layouts.RENAME_IN_NEWDIR);
        return fileSystem.rename(call, call.node, call.name, newParent, call.newName, flags);
    }

    private int link(Call call) {
        int bad = call.takeName();
        if (bad != 0) {
            return bad;
        }
        call.entry.clear();
        long node = call.int64(Layouts.LINK_IN_OLDNODEID);
        return entry(call, fileSystem.link(call, node, call.node, call.name, call.entry));
    }

    private int create(Call call) {
        int bad = call.takeName();
        if (bad != 0) {
            return bad;
        }
        call.umask = call.int32(Layouts.CREATE_IN_UMASK);
        call.created.clear();
        int mode = call.int32(Layouts.CREATE_IN_MODE) & Stat.PERMISSIONS;
        int flags = call.int32(Layouts.CREATE_IN_FLAGS);
        call.killsPrivileges =
                call.isKnownNotRoot() || (call.int32(Layouts.CREATE_IN_OPEN_FLAGS) & Layouts.OPEN_KILL_SUIDGID) != 0;
        return created(call, fileSystem.create(call, call.node, call.name, mode, flags, call.created));
    }

    /** Its arguments are those of create; it has no name, for which the kernel sends a slash. */
    private int tmpfile(Call call) {
        call.umask = call.int32(Layouts.CREATE_IN_UMASK);
        call.created.clear();
        int mode = call.int32(Layouts.CREATE_IN_MODE) & Stat.PERMISSIONS;
        int flags = call.int32(Layouts.CREATE_IN_FLAGS);
        return created(call, fileSystem.tmpfile(call, call.node, mode, flags, call.created));
    }

    private static int created(Call call, int result) {
        if (result < 0) {
            return result;
        }
        int bytes = ReplyWriter.entry(call.reply(), call.replyAt(), call.created.entry);
        return bytes + ReplyWriter.open(call.reply(), call.replyAt() + bytes, call.created.open);
    }

    private static int entry(Call call, int result) {
        return result < 0 ? result : ReplyWriter.entry(call.reply(), call.replyAt(), call.entry);
    }
}

package io.posixgateway.fuse.session;

import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.nio.ByteBuffer;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;

/**
 * Keeps a journal of the changes that may not be made twice, so that a request which the kernel sends again after its server
 * died is answered as the first one would have been.
 *
 * <p>Found done: the answer is the same again (an entry is looked up anew). Found begun: it may have happened or not, so it
 * is done with tolerance: what it would find if it had happened counts as success. Not found: nobody began it. Changes that
 * give the same result when repeated (write, setattr, …) are not journaled.
 */
final class JournaledFileSystem extends ForwardingFileSystem {
    private static final int XATTR_CREATE = 1;

    private final RequestJournal journal;
    private final LongConsumer files;

    /** @param files hears of regular files that the kernel is told of */
    JournaledFileSystem(FileSystem inner, RequestJournal journal, LongConsumer files) {
        super(inner);
        this.journal = journal;
        this.files = files;
    }

    @Override
    public int lookup(Request request, long parent, Name name, Entry entry) {
        int result = super.lookup(request, parent, name, entry);
        if (result == 0 && entry.node != 0 && Stat.isRegular(entry.attributes.mode)) {
            files.accept(entry.node);
        }
        return result;
    }

    @Override
    public int open(Request request, long node, int flags, OpenReply reply) {
        int result = super.open(request, node, flags, reply);
        if (result == 0) {
            files.accept(node);
        }
        return result;
    }

    /**
     * @param change makes the change
     * @param happened its answer to one that has happened already
     * @param answer the successful answer, without the change
     */
    private int journaled(Request request, IntSupplier change, int happened, IntSupplier answer) {
        int before = request.resent() ? journal.find(request.unique()) : RequestJournal.NONE;
        if (before != RequestJournal.NONE && journal.done(before)) {
            int result = journal.result(before);
            return result < 0 ? result : answer.getAsInt();
        }
        int record = journal.begin(request.unique(), before);
        int result = -Errno.EIO; // what is answered where this throws
        try {
            result = change.getAsInt();
            if (before != RequestJournal.NONE && result == happened) {
                result = answer.getAsInt();
            }
            return result;
        } finally {
            end(record, before, result);
        }
    }

    private void end(int record, int before, int result) {
        if (record != RequestJournal.NONE && result == WOULD_WAIT) {
            journal.cancel(record, before);
        } else if (record != RequestJournal.NONE) {
            journal.done(record, Math.min(result, 0));
        }
    }

    @Override
    public int mkdir(Request request, long parent, Name name, int mode, Entry entry) {
        return journaled(
                request,
                () -> super.mkdir(request, parent, name, mode, entry),
                -Errno.EEXIST,
                () -> find(request, parent, name, entry));
    }

    @Override
    public int mknod(Request request, long parent, Name name, int mode, int device, Entry entry) {
        return journaled(
                request,
                () -> super.mknod(request, parent, name, mode, device, entry),
                -Errno.EEXIST,
                () -> find(request, parent, name, entry));
    }

    @Override
    public int symlink(Request request, long parent, Name name, byte[] target, Entry entry) {
        return journaled(
                request,
                () -> super.symlink(request, parent, name, target, entry),
                -Errno.EEXIST,
                () -> find(request, parent, name, entry));
    }

    @Override
    public int link(Request request, long node, long newParent, Name newName, Entry entry) {
        return journaled(
                request,
                () -> super.link(request, node, newParent, newName, entry),
                -Errno.EEXIST,
                () -> find(request, newParent, newName, entry));
    }

    @Override
    public int create(Request request, long parent, Name name, int mode, int flags, CreateReply reply) {
        return journaled(
                request,
                () -> super.create(request, parent, name, mode, flags, reply),
                -Errno.EEXIST,
                () -> openCreated(request, parent, name, flags, reply));
    }

    private int openCreated(Request request, long parent, Name name, int flags, CreateReply reply) {
        reply.clear();
        int found = find(request, parent, name, reply.entry);
        if (found != 0) {
            return found;
        }
        int opened = open(request, reply.entry.node, flags & ~(Stat.O_CREAT | Stat.O_EXCL | Stat.O_TRUNC), reply.open);
        if (opened != 0) {
            forget(reply.entry.node, 1);
        }
        return opened;
    }

    @Override
    public int unlink(Request request, long parent, Name name) {
        return journaled(request, () -> super.unlink(request, parent, name), -Errno.ENOENT, () -> 0);
    }

    @Override
    public int rmdir(Request request, long parent, Name name) {
        return journaled(request, () -> super.rmdir(request, parent, name), -Errno.ENOENT, () -> 0);
    }

    @Override
    public int rename(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        if ((flags & Stat.RENAME_EXCHANGE) != 0) {
            return exchange(request, parent, name, newParent, newName, flags);
        }
        return journaled(
                request,
                () -> super.rename(request, parent, name, newParent, newName, flags),
                -Errno.ENOENT,
                () -> present(request, newParent, newName));
    }

    private int find(Request request, long parent, Name name, Entry entry) {
        entry.clear();
        int result = lookup(request, parent, name, entry);
        return result == 0 && entry.node == 0 ? -Errno.ENOENT : result;
    }

    private int present(Request request, long parent, Name name) {
        Entry entry = new Entry();
        int result = find(request, parent, name, entry);
        if (result == 0) {
            forget(entry.node, 1);
        }
        return result;
    }

    /** Twice is as good as never: where it is not known whether it happened, that is said. */
    private int exchange(Request request, long parent, Name name, long newParent, Name newName, int flags) {
        int before = request.resent() ? journal.find(request.unique()) : RequestJournal.NONE;
        if (before != RequestJournal.NONE && !journal.done(before)) {
            return -Errno.EIO;
        }
        return journaled(
                request, () -> super.rename(request, parent, name, newParent, newName, flags), WOULD_WAIT, () -> 0);
    }

    @Override
    public int setxattr(Request request, long node, Name name, ByteBuffer value, int flags) {
        if ((flags & XATTR_CREATE) == 0) {
            return super.setxattr(request, node, name, value, flags);
        }
        return journaled(request, () -> super.setxattr(request, node, name, value, flags), -Errno.EEXIST, () -> 0);
    }

    @Override
    public int removexattr(Request request, long node, Name name) {
        return journaled(request, () -> super.removexattr(request, node, name), -Errno.ENODATA, () -> 0);
    }
}

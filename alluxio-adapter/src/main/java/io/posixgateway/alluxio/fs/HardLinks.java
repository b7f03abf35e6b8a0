package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.fuse.spi.Errno;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which errno link(2) gets, as Alluxio has no hard links. Any thread; never waits.
 *
 * <p>What a program falls back on depends on what it links for. Who gives a file its last name at once, or keeps a copy beside it, links
 * within one directory, or within a Maildir, and renames on EPERM alone (Python's mailbox). Who saves the bytes of a copy links into
 * another directory, and copies on EOPNOTSUPP and EXDEV alone (checkpoints of RocksDB).
 */
final class HardLinks {
    /** In the place of an errno: the one that suits. */
    static final int BY_USE = 0;

    private static final Set<String> DELIVERED = Set.of("new", "cur");

    private final VolumeContext volume;

    HardLinks(VolumeContext volume) {
        this.volume = volume;
    }

    /** @param file null: it is not known */
    int errno(@Nullable Inode file, Inode directory) {
        Inode from = file == null ? null : volume.table.parentNow(file);
        boolean commits = from != null && (from == directory || isDelivery(from, directory));
        return commits ? Errno.EPERM : Errno.EOPNOTSUPP;
    }

    /** From the folder of a Maildir in which mail is written to one of those in which it is read. */
    private boolean isDelivery(Inode from, Inode to) {
        Inode maildir = volume.table.parentNow(from);
        return maildir != null
                && maildir == volume.table.parentNow(to)
                && volume.table.lastName(from).equals("tmp")
                && DELIVERED.contains(volume.table.lastName(to));
    }
}

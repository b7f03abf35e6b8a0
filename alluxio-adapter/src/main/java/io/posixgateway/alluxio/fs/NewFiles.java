package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.fs.NameOperations.Making;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.time.Instant;
import java.util.Map;

/** What a new file is to be in Alluxio: who owns it, and what Alluxio's model lacks. */
final class NewFiles {
    private final VolumeContext volume;

    NewFiles(VolumeContext volume) {
        this.volume = volume;
    }

    /** The file as it will be; its id is not known yet. */
    FileStatus plan(Request request, Inode directory, Making making) throws StoreException {
        PosixXattr extras = new PosixXattr();
        int type = making.mode() & Stat.S_IFMT;
        if (type != Stat.S_IFREG && type != Stat.S_IFDIR) {
            extras.present |= PosixXattr.TYPE;
            extras.type = type;
            extras.device = making.device();
            extras.target = making.target().toBytes();
        }
        Attr parent = volume.metadata.attr(directory);
        boolean inherits = (parent.mode() & Stat.S_ISGID) != 0;
        own(extras, request.uid(), inherits ? parent.gid() : request.gid());
        extras.special = (making.mode() & 07000) | (inherits && type == Stat.S_IFDIR ? Stat.S_ISGID : 0);
        if (extras.special != 0) {
            extras.present |= PosixXattr.SPECIAL;
        }
        if (type != Stat.S_IFDIR) {
            times(extras, volume.clock.instant());
        }
        String user = volume.store.user();
        long now = volume.clock.epochMillis();
        Map<String, byte[]> xattrs = extras.present == 0 ? Map.of() : Map.of(PosixXattr.XATTR, extras.encode());
        return new FileStatus(
                0, "", type == Stat.S_IFDIR, true, 0, 0, making.mode() & 0777, user, user, now, now, xattrs);
    }

    /** Until it is written. The master would note when the file is completed, which may be long after the last write. */
    private static void times(PosixXattr extras, Instant now) {
        extras.present |= PosixXattr.MODIFIED | PosixXattr.ACCESSED | PosixXattr.CHANGED;
        extras.modifiedSeconds = now.getEpochSecond();
        extras.modifiedNanos = now.getNano();
        extras.accessedSeconds = now.getEpochSecond();
        extras.accessedNanos = now.getNano();
        extras.changedSeconds = now.getEpochSecond();
        extras.changedNanos = now.getNano();
    }

    private void own(PosixXattr extras, int uid, int gid) {
        String user = volume.store.user();
        if (uid != volume.idMapper.uid(user)) {
            extras.present |= PosixXattr.OWNER;
            extras.uid = uid;
            extras.ownerThen = user;
        }
        if (gid != volume.idMapper.gid(user)) {
            extras.present |= PosixXattr.GROUP;
            extras.gid = gid;
            extras.groupThen = PosixXattr.ANY;
        }
    }
}

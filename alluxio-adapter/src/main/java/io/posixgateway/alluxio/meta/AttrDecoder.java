package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Stat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Decodes a file status of Alluxio, with our own extended attribute, into the attributes that stat(2) shows. */
public final class AttrDecoder {
    /** As owner or group of every file: whoever Alluxio says it is. No user and no group has this number. */
    public static final int AS_ALLUXIO_SAYS = -1;

    private static final Name NO_TARGET = Name.of(new byte[0]);
    private static final PosixXattr NO_EXTRAS = PosixXattr.decode(null);
    private static final int MAX_KINDS = 10_000;

    private final Map<Attr.Kind, Attr.Kind> kinds = new ConcurrentHashMap<>();
    private final IdMapper idMapper;
    private final int uid;
    private final int gid;
    private final GroupAccess groupAccess;
    private final int umask;
    private final MemoryAccounting bytes;
    private final UnknownOwners unknownOwners;

    /**
     * @param uid owner of every file, or {@link #AS_ALLUXIO_SAYS}
     * @param gid likewise
     * @param groupAccess added to every file's permissions
     * @param umask bits taken off every file's permissions, and off what was added
     * @param bytes of the table whose inodes will have the attributes
     */
    public AttrDecoder(
            IdMapper idMapper, int uid, int gid, GroupAccess groupAccess, int umask, MemoryAccounting bytes) {
        this.idMapper = idMapper;
        this.uid = uid;
        this.gid = gid;
        this.groupAccess = groupAccess;
        this.umask = umask;
        this.bytes = bytes;
        this.unknownOwners = new UnknownOwners(gid);
    }

    public Attr read(FileStatus status, long nowNanos) {
        if (status.xattrs().isEmpty()) {
            return new Attr(nowNanos, status, kind(status, NO_EXTRAS), null);
        }
        PosixXattr extras = PosixXattr.decode(status.xattrs().get(PosixXattr.XATTR));
        boolean counts = extras.modifiedCounts(status.directory(), status.modifiedMillis());
        Moment modified =
                counts ? new Moment(extras.modifiedSeconds, extras.modifiedNanos) : Moment.of(status.modifiedMillis());
        Moment accessed = extras.has(PosixXattr.ACCESSED)
                ? new Moment(extras.accessedSeconds, extras.accessedNanos)
                : Moment.of(status.shownAccessMillis());
        Moment changed = changed(status, extras, counts);
        Attr.Extra extra = new Attr.Extra(
                bytes,
                status.xattrs(),
                extras.target.length == 0 ? NO_TARGET : Name.of(extras.target),
                extras.has(PosixXattr.TYPE) ? extras.device : 0,
                modified.seconds,
                modified.nanos,
                accessed.seconds,
                accessed.nanos,
                changed.seconds,
                changed.nanos,
                extras.has(PosixXattr.NUMBER) ? extras.number : 0);
        return new Attr(nowNanos, status, kind(status, extras), extra);
    }

    /** The one that is shared by all files of this kind. */
    private Attr.Kind kind(FileStatus status, PosixXattr extras) {
        Attr.Kind kind = new Attr.Kind(
                status.directory(),
                status.complete(),
                status.blockBytes(),
                status.mode(),
                mode(status, extras),
                owner(status, extras),
                group(status, extras),
                status.owner(),
                status.group());
        Attr.Kind shared = kinds.get(kind);
        if (shared != null) {
            return shared;
        }
        if (kinds.size() >= MAX_KINDS) {
            kinds.clear();
        }
        kinds.put(kind, kind);
        unknownOwners.look(status, kind.mode(), kind.uid());
        return kind;
    }

    /** Seconds since the epoch, and nanoseconds beside them. */
    private record Moment(long seconds, int nanos) {
        static Moment of(long millis) {
            return new Moment(Math.floorDiv(millis, 1000L), (int) Math.floorMod(millis, 1000L) * 1_000_000);
        }
    }

    /**
     * Ours counts as long as our modification time does, whatever the master's clock says. Earlier versions wrote it without that
     * one: then the later one counts.
     */
    private static Moment changed(FileStatus status, PosixXattr extras, boolean modifiedCounts) {
        Moment content = Moment.of(status.modifiedMillis());
        boolean alone = !extras.has(PosixXattr.MODIFIED) && extras.changedSeconds >= content.seconds;
        boolean counts = extras.has(PosixXattr.CHANGED) && (modifiedCounts || alone);
        return counts ? new Moment(extras.changedSeconds, extras.changedNanos) : content;
    }

    private int mode(FileStatus status, PosixXattr extras) {
        int type = status.directory() ? Stat.S_IFDIR : Stat.S_IFREG;
        if (!status.directory() && extras.has(PosixXattr.TYPE)) {
            type = extras.type;
        }
        int special = extras.has(PosixXattr.SPECIAL) ? extras.special : 0;
        int permissions = unknownOwners.permissions(status) | groupAccess.bits(status.directory());
        return type | special | (Stat.isSymlink(type) ? 0777 : permissions & ~umask);
    }

    private int owner(FileStatus status, PosixXattr extras) {
        if (uid != AS_ALLUXIO_SAYS) {
            return uid;
        }
        return extras.ownerCounts(status.owner()) ? extras.uid : idMapper.uid(status.owner());
    }

    private int group(FileStatus status, PosixXattr extras) {
        if (gid != AS_ALLUXIO_SAYS) {
            return gid;
        }
        return extras.groupCounts(status.group()) ? extras.gid : idMapper.gid(status.group());
    }
}

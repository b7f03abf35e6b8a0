package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Stat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was seen of a file at one moment: immutable, replaced as a whole.
 *
 * <p>There are as many of these as files are cached, so they are small: what many files have in common is in one shared
 * {@link Kind}, and what few files have, in an {@link Extra}.
 */
public final class Attr {
    private static final int IO_BYTES = 1 << 20;
    /** What stat(2) shows as the length of any directory: in Alluxio it is the number of names, the gateway's own included. */
    private static final int DIRECTORY_BYTES = 4096;

    private static final Name NO_TARGET = Name.of(new byte[0]);

    private final long fetchedNanos;
    private final long fileId;
    private final long contentBytes;
    private final long modifiedMillis;
    private final long accessedMillis;
    private final int createdSeconds;
    private final Kind kind;
    private final @Nullable Extra extra;

    /**
     * @param fetchedNanos when, by the volume's clock
     * @param status what Alluxio said
     * @param extra what its extended attributes add; null: there are none
     */
    public Attr(long fetchedNanos, FileStatus status, Kind kind, @Nullable Extra extra) {
        this.fetchedNanos = fetchedNanos;
        this.fileId = status.id();
        this.contentBytes = status.lengthBytes();
        this.modifiedMillis = status.modifiedMillis();
        this.accessedMillis = status.accessedMillis();
        this.createdSeconds = status.createdSeconds();
        this.kind = kind;
        this.extra = extra;
    }

    /**
     * What files have in common.
     *
     * @param complete false while another client writes the file
     * @param rawMode permission bits in Alluxio
     * @param mode type and permissions as stat(2) shows them
     */
    public record Kind(
            boolean directory,
            boolean complete,
            long blockBytes,
            int rawMode,
            int mode,
            int uid,
            int gid,
            String owner,
            String group) {}

    /**
     * What the extended attributes of a file add, times as stat(2) shows them.
     *
     * @param target where a symlink leads; empty otherwise
     * @param counted where its bytes count while an inode has it
     * @param xattrs as Alluxio holds them
     * @param number the inode number that it has from the file before it; 0: its own
     */
    public record Extra(
            MemoryAccounting counted,
            Map<String, byte[]> xattrs,
            Name target,
            int device,
            long modifiedSeconds,
            int modifiedNanos,
            long accessedSeconds,
            int accessedNanos,
            long changedSeconds,
            int changedNanos,
            long number) {
        private static final int OBJECT_BYTES = 80;

        private long bytes() {
            long bytes = OBJECT_BYTES + MemoryAccounting.of(target.length());
            for (Map.Entry<String, byte[]> xattr : xattrs.entrySet()) {
                bytes += MemoryAccounting.ofXattr(xattr.getKey(), xattr.getValue());
            }
            return bytes;
        }
    }

    /** An inode has them now. */
    void enter() {
        if (extra != null) {
            extra.counted.add(extra.bytes());
        }
    }

    /** It has others, or none. */
    void leave() {
        if (extra != null) {
            extra.counted.add(-extra.bytes());
        }
    }

    /** When they were seen, by the volume's clock. */
    public long fetchedNanos() {
        return fetchedNanos;
    }

    /** Alluxio's id of the file that was seen. */
    public long fileId() {
        return fileId;
    }

    /** Length as stat(2) shows it: of a symlink, that of its target. */
    public long lengthBytes() {
        return Stat.isSymlink(kind.mode) ? target().length() : contentBytes;
    }

    public long blockBytes() {
        return kind.blockBytes;
    }

    /** False while another client writes the file. */
    public boolean complete() {
        return kind.complete;
    }

    /** Type and permissions. */
    public int mode() {
        return kind.mode;
    }

    public int uid() {
        return kind.uid;
    }

    public int gid() {
        return kind.gid;
    }

    /** Where a symlink leads; empty otherwise. */
    public Name target() {
        return extra == null ? NO_TARGET : extra.target;
    }

    /** When Alluxio made the file, since the epoch; 0: not known. */
    public int createdSeconds() {
        return createdSeconds;
    }

    /** What Alluxio said, without the name; made anew with every call. */
    public FileStatus raw() {
        return new FileStatus(
                fileId,
                "",
                kind.directory,
                kind.complete,
                contentBytes,
                kind.blockBytes,
                kind.rawMode,
                kind.owner,
                kind.group,
                modifiedMillis,
                accessedMillis,
                extra == null ? Map.of() : extra.xattrs,
                createdSeconds);
    }

    /** Of the last change of the content, as stat(2) shows it. */
    public long modifiedSeconds() {
        return extra == null ? Math.floorDiv(modifiedMillis, 1000L) : extra.modifiedSeconds;
    }

    public int modifiedNanos() {
        return extra == null ? nanosOf(modifiedMillis) : extra.modifiedNanos;
    }

    /** Of the last change of anything, as stat(2) shows it. */
    public long changedSeconds() {
        return extra == null ? Math.floorDiv(modifiedMillis, 1000L) : extra.changedSeconds;
    }

    public int changedNanos() {
        return extra == null ? nanosOf(modifiedMillis) : extra.changedNanos;
    }

    /** Are the times that stat(2) shows the same? */
    public boolean sameTimes(Attr other) {
        return sameModified(other)
                && changedSeconds() == other.changedSeconds()
                && changedNanos() == other.changedNanos();
    }

    /** The time of the last change of the content alone. */
    public boolean sameModified(Attr other) {
        return modifiedSeconds() == other.modifiedSeconds() && modifiedNanos() == other.modifiedNanos();
    }

    /** The inode number that our attribute gives it; 0: none. */
    public long number() {
        return extra == null ? 0 : extra.number;
    }

    /**
     * Shows them in a reply; the time for which they are valid is the caller's to set.
     *
     * @param number of the inode
     */
    public void show(long number, Attributes attributes) {
        attributes.inode = number;
        attributes.sizeBytes = kind.directory ? DIRECTORY_BYTES : lengthBytes();
        attributes.blocks = (attributes.sizeBytes + 511) / 512;
        attributes.mode = kind.mode;
        // Of a directory, "not known": how many directories are in it Alluxio does not say.
        attributes.links = 1;
        attributes.uid = kind.uid;
        attributes.gid = kind.gid;
        attributes.blockSizeBytes = IO_BYTES;
        if (extra == null) {
            showTimes(attributes);
        } else {
            showExtra(extra, attributes);
        }
    }

    private void showTimes(Attributes attributes) {
        attributes.device = 0;
        long accessed = FileStatus.shownAccessMillis(kind.directory, createdSeconds, accessedMillis);
        attributes.accessSeconds = Math.floorDiv(accessed, 1000L);
        attributes.accessNanos = nanosOf(accessed);
        attributes.modifySeconds = Math.floorDiv(modifiedMillis, 1000L);
        attributes.modifyNanos = nanosOf(modifiedMillis);
        attributes.changeSeconds = attributes.modifySeconds;
        attributes.changeNanos = attributes.modifyNanos;
    }

    private static int nanosOf(long millis) {
        return (int) Math.floorMod(millis, 1000L) * 1_000_000;
    }

    private static void showExtra(Extra extra, Attributes attributes) {
        attributes.device = extra.device;
        attributes.accessSeconds = extra.accessedSeconds;
        attributes.accessNanos = extra.accessedNanos;
        attributes.modifySeconds = extra.modifiedSeconds;
        attributes.modifyNanos = extra.modifiedNanos;
        attributes.changeSeconds = extra.changedSeconds;
        attributes.changeNanos = extra.changedNanos;
    }

    /** A number that other content of the same file does not have, as far as can be seen. */
    public long contentNumber() {
        long number = fileId;
        for (long part : new long[] {lengthBytes(), version(), kind.complete ? 1 : 0}) {
            number = mixed(number) + part;
        }
        return number;
    }

    /** Of times in Alluxio: a number that neither other content of the file has, nor another file of its id that was made at another time. */
    public long version() {
        return mixed(modifiedMillis) + createdSeconds;
    }

    private static long mixed(long number) {
        return (number ^ (number >>> 29)) * 0x9E3779B97F4A7C15L;
    }

    /** Is the content of a file the same as in the other attributes, as far as can be seen? */
    public boolean sameContent(Attr other) {
        return fileId == other.fileId
                && lengthBytes() == other.lengthBytes()
                && kind.complete == other.kind.complete
                && modifiedMillis == other.modifiedMillis;
    }
}

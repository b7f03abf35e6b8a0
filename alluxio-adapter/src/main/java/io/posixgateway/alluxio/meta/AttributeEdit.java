package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.SetAttributes;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What chmod, chown and utimens make of a file, as Alluxio is to hold it.
 *
 * <p>Attributes of a later version of this gateway (it was rolled back) may hold what a symlink or a device is. They are carried
 * along as they are; a change that would have to write them is refused with EOPNOTSUPP.
 */
public final class AttributeEdit {
    /** Bits of a setattr that are done here. */
    public static final int HANDLED = SetAttributes.MODE
            | SetAttributes.UID
            | SetAttributes.GID
            | SetAttributes.ACCESS_TIME
            | SetAttributes.MODIFY_TIME
            | SetAttributes.ACCESS_TIME_NOW
            | SetAttributes.MODIFY_TIME_NOW;

    private AttributeEdit() {}

    /** A change of a file. */
    @FunctionalInterface
    public interface Edit {
        FileStatus of(Attr attr) throws StoreException;
    }

    /** What is to be changed, and written then. */
    private static PosixXattr toChange(FileStatus raw) throws StoreException {
        PosixXattr extras = PosixXattr.decode(raw.xattrs().get(PosixXattr.XATTR));
        if (extras.foreign) {
            throw new StoreException(
                    Errno.EOPNOTSUPP,
                    "Attribute " + PosixXattr.XATTR + " of file id " + raw.id()
                            + " was written by a newer version of the gateway; change it with that version",
                    null);
        }
        return extras;
    }

    /** The file after the change; its attributes hold all that Alluxio's model lacks. */
    public static FileStatus apply(Attr attr, SetAttributes changes, Instant now) throws StoreException {
        FileStatus raw = attr.raw();
        PosixXattr extras = toChange(raw);
        int mode = raw.mode();
        if (changes.has(SetAttributes.MODE)) {
            mode = changes.mode & 0777;
            special(extras, changes.mode);
        }
        owners(attr, changes, extras);
        pin(attr, raw, extras);
        times(raw, changes, extras, now);
        extras.present |= PosixXattr.CHANGED;
        extras.changedSeconds = now.getEpochSecond();
        extras.changedNanos = now.getNano();
        Map<String, byte[]> xattrs = new HashMap<>(raw.xattrs());
        xattrs.put(PosixXattr.XATTR, extras.encode());
        return raw.with(mode, xattrs);
    }

    private static void special(PosixXattr extras, int mode) {
        extras.special = mode & 07000;
        if (extras.special != 0) {
            extras.present |= PosixXattr.SPECIAL;
        } else {
            extras.present &= ~PosixXattr.SPECIAL;
        }
    }

    private static void owners(Attr attr, SetAttributes changes, PosixXattr extras) {
        if (changes.has(SetAttributes.UID)) {
            extras.present |= PosixXattr.OWNER;
            extras.uid = changes.uid;
            extras.ownerThen = attr.raw().owner();
        }
        if (changes.has(SetAttributes.GID)) {
            extras.present |= PosixXattr.GROUP;
            extras.gid = changes.gid;
            extras.groupThen = attr.raw().group();
        }
    }

    /** The modification time is ours from now on, so that the time of the change is: whatever the master's clock says. */
    private static void pin(Attr attr, FileStatus raw, PosixXattr extras) {
        if (!extras.modifiedCounts(raw.directory(), raw.modifiedMillis())) {
            extras.present |= PosixXattr.MODIFIED;
            extras.modifiedSeconds = attr.modifiedSeconds();
            extras.modifiedNanos = attr.modifiedNanos();
            extras.modifiedThenMillis = raw.modifiedMillis();
        }
    }

    private static void times(FileStatus raw, SetAttributes changes, PosixXattr extras, Instant now) {
        if (changes.has(SetAttributes.MODIFY_TIME | SetAttributes.MODIFY_TIME_NOW)) {
            boolean isNow = changes.has(SetAttributes.MODIFY_TIME_NOW);
            extras.present |= PosixXattr.MODIFIED;
            extras.modifiedSeconds = isNow ? now.getEpochSecond() : changes.modifySeconds;
            extras.modifiedNanos = isNow ? now.getNano() : changes.modifyNanos;
            extras.modifiedThenMillis = raw.modifiedMillis();
        }
        if (changes.has(SetAttributes.ACCESS_TIME | SetAttributes.ACCESS_TIME_NOW)) {
            boolean isNow = changes.has(SetAttributes.ACCESS_TIME_NOW);
            extras.present |= PosixXattr.ACCESSED;
            extras.accessedSeconds = isNow ? now.getEpochSecond() : changes.accessSeconds;
            extras.accessedNanos = isNow ? now.getNano() : changes.accessNanos;
        }
    }

    /** The same file made again by this user of Alluxio: who owned it still does. */
    public static FileStatus ownedBy(Attr attr, String user) throws StoreException {
        FileStatus raw = attr.raw();
        if (raw.owner().equals(user)) {
            return raw;
        }
        PosixXattr extras = toChange(raw);
        extras.present |= PosixXattr.OWNER | PosixXattr.GROUP;
        extras.uid = attr.uid();
        extras.ownerThen = user;
        extras.gid = attr.gid();
        extras.groupThen = PosixXattr.ANY;
        Map<String, byte[]> xattrs = new HashMap<>(raw.xattrs());
        xattrs.put(PosixXattr.XATTR, extras.encode());
        return raw.with(raw.mode(), xattrs);
    }

    /** The same without times of ours. */
    static FileStatus untimed(FileStatus raw) {
        PosixXattr extras = PosixXattr.decode(raw.xattrs().get(PosixXattr.XATTR));
        if (extras.foreign) {
            return raw;
        }
        extras.present &= ~(PosixXattr.MODIFIED | PosixXattr.ACCESSED | PosixXattr.CHANGED);
        return with(raw, extras);
    }

    /** The same file, whose content was last written then; the same object where that is known already. */
    public static FileStatus written(FileStatus raw, Instant time) {
        PosixXattr extras = PosixXattr.decode(raw.xattrs().get(PosixXattr.XATTR));
        if (extras.foreign) {
            return raw;
        }
        extras.present |= PosixXattr.MODIFIED;
        extras.modifiedSeconds = time.getEpochSecond();
        extras.modifiedNanos = time.getNano();
        if (!extras.has(PosixXattr.ACCESSED)) {
            // That of the file that Alluxio makes of the content would be later, though nobody has read it.
            extras.present |= PosixXattr.ACCESSED;
            extras.accessedSeconds = Math.floorDiv(raw.accessedMillis(), 1000L);
            extras.accessedNanos = (int) Math.floorMod(raw.accessedMillis(), 1000L) * 1_000_000;
        }
        if (!extras.has(PosixXattr.CHANGED)
                || Instant.ofEpochSecond(extras.changedSeconds, extras.changedNanos)
                        .isBefore(time)) {
            extras.present |= PosixXattr.CHANGED;
            extras.changedSeconds = time.getEpochSecond();
            extras.changedNanos = time.getNano();
        }
        return with(raw, extras);
    }

    /** A directory as it is, with the times that were shown before. */
    public static FileStatus shown(FileStatus status, Attr before) {
        PosixXattr extras = PosixXattr.decode(status.xattrs().get(PosixXattr.XATTR));
        if (extras.foreign) {
            return status;
        }
        extras.present |= PosixXattr.MODIFIED | PosixXattr.CHANGED;
        extras.modifiedSeconds = before.modifiedSeconds();
        extras.modifiedNanos = before.modifiedNanos();
        extras.modifiedThenMillis = status.modifiedMillis();
        extras.changedSeconds = before.changedSeconds();
        extras.changedNanos = before.changedNanos();
        return with(status, extras);
    }

    /** When its attributes were last changed, or its content written, as far as our attribute says; null: it says nothing. */
    public static @Nullable Instant changed(FileStatus raw) {
        PosixXattr extras = PosixXattr.decode(raw.xattrs().get(PosixXattr.XATTR));
        return extras.has(PosixXattr.CHANGED)
                ? Instant.ofEpochSecond(extras.changedSeconds, extras.changedNanos)
                : null;
    }

    /**
     * Merges attributes that were changed here with those that others changed meanwhile: what is changed on both sides is as here.
     *
     * @param base what both began from
     * @return the file as it is in Alluxio now, with what was changed here
     */
    public static FileStatus merged(FileStatus base, FileStatus ours, FileStatus theirs) {
        Map<String, byte[]> xattrs = new HashMap<>(theirs.xattrs());
        Set<String> names = new HashSet<>(base.xattrs().keySet());
        names.addAll(ours.xattrs().keySet());
        for (String name : names) {
            byte[] own = ours.xattrs().get(name);
            if (own == null) {
                xattrs.remove(name);
            } else if (!Arrays.equals(own, base.xattrs().get(name))) {
                xattrs.put(name, own);
            }
        }
        mergeExtras(base, ours, theirs, xattrs);
        return theirs.with(hasOtherMode(base, ours) ? ours.mode() : theirs.mode(), xattrs);
    }

    /** Has a file the mode, owner, group and extended attributes of another, or of itself at another time? */
    public static boolean hasSame(FileStatus one, FileStatus other) {
        Map<String, byte[]> others = other.xattrs();
        return one.mode() == other.mode()
                && one.owner().equals(other.owner())
                && one.group().equals(other.group())
                && one.xattrs().keySet().equals(others.keySet())
                && one.xattrs().entrySet().stream()
                        .allMatch(xattr -> Arrays.equals(xattr.getValue(), others.get(xattr.getKey())));
    }

    /** The bits that Alluxio lacks are of it: nobody is to see some of one chmod and some of another. */
    private static boolean hasOtherMode(FileStatus base, FileStatus ours) {
        PosixXattr before = PosixXattr.decode(base.xattrs().get(PosixXattr.XATTR));
        PosixXattr own = PosixXattr.decode(ours.xattrs().get(PosixXattr.XATTR));
        return ours.mode() != base.mode() || !own.isSame(PosixXattr.SPECIAL, before);
    }

    private static void mergeExtras(FileStatus base, FileStatus ours, FileStatus theirs, Map<String, byte[]> xattrs) {
        PosixXattr before = PosixXattr.decode(base.xattrs().get(PosixXattr.XATTR));
        PosixXattr own = PosixXattr.decode(ours.xattrs().get(PosixXattr.XATTR));
        PosixXattr merged = PosixXattr.decode(theirs.xattrs().get(PosixXattr.XATTR));
        if (before.foreign || own.foreign || merged.foreign) {
            return;
        }
        for (int field : PosixXattr.FIELDS) {
            if (field == PosixXattr.SPECIAL ? hasOtherMode(base, ours) : !own.isSame(field, before)) {
                merged.take(field, own);
            }
        }
        if (merged.present != 0) {
            xattrs.put(PosixXattr.XATTR, merged.encode());
        }
    }

    /** The same file, which shows this inode number. */
    public static FileStatus numbered(FileStatus raw, long number) {
        PosixXattr extras = PosixXattr.decode(raw.xattrs().get(PosixXattr.XATTR));
        if (extras.foreign) {
            return raw;
        }
        extras.present |= PosixXattr.NUMBER;
        extras.number = number;
        return with(raw, extras);
    }

    private static FileStatus with(FileStatus raw, PosixXattr extras) {
        byte[] before = raw.xattrs().get(PosixXattr.XATTR);
        byte[] after = extras.encode();
        if (Arrays.equals(before, after)) {
            return raw;
        }
        Map<String, byte[]> xattrs = new HashMap<>(raw.xattrs());
        xattrs.put(PosixXattr.XATTR, after);
        return raw.with(raw.mode(), xattrs);
    }
}

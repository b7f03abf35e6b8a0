package io.posixgateway.alluxio.cache;

import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.inode.Facts;
import io.posixgateway.alluxio.posix.PosixExtras;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.SetAttributes;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

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
        FileStatus of(Facts facts) throws StoreException;
    }

    /** What is to be changed, and written then. */
    private static PosixExtras toChange(FileStatus raw) throws StoreException {
        PosixExtras extras = PosixExtras.decode(raw.xattrs().get(PosixExtras.XATTR));
        if (extras.foreign) {
            throw new StoreException(
                    Errno.EOPNOTSUPP,
                    "Attribute " + PosixExtras.XATTR + " of file id " + raw.id()
                            + " was written by a later version of this gateway: change it with that version",
                    null);
        }
        return extras;
    }

    /** The file after the change; its attributes hold all that Alluxio's model lacks. */
    public static FileStatus apply(Facts facts, SetAttributes changes, Instant now) throws StoreException {
        FileStatus raw = facts.raw();
        PosixExtras extras = toChange(raw);
        int mode = raw.mode();
        if (changes.has(SetAttributes.MODE)) {
            mode = changes.mode & 0777;
            special(extras, changes.mode);
        }
        owners(facts, changes, extras);
        times(raw, changes, extras, now);
        extras.present |= PosixExtras.CHANGED;
        extras.changedSeconds = now.getEpochSecond();
        extras.changedNanos = now.getNano();
        Map<String, byte[]> xattrs = new HashMap<>(raw.xattrs());
        xattrs.put(PosixExtras.XATTR, extras.encode());
        return raw.with(mode, xattrs);
    }

    private static void special(PosixExtras extras, int mode) {
        extras.special = mode & 07000;
        if (extras.special != 0) {
            extras.present |= PosixExtras.SPECIAL;
        } else {
            extras.present &= ~PosixExtras.SPECIAL;
        }
    }

    private static void owners(Facts facts, SetAttributes changes, PosixExtras extras) {
        if (changes.has(SetAttributes.UID)) {
            extras.present |= PosixExtras.OWNER;
            extras.uid = changes.uid;
            extras.ownerThen = facts.raw().owner();
        }
        if (changes.has(SetAttributes.GID)) {
            extras.present |= PosixExtras.GROUP;
            extras.gid = changes.gid;
            extras.groupThen = facts.raw().group();
        }
    }

    private static void times(FileStatus raw, SetAttributes changes, PosixExtras extras, Instant now) {
        if (changes.has(SetAttributes.MODIFY_TIME | SetAttributes.MODIFY_TIME_NOW)) {
            boolean isNow = changes.has(SetAttributes.MODIFY_TIME_NOW);
            extras.present |= PosixExtras.MODIFIED;
            extras.modifiedSeconds = isNow ? now.getEpochSecond() : changes.modifySeconds;
            extras.modifiedNanos = isNow ? now.getNano() : changes.modifyNanos;
            extras.modifiedThenMillis = raw.modifiedMillis();
        }
        if (changes.has(SetAttributes.ACCESS_TIME | SetAttributes.ACCESS_TIME_NOW)) {
            boolean isNow = changes.has(SetAttributes.ACCESS_TIME_NOW);
            extras.present |= PosixExtras.ACCESSED;
            extras.accessedSeconds = isNow ? now.getEpochSecond() : changes.accessSeconds;
            extras.accessedNanos = isNow ? now.getNano() : changes.accessNanos;
        }
    }

    /** The same file made again by this user of Alluxio: who owned it still does. */
    public static FileStatus ownedBy(Facts facts, String user) throws StoreException {
        FileStatus raw = facts.raw();
        if (raw.owner().equals(user)) {
            return raw;
        }
        PosixExtras extras = toChange(raw);
        extras.present |= PosixExtras.OWNER | PosixExtras.GROUP;
        extras.uid = facts.uid();
        extras.ownerThen = user;
        extras.gid = facts.gid();
        extras.groupThen = PosixExtras.ANY;
        Map<String, byte[]> xattrs = new HashMap<>(raw.xattrs());
        xattrs.put(PosixExtras.XATTR, extras.encode());
        return raw.with(raw.mode(), xattrs);
    }

    /** The same file once its content changed: a modification time of our own no longer counts. */
    public static FileStatus withoutTime(FileStatus raw) {
        PosixExtras extras = PosixExtras.decode(raw.xattrs().get(PosixExtras.XATTR));
        if (!extras.has(PosixExtras.MODIFIED)) {
            return raw;
        }
        extras.present &= ~PosixExtras.MODIFIED;
        Map<String, byte[]> xattrs = new HashMap<>(raw.xattrs());
        xattrs.put(PosixExtras.XATTR, extras.encode());
        return raw.with(raw.mode(), xattrs);
    }
}

package io.posixgateway.alluxio.posix;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The content of the extended attribute {@link #XATTR}: symlinks, special modes, nanosecond times, nodes, numeric ids.
 *
 * <p>A field counts only when its bit is set in {@link #present}. Where Alluxio has a value of its own (owner, group, a
 * directory's time), the value it had at that moment stands beside ours, and ours counts only as long as Alluxio's is still
 * the same: a later change by other means wins. The times of a file need no such witness: its content never changes, what others
 * write is another file, without this attribute. For one thread.
 *
 * <p>Fields that came later stand at the end, where an earlier version of the gateway does not look; it drops them when it writes
 * the attribute, though it keeps their bits.
 */
public final class PosixXattr {
    /** Name of the attribute in Alluxio. */
    public static final String XATTR = "io.posixgateway.posix";

    /** Name of the attribute of a directory into which the files of another one are being moved: that one's file id, in digits. */
    public static final String MOVED_FROM = "io.posixgateway.moved_from";

    /** The same one's mode, in octal digits, where the owner may not do all there: until all files are moved, he has to. */
    public static final String MOVED_MODE = "io.posixgateway.moved_mode";

    public static final int TYPE = 1;
    public static final int SPECIAL = 1 << 1;
    public static final int OWNER = 1 << 2;
    public static final int GROUP = 1 << 3;
    public static final int MODIFIED = 1 << 4;
    public static final int ACCESSED = 1 << 5;
    public static final int CHANGED = 1 << 6;
    public static final int NUMBER = 1 << 7;

    /** Each field by itself. */
    public static final List<Integer> FIELDS =
            List.of(TYPE, SPECIAL, OWNER, GROUP, MODIFIED, ACCESSED, CHANGED, NUMBER);

    /** As owner or group then: ours counts whatever Alluxio's is. */
    public static final String ANY = "";

    private static final int VERSION = 1;

    /** Which fields count: of the constants here. */
    public int present;
    /** TYPE: the type bits of the mode, {@link #device} and {@link #target} with it. */
    public int type;

    public int device;
    /** SPECIAL: set-uid, set-gid, sticky. */
    public int special;

    public int uid;
    public String ownerThen = ANY;
    public int gid;
    public String groupThen = ANY;
    public long modifiedSeconds;
    public int modifiedNanos;
    /** Alluxio's own time when ours was set; counts for directories. */
    public long modifiedThenMillis;

    public long accessedSeconds;
    public int accessedNanos;
    /** CHANGED: when attributes were last changed. */
    public long changedSeconds;

    public int changedNanos;
    /** NUMBER: the inode number that stat(2) shows, of the file that this one replaced as its new content. */
    public long number;
    /** Where a symlink leads. */
    public byte[] target = new byte[0];
    /** Of a version that is not known here: nothing counts, and nothing may be written over it. */
    public boolean foreign;

    public boolean has(int fields) {
        return (present & fields) == fields;
    }

    /** Does our modification time count where Alluxio's is this? */
    public boolean modifiedCounts(boolean directory, long modifiedMillis) {
        return has(MODIFIED) && (!directory || modifiedThenMillis == modifiedMillis);
    }

    /** Does our owner count where Alluxio's is this? */
    public boolean ownerCounts(String owner) {
        return has(OWNER) && (ownerThen.equals(ANY) || ownerThen.equals(owner));
    }

    /** Does our group count where Alluxio's is this? */
    public boolean groupCounts(String group) {
        return has(GROUP) && (groupThen.equals(ANY) || groupThen.equals(group));
    }

    /** Takes over a field, and whether it counts. */
    public void take(int field, PosixXattr from) {
        present = (present & ~field) | (from.present & field);
        switch (from.present & field) {
            case TYPE -> {
                type = from.type;
                device = from.device;
                target = from.target;
            }
            case SPECIAL -> special = from.special;
            case OWNER -> {
                uid = from.uid;
                ownerThen = from.ownerThen;
            }
            case GROUP -> {
                gid = from.gid;
                groupThen = from.groupThen;
            }
            case MODIFIED -> {
                modifiedSeconds = from.modifiedSeconds;
                modifiedNanos = from.modifiedNanos;
                modifiedThenMillis = from.modifiedThenMillis;
            }
            case ACCESSED -> {
                accessedSeconds = from.accessedSeconds;
                accessedNanos = from.accessedNanos;
            }
            case CHANGED -> {
                changedSeconds = from.changedSeconds;
                changedNanos = from.changedNanos;
            }
            case NUMBER -> number = from.number;
            default -> {} // it does not count
        }
    }

    /** Is a field the same, or in none of both? */
    public boolean isSame(int field, PosixXattr other) {
        PosixXattr own = new PosixXattr();
        own.take(field, this);
        PosixXattr others = new PosixXattr();
        others.take(field, other);
        return Arrays.equals(own.encode(), others.encode());
    }

    /** Reads an attribute; null (none) and what is truncated give empty extras, versions not known {@link #foreign} ones. */
    public static PosixXattr decode(byte @Nullable [] value) {
        PosixXattr extras = new PosixXattr();
        if (value == null || value.length == 0) {
            return extras;
        }
        if (value[0] != VERSION) {
            extras.foreign = true;
            return extras;
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(value, 1, value.length - 1))) {
            int present = in.readInt();
            extras.type = in.readInt();
            extras.device = in.readInt();
            extras.special = in.readInt();
            extras.uid = in.readInt();
            extras.ownerThen = in.readUTF();
            extras.gid = in.readInt();
            extras.groupThen = in.readUTF();
            extras.modifiedSeconds = in.readLong();
            extras.modifiedNanos = in.readInt();
            extras.modifiedThenMillis = in.readLong();
            extras.accessedSeconds = in.readLong();
            extras.accessedNanos = in.readInt();
            extras.changedSeconds = in.readLong();
            extras.changedNanos = in.readInt();
            extras.target = new byte[in.readUnsignedShort()];
            in.readFully(extras.target);
            boolean numbered = (present & NUMBER) != 0 && in.available() >= Long.BYTES;
            extras.number = numbered ? in.readLong() : 0;
            extras.present = numbered ? present : present & ~NUMBER;
            return extras;
        } catch (IOException truncated) {
            return new PosixXattr();
        }
    }

    /** The attribute's value. Not of {@link #foreign} ones. */
    public byte[] encode() {
        if (foreign) {
            throw new IllegalStateException("of a version that is not known");
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeInt(present);
            out.writeInt(type);
            out.writeInt(device);
            out.writeInt(special);
            out.writeInt(uid);
            out.writeUTF(ownerThen);
            out.writeInt(gid);
            out.writeUTF(groupThen);
            out.writeLong(modifiedSeconds);
            out.writeInt(modifiedNanos);
            out.writeLong(modifiedThenMillis);
            out.writeLong(accessedSeconds);
            out.writeInt(accessedNanos);
            out.writeLong(changedSeconds);
            out.writeInt(changedNanos);
            out.writeShort(target.length);
            out.write(target);
            if (has(NUMBER)) {
                out.writeLong(number);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}

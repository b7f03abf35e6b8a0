package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.spi.Attributes;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.SetAttributes;
import io.posixgateway.fuse.spi.Stat;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * One file, directory, link or special file.
 *
 * <p>{@link #lock} guards attributes, extended attributes and content; the tree's lock guards {@link #links}, the directory,
 * {@link #freed} and {@link #nameless}. {@link #lookups} is the kernel's count.
 */
final class Inode {
    /** What an inode takes from the space, besides its chunks and extended attributes. */
    static final int OWN_BYTES = 1024;

    private static final int DIRECTORY_ENTRY_BYTES = 32;
    private static final int BLOCK_BYTES = 4096;
    private static final int STAT_BLOCK_BYTES = 512;
    /** All extended attributes of an inode, with their names. */
    private static final int MAX_ATTRIBUTE_BYTES = 1 << 20;
    /** Their names, so that the list always fits one answer. */
    private static final int MAX_LIST_BYTES = 1 << 16;

    private static final Name CAPABILITY = Name.of("security.capability");
    private static final long DAY_SECONDS = 86_400;

    final long node;
    final long generation;
    final StampedLock lock = new StampedLock();
    final AtomicLong lookups = new AtomicLong();
    final int type;
    final int device;
    final @Nullable Content content;
    final @Nullable Directory directory;
    final @Nullable Name target;
    private final Space space;

    volatile int links;
    boolean freed;
    /** Made without a name, and may get one. */
    boolean nameless;

    private int permissions;
    private int uid;
    private int gid;
    private long accessSeconds;
    private int accessNanos;
    private long modifySeconds;
    private int modifyNanos;
    private long changeSeconds;
    private int changeNanos;
    private final Moment born;
    private final Map<Name, byte[]> attributes = new LinkedHashMap<>();
    private int attributeBytes;

    /** What a new inode is. */
    record Birth(
            int mode,
            int uid,
            int gid,
            int device,
            @Nullable Name target,
            @Nullable Directory directory) {}

    Inode(long node, long generation, Birth birth, Space space, Moment now) {
        this.node = node;
        this.generation = generation;
        this.type = birth.mode & Stat.S_IFMT;
        this.permissions = birth.mode & Stat.PERMISSIONS;
        this.uid = birth.uid;
        this.gid = birth.gid;
        this.device = birth.device;
        this.target = birth.target;
        this.directory = birth.directory;
        this.space = space;
        this.content = type == Stat.S_IFREG ? new Content(space) : null;
        this.born = now;
        touchAccessed(now);
        touchModified(now);
    }

    boolean isDirectory() {
        return directory != null;
    }

    /** Data or entries changed. Under the lock. */
    void touchModified(Moment now) {
        modifySeconds = now.seconds();
        modifyNanos = now.nanos();
        touchChanged(now);
    }

    /** The inode changed. Under the lock. */
    void touchChanged(Moment now) {
        changeSeconds = now.seconds();
        changeNanos = now.nanos();
    }

    /** Does a read now have to move the access time (as with relatime: once after a change, and once a day)? */
    boolean accessIsOld(long nowSeconds) {
        return !isBefore(modifySeconds, modifyNanos, accessSeconds, accessNanos)
                || !isBefore(changeSeconds, changeNanos, accessSeconds, accessNanos)
                || nowSeconds - accessSeconds >= DAY_SECONDS;
    }

    private static boolean isBefore(long seconds, int nanos, long otherSeconds, int otherNanos) {
        return seconds < otherSeconds || (seconds == otherSeconds && nanos < otherNanos);
    }

    void touchAccessed(Moment now) {
        accessSeconds = now.seconds();
        accessNanos = now.nanos();
    }

    int permissions() {
        return permissions;
    }

    int gid() {
        return gid;
    }

    /** Shows the attributes. Under the lock; of a directory under the tree's lock as well. */
    void show(Attributes to) {
        to.inode = node;
        to.mode = type | permissions;
        to.links = links;
        to.uid = uid;
        to.gid = gid;
        to.device = device;
        to.blockSizeBytes = BLOCK_BYTES;
        to.accessSeconds = accessSeconds;
        to.accessNanos = accessNanos;
        to.modifySeconds = modifySeconds;
        to.modifyNanos = modifyNanos;
        to.changeSeconds = changeSeconds;
        to.changeNanos = changeNanos;
        to.birthSeconds = born.seconds();
        to.birthNanos = born.nanos();
        if (content != null) {
            to.sizeBytes = content.sizeBytes();
            to.blocks = content.heldBytes() / STAT_BLOCK_BYTES;
        } else if (target != null) {
            to.sizeBytes = target.length();
        } else if (directory != null) {
            to.sizeBytes = (long) directory.size() * DIRECTORY_ENTRY_BYTES;
        }
    }

    /** Applies a setattr. Under the lock. */
    int change(SetAttributes changes, Request request, Moment now) {
        if (changes.has(SetAttributes.SIZE)) {
            int result = resize(changes.sizeBytes, now);
            if (result != 0) {
                return result;
            }
        }
        if (changes.has(SetAttributes.KILL_SUID_GID | SetAttributes.UID | SetAttributes.GID)) {
            killPrivileges(request);
        }
        if (changes.has(SetAttributes.UID | SetAttributes.GID)) {
            uid = changes.has(SetAttributes.UID) ? changes.uid : uid;
            gid = changes.has(SetAttributes.GID) ? changes.gid : gid;
        }
        if (changes.has(SetAttributes.MODE)) {
            permissions = changes.mode & Stat.PERMISSIONS;
        }
        changeTimes(changes, now);
        return 0;
    }

    private int resize(long bytes, Moment now) {
        if (content == null) {
            return isDirectory() ? -Errno.EISDIR : -Errno.EINVAL;
        }
        int result = content.resize(bytes);
        if (result == 0) {
            touchModified(now);
        }
        return result;
    }

    private void changeTimes(SetAttributes changes, Moment now) {
        touchChanged(now);
        if (changes.has(SetAttributes.ACCESS_TIME_NOW)) {
            touchAccessed(now);
        } else if (changes.has(SetAttributes.ACCESS_TIME)) {
            accessSeconds = changes.accessSeconds;
            accessNanos = changes.accessNanos;
        }
        if (changes.has(SetAttributes.MODIFY_TIME_NOW)) {
            touchModified(now);
        } else if (changes.has(SetAttributes.MODIFY_TIME)) {
            modifySeconds = changes.modifySeconds;
            modifyNanos = changes.modifyNanos;
        }
        if (changes.has(SetAttributes.CHANGE_TIME)) {
            changeSeconds = changes.changeSeconds;
            changeNanos = changes.changeNanos;
        }
    }

    /** Takes off what a change by others must, capabilities included. Under the lock. */
    void killPrivileges(Request request) {
        if (isDirectory()) {
            return;
        }
        byte[] capability = attributes.isEmpty() ? null : attributes.remove(CAPABILITY);
        if (capability != null) {
            giveAttribute(CAPABILITY, capability);
        }
        if ((permissions & (Stat.S_ISUID | Stat.S_ISGID)) != 0) {
            permissions = Stat.withoutPrivileges(permissions, request.isRoot() || request.inGroup(gid));
        }
    }

    /** Under the lock, as are the three below. */
    int setAttribute(Name name, ByteBuffer value, int flags, Moment now) {
        byte[] old = attributes.get(name);
        if (old != null && (flags & 1) != 0) {
            return -Errno.EEXIST;
        }
        if (old == null && (flags & 2) != 0) {
            return -Errno.ENODATA;
        }
        int grown = value.limit() - (old == null ? -(name.length() + 1) : old.length);
        boolean listed = old != null || listBytes() + name.length() + 1 <= MAX_LIST_BYTES;
        if (attributeBytes + grown > MAX_ATTRIBUTE_BYTES || !listed || !space.take(grown)) {
            return -Errno.ENOSPC;
        }
        byte[] kept = new byte[value.limit()];
        value.get(0, kept);
        attributes.put(name.copy(), kept);
        attributeBytes += grown;
        touchChanged(now);
        return 0;
    }

    int getAttribute(Name name, ByteBuffer into) {
        byte[] value = attributes.get(name);
        if (value == null) {
            return -Errno.ENODATA;
        }
        if (value.length <= into.limit()) {
            into.put(0, value);
        }
        return value.length;
    }

    private int listBytes() {
        int bytes = 0;
        for (Name name : attributes.keySet()) {
            bytes += name.length() + 1;
        }
        return bytes;
    }

    int listAttributes(ByteBuffer into) {
        int bytes = listBytes();
        if (bytes <= into.limit()) {
            into.position(0);
            for (Name name : attributes.keySet()) {
                name.putInto(into);
                into.put((byte) 0);
            }
        }
        return bytes;
    }

    int removeAttribute(Name name, Moment now) {
        byte[] old = attributes.remove(name);
        if (old == null) {
            return -Errno.ENODATA;
        }
        giveAttribute(name, old);
        touchChanged(now);
        return 0;
    }

    private void giveAttribute(Name name, byte[] value) {
        int bytes = value.length + name.length() + 1;
        attributeBytes -= bytes;
        space.give(bytes);
    }

    /** Gives back what it takes from the space. Under the lock, when nobody finds it any more. */
    void free() {
        if (content != null) {
            content.free();
        }
        space.give(OWN_BYTES + attributeBytes);
    }
}

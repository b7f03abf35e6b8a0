package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.spi.Name;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a directory, by name and in the order of their offsets.
 *
 * <p>An entry's offset is made of its name alone, so that a listing goes on at the right place whatever is made and removed in
 * between; and ends, whatever is renamed: a name that comes back is where it was. Guarded by the tree's lock.
 */
final class Directory {
    /** Offsets 1 and 2 stand behind "." and "..". */
    static final long FIRST_OFFSET = 3;

    private static final long LAST_OFFSET = Long.MAX_VALUE >> 1;
    /** Of the hash by Fowler, Noll and Vo, 64 bits. */
    private static final long FNV_BASIS = 0xcbf29ce484222325L;

    private static final long FNV_PRIME = 0x100000001b3L;

    private final Map<Name, Dentry> byName = new HashMap<>();
    private final TreeMap<Long, Dentry> byOffset = new TreeMap<>();
    private @Nullable Inode parent;

    /** A name and where it leads. */
    static final class Dentry {
        final Name name;
        final long offset;
        Inode inode;

        private Dentry(Name name, long offset, Inode inode) {
            this.name = name;
            this.offset = offset;
            this.inode = inode;
        }
    }

    /** The directory above; the root's is the root. Set right after the making. */
    Inode parent() {
        return Objects.requireNonNull(parent);
    }

    void setParent(Inode newParent) {
        parent = newParent;
    }

    @Nullable
    Inode find(Name name) {
        Dentry dentry = byName.get(name);
        return dentry == null ? null : dentry.inode;
    }

    /** Makes the name lead to the inode; an old entry of this name keeps its offset. */
    void put(Name name, Inode inode) {
        Dentry dentry = byName.get(name);
        if (dentry != null) {
            dentry.inode = inode;
            return;
        }
        dentry = new Dentry(name.copy(), freeOffset(name), inode);
        byName.put(dentry.name, dentry);
        byOffset.put(dentry.offset, dentry);
    }

    /** A number of the name, or the next free one where another name has the same. */
    private long freeOffset(Name name) {
        long offset = offsetOf(name);
        while (byOffset.containsKey(offset)) {
            offset = offset == LAST_OFFSET ? FIRST_OFFSET : offset + 1;
        }
        return offset;
    }

    private static long offsetOf(Name name) {
        long hash = FNV_BASIS;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ (name.at(i) & 0xff)) * FNV_PRIME;
        }
        return FIRST_OFFSET + ((hash ^ (hash >>> 32)) & (LAST_OFFSET >> 1));
    }

    void remove(Name name) {
        Dentry dentry = byName.remove(name);
        if (dentry != null) {
            byOffset.remove(dentry.offset);
        }
    }

    /** The entries behind an offset, in order. */
    Collection<Dentry> after(long offset) {
        return byOffset.tailMap(offset, false).values();
    }

    int size() {
        return byName.size();
    }
}

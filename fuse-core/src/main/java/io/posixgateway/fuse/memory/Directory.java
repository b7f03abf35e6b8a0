package io.posixgateway.fuse.memory;

import io.posixgateway.fuse.spi.Name;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a directory, by name and in the order of their making.
 *
 * <p>An entry's offset is a number never given twice, so that a listing goes on at the right place whatever is made and
 * removed in between. Guarded by the tree's lock.
 */
final class Directory {
    /** Offsets 1 and 2 stand behind "." and "..". */
    static final long FIRST_OFFSET = 3;

    private final Map<Name, Dentry> byName = new HashMap<>();
    private final TreeMap<Long, Dentry> byOffset = new TreeMap<>();
    private long nextOffset = FIRST_OFFSET;
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
        dentry = new Dentry(name.copy(), nextOffset++, inode);
        byName.put(dentry.name, dentry);
        byOffset.put(dentry.offset, dentry);
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

package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The children of a directory: a hash table by name, whose places hold the inodes themselves. A child knows its name, and that does not
 * change while the child is in here (the {@link InodeTable} takes it out before). Guarded by its {@link Dentries}.
 */
final class Children {
    private static final @Nullable Inode[] NONE = new @Nullable Inode[2];

    private @Nullable Inode[] places = NONE;
    private int size;

    /** Finds without allocating; null: none has the name. */
    @Nullable
    Inode find(Name name) {
        int mask = places.length - 1;
        int at = home(name.hashCode(), mask);
        for (Inode child = places[at]; child != null; child = places[at]) {
            if (name.isOf(nameOf(child))) {
                return child;
            }
            at = (at + 1) & mask;
        }
        return null;
    }

    private static int home(int hash, int mask) {
        return (hash * 0x9E3779B9) >>> 7 & mask;
    }

    static byte[] nameOf(Inode child) {
        byte[] name = child.name;
        if (name == null) {
            throw new IllegalStateException("Node " + child.node() + " is in a directory without a name");
        }
        return name;
    }

    /** Where the name is, or the empty place where it would go. */
    private int place(byte[] name) {
        int mask = places.length - 1;
        int at = home(Name.hashOf(name), mask);
        for (Inode child = places[at]; child != null && !Arrays.equals(name, nameOf(child)); child = places[at]) {
            at = (at + 1) & mask;
        }
        return at;
    }

    boolean has(Inode child) {
        byte[] name = child.name;
        return name != null && places[place(name)] == child;
    }

    /**
     * Puts a child in the place of what has its name.
     *
     * @return false: it was here
     */
    boolean put(Inode child) {
        int at = place(nameOf(child));
        Inode before = places[at];
        if (before == null) {
            size++;
            if (size * 4 > places.length * 3 || places == NONE) {
                grow();
                at = place(nameOf(child));
            }
        }
        places[at] = child;
        return before != child;
    }

    private void grow() {
        @Nullable Inode[] old = places;
        places = new @Nullable Inode[old.length * 2];
        int mask = places.length - 1;
        for (Inode child : old) {
            if (child != null) {
                int at = home(Name.hashOf(nameOf(child)), mask);
                while (places[at] != null) {
                    at = (at + 1) & mask;
                }
                places[at] = child;
            }
        }
    }

    /** Returns false if it is not here. */
    boolean remove(Inode child) {
        int at = place(nameOf(child));
        boolean here = places[at] == child;
        if (here) {
            size--;
            closeGap(at);
        }
        return here;
    }

    /** Moves those behind a freed place up, so that searches still find them. */
    private void closeGap(int freed) {
        int mask = places.length - 1;
        int gap = freed;
        int at = (gap + 1) & mask;
        for (Inode child = places[at]; child != null; child = places[at]) {
            int home = home(Name.hashOf(nameOf(child)), mask);
            if (((at - home) & mask) >= ((at - gap) & mask)) {
                places[gap] = child;
                gap = at;
            }
            at = (at + 1) & mask;
        }
        places[gap] = null;
    }

    int size() {
        return size;
    }

    List<Inode> all() {
        List<Inode> all = new ArrayList<>(size);
        for (Inode child : places) {
            if (child != null) {
                all.add(child);
            }
        }
        return all;
    }
}

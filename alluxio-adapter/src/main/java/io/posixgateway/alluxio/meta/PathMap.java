package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Values by path of the mount: for a file counts that of the longest path that is its own or leads to it. Immutable; finds
 * without allocating and without a lock.
 *
 * <p>Nothing is kept in inodes: where one is, is seen from those above it at each question, so a rename counts at once. That
 * costs a few instructions for each directory above, and nothing where no path has a value of its own.
 */
public final class PathMap<T> {
    private final Place<T> root;
    private final Place<T> elsewhere;
    /** Names in the longest path. */
    private final int deepest;

    /**
     * @param everywhere where no path says otherwise
     * @param elsewhere for inodes that are not in the tree
     * @param paths as users write them: {@code /a/b}, from the root of the mount
     */
    public PathMap(T everywhere, T elsewhere, Map<String, T> paths) {
        root = new Place<>(new byte[0], everywhere);
        this.elsewhere = new Place<>(new byte[0], elsewhere);
        int most = 0;
        for (Map.Entry<String, T> path : new TreeMap<>(paths).entrySet()) {
            String[] names = path.getKey().substring(1).split("/", -1);
            Place<T> at = root;
            for (int i = 0; i < names.length; i++) {
                at = at.grow(
                        NameCodec.ESCAPED.shown(names[i]).toBytes(), i + 1 < names.length ? at.value : path.getValue());
            }
            most = Math.max(most, names.length);
        }
        deepest = most;
    }

    /** The value for what is at a path, and for what is below and has no place of its own. */
    private static final class Place<T> {
        private final byte[] name;
        private final T value;
        /** One that is below; the others are beside it. */
        private @Nullable Place<T> below;

        private @Nullable Place<T> beside;
        /** Of all names below that have no place; null: this one. */
        private @Nullable Place<T> rest;

        private Place(byte[] name, T value) {
            this.name = name;
            this.value = value;
        }

        /** The place of a name below, made if need be. Paths come before those that they lead to. */
        private Place<T> grow(byte[] child, T childValue) {
            for (Place<T> at = below; at != null; at = at.beside) {
                if (Arrays.equals(at.name, child)) {
                    return at;
                }
            }
            Place<T> fresh = new Place<>(child, childValue);
            fresh.beside = below;
            below = fresh;
            rest = new Place<>(name, value);
            return fresh;
        }

        private Place<T> at(byte[] child) {
            for (Place<T> at = below; at != null; at = at.beside) {
                if (Arrays.equals(at.name, child)) {
                    return at;
                }
            }
            return rest();
        }

        private Place<T> at(Name child) {
            for (Place<T> at = below; at != null; at = at.beside) {
                if (child.isOf(at.name)) {
                    return at;
                }
            }
            return rest();
        }

        private Place<T> rest() {
            Place<T> others = rest;
            return others == null ? this : others;
        }
    }

    /** The value for a file. */
    public T of(Inode inode) {
        return deepest == 0 ? root.value : place(inode).value;
    }

    /** The value for a name, whether something has it or not. */
    public T of(Inode directory, Name name) {
        return deepest == 0 ? root.value : place(directory).at(name).value;
    }

    /** May what has one of these names, or something below it, have another value at the other? */
    public boolean differs(Inode directory, Name name, Inode otherDirectory, Name otherName) {
        if (deepest == 0) {
            return false;
        }
        Place<T> one = place(directory).at(name);
        Place<T> other = place(otherDirectory).at(otherName);
        return one.below != null || other.below != null || !one.value.equals(other.value);
    }

    private Place<T> place(Inode inode) {
        int above = 0;
        for (Inode up = inode.parent; up != null; up = up.parent) {
            above++;
        }
        Inode at = inode;
        for (int i = deepest; i < above; i++) {
            Inode up = at.parent;
            at = up == null ? at : up;
        }
        return descend(at, deepest);
    }

    /** @param most so many names are between the inode and the root, unless it is being moved */
    private Place<T> descend(Inode inode, int most) {
        Inode parent = inode.parent;
        byte[] name = inode.name;
        if (parent == null || name == null || most == 0) {
            return inode.node() == FileSystem.ROOT ? root : elsewhere;
        }
        return descend(parent, most - 1).at(name);
    }
}

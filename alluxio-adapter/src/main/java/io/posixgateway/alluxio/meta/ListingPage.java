package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.NameCodec;
import io.posixgateway.fuse.spi.Name;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A part of a listing in the order of names: what was there when it was read. Immutable, but for what others do to the inodes.
 *
 * <p>The offset of an entry in its directory is its node's number, which stays what it is when the directory changes.
 */
public final class ListingPage {
    public static final ListingPage EMPTY = new ListingPage(new byte[0][], new Inode[0], 0);

    private final byte[][] names;
    private final Inode[] inodes;
    private final int count;

    /** The first {@code count} of two arrays, which are given away. */
    public ListingPage(byte[][] names, Inode[] inodes, int count) {
        this.names = names;
        this.inodes = inodes;
        this.count = count;
    }

    /**
     * The same of what Alluxio listed, which is in order and has each name once, but where files are being renamed: one that takes
     * another's name meanwhile may be listed with it in the place of its own, before or after the other. The later counts.
     */
    public static ListingPage listed(byte[][] names, Inode[] inodes, int count, NameCodec codec) {
        for (int i = 1; i < count; i++) {
            if (Arrays.compareUnsigned(names[i - 1], names[i]) >= 0) {
                return sorted(names, inodes, count, codec);
            }
        }
        return new ListingPage(names, inodes, count);
    }

    private static ListingPage sorted(byte[][] names, Inode[] inodes, int count, NameCodec codec) {
        SortedMap<byte[], Inode> all = new TreeMap<>(Comparator.comparing(codec::stored)); // Alluxio's order
        for (int i = 0; i < count; i++) {
            all.put(names[i], inodes[i]);
        }
        return new ListingPage(all.keySet().toArray(byte[][]::new), all.values().toArray(Inode[]::new), all.size());
    }

    /** The same with a name that is here, at its place in the order; without the other name that its file had before. */
    public ListingPage with(Name added, Inode inode, NameCodec codec) {
        List<byte[]> moreNames = new ArrayList<>(count + 1);
        List<Inode> moreInodes = new ArrayList<>(count + 1);
        String wanted = codec.stored(added);
        boolean here = false;
        for (int i = 0; i < count; i++) {
            int order = codec.stored(names[i]).compareTo(wanted);
            if (order == 0 && !inodes[i].unlinked()) {
                return this;
            }
            if (order >= 0 && !here) {
                here = true;
                moreNames.add(added.toBytes());
                moreInodes.add(inode);
            }
            if (order != 0 && inodes[i] != inode) {
                moreNames.add(names[i]);
                moreInodes.add(inodes[i]);
            }
        }
        if (!here) {
            moreNames.add(added.toBytes());
            moreInodes.add(inode);
        }
        return new ListingPage(moreNames.toArray(byte[][]::new), moreInodes.toArray(Inode[]::new), moreNames.size());
    }

    public int count() {
        return count;
    }

    public Inode inode(int index) {
        return inodes[index];
    }

    /** Puts the inodes behind those of a list. */
    public void addTo(List<Inode> all) {
        all.addAll(Arrays.asList(inodes).subList(0, count));
    }

    /** Puts the name of an entry into one that is used again and again. */
    public void name(int index, Name into) {
        into.set(names[index]);
    }

    /** Behind the entry of this node; -1: it is not on this page. Looks at the hint first. */
    public int behind(long node, int hint) {
        if (hint > 0 && hint <= count && inodes[hint - 1].node() == node) {
            return hint;
        }
        for (int i = 0; i < count; i++) {
            if (inodes[i].node() == node) {
                return i + 1;
            }
        }
        return -1;
    }
}

package io.posixgateway.alluxio.inode;

import io.posixgateway.fuse.spi.Name;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The names of one directory: those that lead somewhere, those known to lead nowhere, and perhaps the whole listing. Any
 * thread; guarded by its own monitor, which is held for a few instructions.
 */
public final class Dentries {
    private static final int MOST_MISSING = 10_000;

    /** One name: child null means that nothing is there. */
    public static final class Dentry {
        private final @Nullable Inode child;
        private final long seenNanos;

        Dentry(@Nullable Inode child, long seenNanos) {
            this.child = child;
            this.seenNanos = seenNanos;
        }

        /** Null: nothing has this name. */
        public @Nullable Inode child() {
            return child;
        }

        public long seenNanos() {
            return seenNanos;
        }
    }

    private final Map<Name, Dentry> names = new HashMap<>();
    private int missing;
    private long removals;
    private @Nullable List<Name> listing;
    private long listedNanos;
    /** All names are known, as of then. */
    private boolean complete;

    private long completeNanos;
    /** Names that Alluxio was asked for in vain since then. */
    private int asked;

    /** Finds without allocating; null: nothing is known of the name. */
    public synchronized @Nullable Dentry find(Name name) {
        return names.get(name);
    }

    /** @param name a name to keep */
    synchronized void put(Name name, @Nullable Inode child, long nowNanos) {
        if (child == null && missing >= MOST_MISSING) {
            names.values().removeIf(dentry -> dentry.child == null);
            missing = 0;
        }
        Dentry before = names.put(name, new Dentry(child, nowNanos));
        removals += child == null ? 1 : 0;
        missing += (child == null ? 1 : 0) - (before != null && before.child == null ? 1 : 0);
        if (before == null || before.child == null != (child == null)) {
            listing = null;
        }
    }

    /** Takes the name out if it leads to this child. */
    synchronized void remove(Name name, Inode child) {
        Dentry dentry = names.get(name);
        if (dentry != null && dentry.child == child) {
            names.remove(name);
            removals++;
            listing = null;
            complete = false;
        }
    }

    /** Makes what is known of a name as old as can be. */
    synchronized void doubt(Name name, Inode child) {
        if (names.containsKey(name)) {
            names.put(name, new Dentry(child, Long.MIN_VALUE / 2));
        }
    }

    /** Keeps a whole listing; any change of the directory drops it. */
    public synchronized void keepListing(List<Name> all, long nowNanos) {
        listing = all;
        listedNanos = nowNanos;
        if (names.keySet().containsAll(all)) {
            nowComplete(nowNanos);
        }
    }

    /** All names were known at this moment. What this mount does to them later is seen, so they stay all. */
    public synchronized void nowComplete(long nowNanos) {
        complete = true;
        completeNanos = nowNanos;
        asked = 0;
    }

    /** Counts names that Alluxio was asked for in vain since all were known. */
    public synchronized int askedInVain() {
        return ++asked;
    }

    /** Are all names known, as of {@link #completeNanos}? */
    public synchronized boolean complete() {
        return complete;
    }

    public synchronized long completeNanos() {
        return completeNanos;
    }

    /** The whole listing in order, if one is kept; see {@link #listedNanos}. */
    public synchronized @Nullable List<Name> listing() {
        return listing;
    }

    public synchronized long listedNanos() {
        return listedNanos;
    }

    /** Drops the listing and the names known to be missing. */
    public synchronized void dropListing() {
        listing = null;
        complete = false;
        names.values().removeIf(dentry -> dentry.child == null);
        missing = 0;
    }

    /** How often a name was taken out, or found missing. */
    public synchronized long removals() {
        return removals;
    }

    /** How many children are known. */
    public synchronized int children() {
        return names.size() - missing;
    }

    /** The children known now. */
    public synchronized List<Inode> snapshot() {
        List<Inode> all = new ArrayList<>();
        for (Dentry dentry : names.values()) {
            if (dentry.child != null) {
                all.add(dentry.child);
            }
        }
        return all;
    }
}

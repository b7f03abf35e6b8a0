package io.posixgateway.alluxio.inode;

import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Stat;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A file or directory that the kernel or a cache knows.
 *
 * <p>{@code facts} and {@code fileId} are replaced as a whole and may be read by anyone. The counts are guarded by this
 * object's monitor; the place in the tree by that of the {@link InodeTable}.
 */
public final class Inode {
    private static final AtomicLong CHANGES = new AtomicLong();

    private final long node;
    private volatile long fileId;
    private volatile @Nullable Facts facts;
    private volatile boolean unlinked;
    private volatile boolean ours;
    private final @Nullable Dentries dentries;

    /** The tree: guarded by the table. */
    @Nullable
    Inode parent;

    @Nullable
    Name name;
    /** Where it is when the parent is not known: found through the file id. */
    @Nullable
    String loosePath;

    private long change;
    private long lookups;
    private boolean resting;
    private int readers;
    private int writers;
    private @Nullable Facts keptPages;

    Inode(long node, long fileId, boolean directory) {
        this.node = node;
        this.fileId = fileId;
        this.dentries = directory ? new Dentries() : null;
    }

    public long node() {
        return node;
    }

    /** Alluxio's id; changes when new content of the same file is published. */
    public long fileId() {
        return fileId;
    }

    void changeFileId(long id) {
        fileId = id;
    }

    /** What was last seen; null before the first look. */
    public @Nullable Facts facts() {
        return facts;
    }

    public synchronized void see(Facts seen) {
        facts = seen;
    }

    /**
     * Keeps what Alluxio said, unless this mount changed the file after it was asked.
     *
     * @param asked {@link #changesSoFar} when it was asked
     */
    public synchronized void see(Facts seen, long asked) {
        if (change <= asked) {
            facts = seen;
        }
    }

    /** Goes up with every {@link #forgetFacts} of any file. */
    public static long changesSoFar() {
        return CHANGES.get();
    }

    /** Replaces what was seen unless it is something else by now. */
    @SuppressWarnings("ReferenceEquality") // what was seen since, even if it is equal, is newer
    public synchronized boolean confirm(Facts before, Facts seen) {
        if (facts != before) {
            return false;
        }
        facts = seen;
        return true;
    }

    /** The next look asks Alluxio, and no answer to an earlier look counts. */
    public synchronized void forgetFacts() {
        change = CHANGES.incrementAndGet();
        facts = null;
    }

    /** Deleted by us while it may still be open. */
    public boolean unlinked() {
        return unlinked;
    }

    public void markUnlinked() {
        unlinked = true;
    }

    /** Made by this process: all its handles are known. */
    public boolean ours() {
        return ours;
    }

    public void markOurs() {
        ours = true;
    }

    public boolean isDirectory() {
        return dentries != null;
    }

    /** The names in a directory; only for directories. */
    public Dentries dentries() {
        Dentries own = dentries;
        if (own == null) {
            throw new IllegalStateException("Node " + node + " is no directory");
        }
        return own;
    }

    public synchronized void lookedUp() {
        lookups++;
    }

    /** Returns true when the kernel does not know the node any more. */
    synchronized boolean forget(long count) {
        lookups = Math.max(0, lookups - count);
        return lookups == 0;
    }

    /** Does neither the kernel know it nor anyone hold it open? */
    synchronized boolean idle() {
        return lookups == 0 && readers == 0 && writers == 0;
    }

    /** Is it put among the idle now, and was not before? */
    synchronized boolean startResting() {
        boolean before = resting;
        resting = true;
        return !before;
    }

    synchronized void stopResting() {
        resting = false;
    }

    /** One more handle. */
    public synchronized void opened(boolean writes) {
        if (writes) {
            writers++;
        } else {
            readers++;
        }
    }

    /** One handle less; returns how many of its kind are left. */
    public synchronized int closed(boolean writes) {
        return writes ? --writers : --readers;
    }

    public synchronized int writers() {
        return writers;
    }

    /** Handles of both kinds. */
    public synchronized int handles() {
        return readers + writers;
    }

    /** May the kernel keep its pages of this file? Yes if the content is as at the last open. */
    public synchronized boolean keepsPages(Facts now) {
        Facts before = keptPages;
        keptPages = now;
        return before != null && before.sameContent(now);
    }

    /** Is it a regular file by what was last seen? */
    public boolean isRegular() {
        Facts seen = facts;
        return seen != null && Stat.isRegular(seen.mode());
    }
}

package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.StoreNames;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * A file or directory that the kernel or a cache knows, and the entry of its directory that leads to it.
 *
 * <p>There may be millions: what only open, replaced or displaced files need is in {@link Extension}. {@code attr} is replaced
 * as a whole and may be read by anyone. The counts, the flags and {@code rare} are guarded by this object's monitor; the
 * place in the tree by that of the {@link InodeTable}; the time of the entry by that of its {@link Dentries}, though anyone
 * may read it.
 */
public final class Inode implements Dentries.Dentry {
    private static final long AS_NODE = Long.MIN_VALUE;
    /** In place of the number of lookups: the table has let go of it. */
    private static final long DROPPED = -1;
    /** The kernel's pages are of what {@link #attr} say. */
    private static final byte AS_SEEN = 1;
    /** They are of what this mount wrote into the file of the id that the inode has. */
    private static final byte AS_WRITTEN = 2;
    /** Of a directory: its times are not those of the last change of its names. */
    private static final byte TIMES_OLD = 4;
    /** Of a directory: its under file system is known. */
    private static final byte STORE_KNOWN = 8;
    /** It lists names as XML. */
    private static final byte LISTED_AS_XML = 16;
    /** It takes no name with a colon. */
    private static final byte WITHOUT_COLON = 32;
    /** The kernel was told the length that {@link #attr} say. */
    private static final byte LENGTH_TOLD = 64;
    /** It is neither a regular file nor a directory. */
    private static final byte SPECIAL = Byte.MIN_VALUE;

    private final long node;
    private final @Nullable Dentries dentries;
    private volatile @Nullable Attr attr;
    private volatile @Nullable Extension rare;
    volatile long seenNanos;

    /** The tree: guarded by the table, but for readers that do with what was true a moment ago. */
    volatile @Nullable Inode parent;

    /** Its name there; null exactly when there is no parent. The bytes never change. Set before the parent, read after it. */
    byte @Nullable [] name;

    /** In the table's queue of idle inodes; guarded by that. */
    @Nullable
    Inode nextIdle;

    /** Of what is known of it; see {@link Generation}. Written under the monitor. */
    private volatile long generation;

    private long lookups;
    private volatile boolean unlinked;
    private volatile boolean ours;
    private boolean resting;
    /** {@link #AS_SEEN} and so on; together, as there are millions of inodes. */
    private volatile byte marks;

    /** What few inodes have. Guarded by the inode's monitor. */
    private static final class Extension {
        volatile long fileId = AS_NODE;
        /** Where it is when the parent is not known. */
        @Nullable
        String loosePath;

        /** What this mount wrote, where nothing was seen since. */
        @Nullable
        Attr written;

        int readers;
        int writers;
        volatile boolean going;
        /** As stat(2) shows it. */
        volatile long number = AS_NODE;

        boolean isEmpty() {
            return fileId == AS_NODE
                    && loosePath == null
                    && written == null
                    && readers == 0
                    && writers == 0
                    && !going
                    && number == AS_NODE;
        }
    }

    Inode(long node, long fileId, boolean directory, MemoryAccounting bytes) {
        this.node = node;
        this.dentries = directory ? new Dentries(bytes) : null;
        if (InodeTable.fileIdOf(node) != fileId) {
            changeFileId(fileId);
        }
    }

    public long node() {
        return node;
    }

    /** The inode number that stat(2) shows: of a file that replaced another as its new content, that one's. */
    public long number() {
        Extension own = rare;
        long number = own == null ? AS_NODE : own.number;
        return number == AS_NODE ? node : number;
    }

    synchronized void changeNumber(long number) {
        if (number() != number) {
            rare().number = number == node ? AS_NODE : number;
            tidy();
        }
    }

    /** As what a name leads to. */
    @Override
    public Inode child() {
        return this;
    }

    @Override
    public long seenNanos() {
        return seenNanos;
    }

    /** Alluxio's id; changes when new content of the same file is committed. */
    public long fileId() {
        Extension own = rare;
        long id = own == null ? AS_NODE : own.fileId;
        return id == AS_NODE ? InodeTable.fileIdOf(node) : id;
    }

    synchronized void changeFileId(long id) {
        unmark(AS_WRITTEN);
        rare().fileId = id == InodeTable.fileIdOf(node) ? AS_NODE : id;
        tidy();
    }

    synchronized @Nullable String loosePath() {
        Extension own = rare;
        return own == null ? null : own.loosePath;
    }

    synchronized void loosen(@Nullable String path) {
        if (path == null && rare == null) {
            return;
        }
        rare().loosePath = path;
        tidy();
    }

    private boolean is(byte mark) {
        return (marks & mark) != 0;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under the monitor
    private synchronized void mark(byte mark) {
        marks |= mark;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under the monitor
    private synchronized void unmark(byte mark) {
        marks &= (byte) ~mark;
    }

    private Extension rare() {
        Extension own = rare;
        if (own == null) {
            own = new Extension();
            rare = own;
        }
        return own;
    }

    private void tidy() {
        Extension own = rare;
        if (own != null && own.isEmpty()) {
            rare = null;
        }
    }

    /** What was last seen; null before the first look. */
    public @Nullable Attr attr() {
        return attr;
    }

    public synchronized void see(Attr seen) {
        Attr before = attr;
        if (before == null || !before.sameContent(seen)) {
            unmark(AS_SEEN);
            unmark(LENGTH_TOLD); // a notification follows, and the kernel may drop the reply that told it
        }
        unmark(TIMES_OLD);
        if (!isDirectory() && !Stat.isRegular(seen.mode())) {
            mark(SPECIAL);
        }
        keep(seen);
    }

    /** Its bytes count as long as the table has this. */
    private void keep(@Nullable Attr now) {
        Attr before = attr;
        if (before != null && !isDropped()) {
            before.leave();
        }
        attr = now;
        if (now != null && !isDropped()) {
            now.enter();
        }
        keepWritten(null);
    }

    private void keepWritten(@Nullable Attr now) {
        Extension own = rare;
        Attr before = own == null ? null : own.written;
        if (isDropped() || before == now) {
            return;
        }
        if (before != null) {
            before.leave();
        }
        if (now != null) {
            now.enter();
        }
        rare().written = now;
        tidy();
    }

    /** The table lets go of it, unless the kernel knows it or somebody has it open. */
    synchronized boolean drop() {
        if (!idle()) {
            return false;
        }
        keep(null);
        lookups = DROPPED;
        if (dentries != null) {
            dentries.dropListing();
        }
        return true;
    }

    /** Has the table let go of it? Some thread may be using it still. */
    synchronized boolean isDropped() {
        return lookups == DROPPED;
    }

    /** The table has it again. */
    synchronized void comeBack() {
        lookups = 0;
        Attr now = attr;
        if (now != null) {
            now.enter();
        }
    }

    /**
     * Keeps what Alluxio said, unless something newer is known. Where that is of a change by this mount, which may have been made of older
     * content than was said, neither is believed.
     *
     * @param issued {@link Generation#issued} before the request
     * @return is it kept?
     */
    public synchronized boolean see(Attr seen, long issued) {
        boolean counts = !isNewerThan(issued);
        if (counts) {
            see(seen);
            generation = issued;
        } else if (Generation.isChange(generation) && isOtherContent(seen)) {
            keep(null);
        }
        return counts;
    }

    private boolean isOtherContent(Attr seen) {
        Attr own = attr;
        return own != null
                && !isDirectory()
                && !unlinked
                && !isGoing()
                && (own.fileId() != seen.fileId()
                        || own.lengthBytes() != seen.lengthBytes()
                        || own.complete() != seen.complete());
    }

    /** Is more known of it than a response says whose request was issued then? */
    public boolean isNewerThan(long issued) {
        return generation > issued;
    }

    @Override
    public long generation() {
        return generation;
    }

    /** @param reached {@link Generation#changed}, or {@link Generation#issued} of a response that was applied */
    public synchronized void raise(long reached) {
        generation = Math.max(generation, reached);
    }

    /** Keeps what this mount made of the file. */
    public synchronized void changed(Attr now, long reached) {
        raise(reached);
        see(now);
    }

    /** The same of a directory in which this mount changed names, where nothing else was seen or made of it meanwhile. */
    @SuppressWarnings("ReferenceEquality") // what was seen since, even if it is equal, is newer
    public synchronized boolean namesChanged(Attr before, Attr now, long reached) {
        if (attr != before) {
            return false;
        }
        boolean old = areTimesOld();
        changed(now, reached);
        if (old) {
            mark(TIMES_OLD);
        }
        return true;
    }

    /** This mount changed names in the directory: its times are what Alluxio says when it is asked next. */
    public synchronized void timesAreOld(long reached) {
        raise(reached);
        mark(TIMES_OLD);
    }

    /** Is Alluxio to be asked before times of the directory are shown? */
    public boolean areTimesOld() {
        return is(TIMES_OLD);
    }

    /** The next look asks Alluxio. */
    public synchronized void invalidateAttr(long reached) {
        raise(reached);
        keep(null);
        unmark(AS_SEEN);
    }

    /**
     * The same once this mount wrote the file.
     *
     * @param written what it is since then, but for Alluxio's time of it; null: that is not known
     */
    public synchronized void invalidateAttr(@Nullable Attr written, long reached) {
        invalidateAttr(reached);
        keepWritten(written);
    }

    /** Takes what this mount wrote for what was seen: it is about to lose its name. Null: others were asked since, or it is not known. */
    public synchronized @Nullable Attr recallWritten() {
        Extension own = rare;
        Attr written = own == null ? null : own.written;
        if (written == null || attr != null || written.fileId() != fileId()) {
            return null;
        }
        see(written);
        return written;
    }

    /** Returns whether a change by this mount, of it, its name or a name in it, is in flight as its outcome is unknown. Never waits. */
    public boolean isUnsure(Clock clock) {
        if (dentries != null && dentries.isAnyUnsure(clock)) {
            return true;
        }
        Inode directory = parent;
        byte[] own = name;
        return directory != null
                && own != null
                && directory.dentries().isAnyUnsure(clock)
                && directory.dentries().isUnsure(Name.of(own), clock);
    }

    /** Deleted by us while it may still be open. */
    public boolean unlinked() {
        return unlinked;
    }

    public void markUnlinked() {
        unlinked = true;
    }

    /**
     * Its name is about to be taken away, and with it the file unless somebody has it open. Who opens it sees either this, once
     * it counts as a handle, or is seen by those who take the name, who count the handles after it.
     */
    public synchronized void startGoing() {
        rare().going = true;
    }

    /** It has gone, or stays. */
    public synchronized void endGoing() {
        rare().going = false;
        tidy();
    }

    public boolean isGoing() {
        Extension own = rare;
        return own != null && own.going;
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

    /** Notes what names the under file system of a directory takes. The first time counts: no rename leads to another. */
    public synchronized void storedIn(StoreNames names) {
        if (isDirectory() && !is(STORE_KNOWN)) {
            mark(STORE_KNOWN);
            switch (names) {
                case LISTED_AS_XML -> mark(LISTED_AS_XML);
                case WITHOUT_COLON -> mark(WITHOUT_COLON);
                case ALL -> {}
            }
        }
    }

    /** Was that noted? */
    public boolean isStoreKnown() {
        return is(STORE_KNOWN);
    }

    /** The names that a directory takes, as far as is known. */
    StoreNames storeNames() {
        if (is(LISTED_AS_XML)) {
            return StoreNames.LISTED_AS_XML;
        }
        return is(WITHOUT_COLON) ? StoreNames.WITHOUT_COLON : StoreNames.ALL;
    }

    /** The names in a directory; only for directories. */
    public Dentries dentries() {
        Dentries own = dentries;
        if (own == null) {
            throw new IllegalStateException("Node " + node + " is not a directory");
        }
        return own;
    }

    /** The kernel is told of it once more; false: not of this one, which the table has let go of. */
    synchronized boolean lookedUp() {
        if (isDropped()) {
            return false;
        }
        lookups++;
        return true;
    }

    /** Does the kernel know it? */
    public synchronized boolean isKnown() {
        return lookups > 0;
    }

    /** Returns true when the kernel does not know the node any more. */
    synchronized boolean forget(long count) {
        if (isDropped()) {
            return false;
        }
        lookups = Math.max(0, lookups - count);
        return lookups == 0;
    }

    /** Does neither the kernel know it nor anyone hold it open? */
    synchronized boolean idle() {
        return lookups == 0 && handles() == 0;
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
        Extension own = rare();
        if (writes) {
            own.writers++;
        } else {
            own.readers++;
        }
    }

    /** One handle less; returns how many of its kind are left. */
    public synchronized int closed(boolean writes) {
        Extension own = rare();
        int left = writes ? --own.writers : --own.readers;
        tidy();
        return left;
    }

    public synchronized int writers() {
        Extension own = rare;
        return own == null ? 0 : own.writers;
    }

    /** Are there handles that cannot write? */
    public synchronized boolean isRead() {
        Extension own = rare;
        return own != null && own.readers > 0;
    }

    /** Handles of both kinds. */
    public synchronized int handles() {
        Extension own = rare;
        return own == null ? 0 : own.readers + own.writers;
    }

    /**
     * May the kernel keep its pages of this file, which is opened with these attributes? Yes if the content is as at the last
     * read, and nothing else was seen or forgotten since; or if it is what this mount wrote, which is in those pages.
     */
    public synchronized boolean keepsPages(Attr now) {
        Attr seen = attr;
        boolean current = seen != null && seen.sameContent(now);
        if (!current) {
            unmark(AS_SEEN);
        }
        return current && (is(AS_SEEN) || (is(AS_WRITTEN) && now.fileId() == fileId()));
    }

    /** The kernel has dropped all pages but those of this content, with which the file was opened. */
    public synchronized void readPages(Attr opened) {
        Attr seen = attr;
        if (seen != null && seen.sameContent(opened)) {
            mark(AS_SEEN);
        }
    }

    /** The kernel knows these attributes. */
    synchronized void told(Attr shown) {
        Attr seen = attr;
        if (seen != null && seen.lengthBytes() == shown.lengthBytes()) {
            mark(LENGTH_TOLD);
        }
    }

    /** Does the kernel know the length of the file as it was last seen: was it told, or did it write the content itself? */
    public boolean isLengthTold() {
        Attr seen = attr;
        return seen != null && (is(LENGTH_TOLD) || (is(AS_WRITTEN) && seen.fileId() == fileId()));
    }

    /** This mount wrote the content that the file has now in Alluxio: the kernel's pages are of that. */
    public synchronized void wrote() {
        mark(AS_WRITTEN);
    }

    /** Of what the kernel's pages are is not known any more; what was seen of the file neither. */
    public synchronized void forgetPages(long reached) {
        invalidateAttr(reached);
        unmark(AS_SEEN);
        unmark(AS_WRITTEN);
    }

    /** Are the kernel's pages of this content, for all that happened since it was opened with it? */
    public synchronized boolean hasPagesOf(Attr opened) {
        Attr seen = attr;
        return is(AS_SEEN) && writers() == 0 && seen != null && seen.sameContent(opened);
    }

    /** Is it, by what was seen of it at any time, neither a regular file nor a directory? */
    boolean isSpecial() {
        return is(SPECIAL);
    }

    /** Is it a regular file by what was last seen? */
    public boolean isRegular() {
        Attr seen = attr;
        return seen != null && Stat.isRegular(seen.mode());
    }
}

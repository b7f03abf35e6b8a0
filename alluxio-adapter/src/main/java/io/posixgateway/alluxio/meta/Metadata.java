package io.posixgateway.alluxio.meta;

import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.PathLimit;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.time.Clock;
import java.util.Collection;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Asks Alluxio and keeps what it says in the inode table. Any thread.
 *
 * <p>What may be stale: anything, for as long as {@link PathPolicies} says. A path is only a hint: an answer counts for an inode
 * only when it carries the inode's file id. When it does not, Alluxio is asked where the file of that id is now, so a file
 * that others renamed is found again. Where that file is gone, the one at its path has replaced it.
 */
public final class Metadata {
    /** So often Alluxio is asked for a name that this mount changes at the same time. */
    static final int MAX_TRIES = 4;

    private final Store store;
    private final InodeTable table;
    private final PathPolicies cachePolicy;
    private final AttrDecoder reader;
    private final KernelInvalidator invalidator;
    private final PathLocks pathLocks;
    private final DirectoryTimes times;
    private final NegativeEntries missing;
    private final KnownNames known;
    private final Locations locations;
    private final Listings listings;
    private final LostAttributes lost;
    private final RestoredAlluxio restored;
    private volatile Consumer<Inode> missedOften = directory -> {};
    private volatile Predicate<Inode> openUnseen = inode -> false;
    private final CacheCounts attributeCounts = new CacheCounts();
    private final CacheCounts nameCounts = new CacheCounts();

    public Metadata(
            Store store,
            InodeTable table,
            PathPolicies cachePolicy,
            AttrDecoder reader,
            KernelInvalidator invalidator) {
        this.store = store;
        this.table = table;
        this.cachePolicy = cachePolicy;
        this.reader = reader;
        this.invalidator = invalidator;
        this.pathLocks = new PathLocks(table, cachePolicy.clock());
        this.times = new DirectoryTimes(this, store, reader);
        this.missing = new NegativeEntries(this, cachePolicy);
        this.known = new KnownNames(times);
        this.locations = new Locations(this, store, table);
        this.listings = new Listings(this, store, table, invalidator);
        this.lost = new LostAttributes(store);
        this.restored = new RestoredAlluxio(table);
    }

    /** The mount's. */
    public Generation generation() {
        return table.generation();
    }

    /** Renames of directories, and who must not meet one. */
    public PathLocks pathLocks() {
        return pathLocks;
    }

    /** Names that lead nowhere. */
    public NegativeEntries missing() {
        return missing;
    }

    /** Directories, in parts. */
    public Listings listings() {
        return listings;
    }

    /** Where files of known ids are. */
    public Locations locations() {
        return locations;
    }

    /** What notifications that ids begin anew though the cluster's id stays. */
    public RestoredAlluxio restored() {
        return restored;
    }

    /** What changes here do to the times of directories. */
    public DirectoryTimes times() {
        return times;
    }

    /** What is known and still believed; null: ask. Never waits. */
    public @Nullable Attr known(Inode inode) {
        Attr attr = inode.attr();
        if (attr == null || !(inode.unlinked() || cachePolicy.of(inode).fresh(attr.fetchedNanos()))) {
            return null;
        }
        attributeCounts.hit();
        return attr;
    }

    /** Questions for attributes. */
    public CacheCounts attributeCounts() {
        return attributeCounts;
    }

    /** Questions for names. */
    public CacheCounts nameCounts() {
        return nameCounts;
    }

    /** What is known and believed by an open; null: ask. That a file is still being written is not believed. Never waits. */
    public @Nullable Attr knownAtOpen(Inode inode, boolean writes) {
        Attr attr = inode.attr();
        if (attr == null || !(writes || attr.complete())) {
            return null;
        }
        CachePolicy own = cachePolicy.of(inode);
        return own.validAtOpen(seenNanos(inode, attr, own)) ? attr : null;
    }

    /** May an open believe what was seen of a file then, or written to it? Never waits. */
    public boolean isValidAtOpen(Inode inode, Attr attr) {
        return cachePolicy.of(inode).validAtOpen(attr.fetchedNanos());
    }

    /** What has become of a committed file by what is at its name. */
    public enum Since {
        /** It is as it was committed. */
        UNCHANGED,
        /** Others gave it new content, as they see it. */
        NEW_CONTENT,
        /** It is gone, and the name is another file's. */
        REPLACED,
        /** Perhaps something, as it is not there, or not whole; or others renamed it. */
        UNKNOWN
    }

    /**
     * Waits.
     *
     * @param there what is at its name; null: nothing
     */
    public Since since(Inode inode, Attr committed, @Nullable FileStatus there) throws StoreException {
        if (there == null || there.directory() || !there.complete()) {
            return Since.UNKNOWN;
        }
        if (there.id() == committed.fileId()) {
            return there.lengthBytes() == committed.lengthBytes() ? Since.UNCHANGED : Since.NEW_CONTENT;
        }
        FileStatus whole = lost.repaired(inode, committed, there, () -> pathOf(inode));
        if (!whole.equals(there) || numberOf(whole) == inode.number()) {
            return Since.NEW_CONTENT;
        }
        return isGone(committed.fileId()) ? Since.REPLACED : Since.UNKNOWN;
    }

    /** Others gave the name of a file to another one, which is to be looked up. */
    public void nameTaken(Inode inode) {
        String path = table.path(inode);
        if (path != null) {
            table.loose(inode, path);
        }
    }

    /** Will what is known of a file soon be too old for an open? */
    public boolean revalidatesSoon(Inode inode, Attr attr) {
        CachePolicy own = cachePolicy.of(inode);
        return !own.isValidAtOpen(seenNanos(inode, attr, own));
    }

    /** When the file was seen with this content: by itself, or since its directory stands as it was listed. */
    private long seenNanos(Inode inode, Attr attr, CachePolicy own) {
        long fetchedNanos = attr.fetchedNanos();
        if (own.isValidAtOpen(fetchedNanos) || !own.fresh(fetchedNanos)) {
            return fetchedNanos;
        }
        Inode directory = table.parentNow(inode);
        Dentries.Standing standing =
                directory == null ? null : directory.dentries().standing();
        return standing == null ? fetchedNanos : standing.sawNanos(fetchedNanos);
    }

    /** Will what was listed of a directory then soon be too old for anyone? */
    boolean expiresSoon(Inode directory, long listedNanos) {
        return cachePolicy.of(directory).expiresSoon(listedNanos);
    }

    /** What the file is, and whether it is there at all, is to be asked again by everyone, the kernel too. Never waits. */
    public void doubt(Inode inode) {
        invalidator.forget(table, inode);
    }

    /** What is known of a name and still believed; null: ask. Never waits. */
    public Dentries.@Nullable Dentry known(Inode directory, Name name) {
        Dentries.Dentry dentry = directory.dentries().find(name);
        if (dentry == null) {
            return null;
        }
        CachePolicy own = cachePolicy.of(directory, name);
        boolean believed = dentry.child() == null
                ? missing.leftNanos(directory, own, dentry.seenNanos()) > 0
                : own.fresh(dentry.seenNanos());
        if (!believed) {
            return null;
        }
        nameCounts.hit();
        return dentry;
    }

    /** Known attributes, or those that Alluxio says now. */
    public Attr attr(Inode inode) throws StoreException {
        Attr attr = known(inode);
        return attr != null ? attr : refresh(inode);
    }

    /** Asks Alluxio for what it says now; ESTALE when the file is gone, or is not where its name says. An orphan is as it was. */
    public Attr refresh(Inode inode) throws StoreException {
        Attr before = inode.attr();
        if (before != null && isOrphan(inode)) {
            return before;
        }
        attributeCounts.miss();
        for (int tries = 1; ; tries++) {
            Attr seen = seen(inode, tries == MAX_TRIES);
            if (seen != null) {
                return seen;
            }
        }
    }

    /** @return null: the inode changed meanwhile, and nothing is known of it; not the last time */
    private @Nullable Attr seen(Inode inode, boolean last) throws StoreException {
        long issued = generation().issued();
        String path = table.path(inode);
        FileStatus status = path == null ? null : statusOrNull(path);
        if (status != null && (status.id() == inode.fileId() || inode == table.root())) {
            restored.check(inode, status);
        } else {
            boolean older = !last && inode.isNewerThan(issued);
            String now = older ? null : locations.of(inode);
            if (older || (!last && hasMoved(issued, path, now))) {
                return null;
            }
            FileStatus found = now == null ? null : find(inode, now);
            status = found != null ? found : instead(inode, status);
        }
        return shown(inode, see(inode, status, issued, nowNanos()), issued, last);
    }

    /** What counts of a response. Of a directory that changes here all the time it says how it is by others. */
    private static @Nullable Attr shown(Inode inode, Attr seen, long issued, boolean last) {
        Attr known = inode.isNewerThan(issued) ? inode.attr() : seen;
        return (known == null ? last : inode.isDirectory()) ? seen : known;
    }

    /** Is what was said of one of these paths, where the file was and where it is, of yesterday? Null: it is not known, or nowhere. */
    private boolean hasMoved(long issued, @Nullable String before, @Nullable String now) throws StoreException {
        return pathLocks.directoryMovedSince(issued, before)
                || (now != null && pathLocks.directoryMovedSince(issued, now));
    }

    /** Did this mount take its name, and is it at no hidden one? Then Alluxio has it no more, and its path may be another's. */
    public boolean isOrphan(Inode inode) {
        return inode.unlinked() && !TempNames.is(table.lastName(inode));
    }

    /** What took the place of a file that is gone, if it counts as the same. */
    private FileStatus instead(Inode inode, @Nullable FileStatus there) throws StoreException {
        if (there != null && adopts(inode, there)) {
            FileStatus whole = lost.repaired(inode, there, () -> pathOf(inode));
            if (!whole.equals(there)) {
                inode.invalidateAttr(generation().changed());
            }
            table.numbers().adopted(inode, numberOf(whole));
            return whole;
        }
        table.gone(inode);
        throw new StoreException(Errno.ESTALE, "The file of node " + inode.node() + " is gone", null);
    }

    /** Until it is closed, the content of this file is written over its object. */
    public LostAttributes.Overwriting overwriting(Inode inode) {
        return lost.overwriting(inode);
    }

    /** Notes who says of which inodes somebody may read them though no handle is known. */
    public void openUnseen(Predicate<Inode> mayBe) {
        openUnseen = mayBe;
    }

    private long numberOf(FileStatus status) {
        return reader.read(status, nowNanos()).number();
    }

    /**
     * A file that is gone, with another at its path. It stays the same node if others replaced its content, as we do; or if it is of the
     * same kind, as a node always is to the kernel, and nobody can have read the old file, who would read on in the other one.
     */
    private boolean adopts(Inode inode, FileStatus status) {
        Attr known = inode.attr();
        Attr there = reader.read(status, nowNanos());
        boolean sameKind = known == null
                ? Stat.isRegular(there.mode()) && !inode.isSpecial()
                : (known.mode() & Stat.S_IFMT) == (there.mode() & Stat.S_IFMT);
        boolean unread = sameKind && !inode.isRead() && !openUnseen.test(inode);
        boolean adopted = !status.directory()
                && !inode.isDirectory()
                && !inode.unlinked()
                && (unread || there.number() == inode.number())
                && table.adopt(inode, status.id(), cachePolicy.nowNanos());
        if (adopted) {
            invalidator.changed(inode.node()); // also where nothing is known of what it was before
        }
        return adopted;
    }

    /** What is there if it is the inode's file, which others put there then. */
    private @Nullable FileStatus find(Inode inode, String path) throws StoreException {
        FileStatus status = statusOrNull(path);
        if (status == null || status.id() != inode.fileId()) {
            return null;
        }
        restored.check(inode, status);
        String known = table.path(inode);
        if (known == null) {
            locations.settle(inode, path);
        } else if (!known.equals(path)) {
            table.loose(inode, path);
        }
        return status;
    }

    /** The volume's. */
    public Clock clock() {
        return cachePolicy.clock();
    }

    public long nowNanos() {
        return cachePolicy.nowNanos();
    }

    private @Nullable FileStatus statusOrNull(String path) throws StoreException {
        return Existing.orNull(() -> store.status(path));
    }

    /**
     * What Alluxio says of a name that this mount took away after a look at the under file system; null: nothing is there. The name may
     * be back in Alluxio alone, which loads names from there, or did something for a process that is no more.
     */
    @Nullable
    FileStatus compared(String path) throws StoreException {
        return Existing.orNull(() -> store.compared(path));
    }

    /**
     * Keeps what Alluxio says of an inode, unless this mount changed it since.
     *
     * @param issued {@link Generation#issued} before the request
     * @param nowNanos for which it is said
     */
    Attr see(Inode inode, FileStatus said, long issued, long nowNanos) {
        inode.storedIn(said.storeNames());
        Attr before = inode.attr();
        boolean stays = inode.isDirectory() && known.stay(inode, before, said, issued, nowNanos);
        FileStatus counted = stays && before != null ? said.withNames(before.lengthBytes()) : said;
        FileStatus status = times.seen(inode, counted, issued);
        Attr now = reader.read(status, nowNanos);
        boolean kept = inode.see(now, issued);
        if (now.number() != 0 && now.fileId() == inode.fileId()) {
            table.numbers().claim(inode, now.number(), this::isGone);
        }
        told(inode, kept || inode.attr() == null ? before : now, now, stays);
        if (kept) {
            times.settle(inode, status, issued);
        }
        return now;
    }

    /** False where Alluxio does not say. */
    private boolean isGone(long fileId) {
        try {
            store.pathOf(fileId);
            return false;
        } catch (StoreException e) {
            return e.errno() == Errno.ENOENT || e.errno() == Errno.EINVAL;
        }
    }

    /** @param stays for a directory: what is known of its names */
    private void told(Inode inode, @Nullable Attr before, Attr now, boolean stays) {
        if (inode.isDirectory()) {
            if (!stays) {
                invalidator.moved(inode, inode.dentries().dropListing());
            }
        } else if (before != null && !before.sameContent(now)) {
            invalidator.changed(inode.node());
        }
    }

    /** Asks Alluxio for a name; null when there is nothing. */
    public @Nullable Inode look(Inode directory, Name name) throws StoreException {
        nameCounts.miss();
        for (int tries = 1; ; tries++) {
            long issued = generation().issued();
            String path = pathOf(directory, name);
            FileStatus status = statusOrNull(path);
            if (status != null && directory.dentries().wasTaken(name)) {
                status = compared(pathOf(directory, name));
            }
            Inode found = status == null ? null : place(directory, name, status, issued);
            boolean moved = status == null && pathLocks.directoryMovedSince(issued, path);
            boolean gone = status == null && !moved && nothing(directory, name, issued);
            if (found != null || gone) {
                return found;
            }
            if (tries == MAX_TRIES) {
                return lastLook(directory, name, status);
            }
        }
    }

    /** The name changed here during each request: what is known of it counts, and else the last response. */
    private @Nullable Inode lastLook(Inode directory, Name name, @Nullable FileStatus status) throws StoreException {
        boolean known = directory.dentries().find(name) != null;
        return status == null || known ? table.child(directory, name) : place(directory, name, status);
    }

    /** The name leads nowhere; false: this mount did something to it after Alluxio was asked. */
    private boolean nothing(Inode directory, Name name, long issued) {
        Collection<Name> dropped = table.seeMissing(directory, name, issued, cachePolicy.nowNanos());
        if (dropped == null) {
            return false;
        }
        invalidator.moved(directory, dropped);
        Dentries dentries = directory.dentries();
        if (NegativeEntries.paysToLearn(dentries.askedInVain())) {
            missedOften.accept(directory);
        }
        return true;
    }

    /** Whom to tell of directories in which names are asked for in vain again and again; must not wait. */
    public void whenMissedOften(Consumer<Inode> told) {
        missedOften = told;
    }

    /**
     * Has a directory the names that it had before it was listed, but for changes by this mount? While another client replaces a file
     * there is a moment in which Alluxio lists neither the old one nor the new. So a listing is known to lack nothing only if the
     * directory's own time and number of names tell of nobody else before and after it. Asks Alluxio; where it fails, the answer is no.
     *
     * @param drops {@link Dentries#drops} before it was listed, and after it was last asked for
     */
    public boolean stands(Inode directory, long drops) {
        try {
            if (cachePolicy.of(directory).immutable()) {
                return true;
            }
            refresh(directory);
            return directory.dentries().drops() == drops;
        } catch (StoreException e) {
            return false;
        }
    }

    /** The child of this name, known or looked for; null when there is nothing. */
    public @Nullable Inode child(Inode directory, Name name) throws StoreException {
        Dentries.Dentry known = known(directory, name);
        return known != null ? known.child() : look(directory, name);
    }

    /** Keeps what this mount made. */
    public Inode place(Inode directory, Name name, FileStatus status) {
        Inode child = table.of(status.id(), status.directory());
        see(child, status, generation().issued(), nowNanos());
        table.attach(directory, name, child, cachePolicy.nowNanos());
        return child;
    }

    /** Keeps what Alluxio says of a child; null: this mount did something to the name after Alluxio was asked. */
    @Nullable
    Inode place(Inode directory, Name name, FileStatus said, long issued) throws StoreException {
        Inode known = table.child(directory, name);
        if (known != null && lost.isOverwritten(known)) {
            table.expect(known, said.id());
        }
        FileStatus status = lost.repaired(known, said, () -> pathOf(directory, name));
        Inode child = table.of(status.id(), status.directory());
        restored.check(child, status);
        // First: what is kept of its attributes may count as a change of ours, after which it would not be believed to
        // be here.
        boolean placed = table.see(directory, name, child, issued, cachePolicy.nowNanos());
        see(child, status, status.equals(said) ? issued : generation().changed(), nowNanos());
        return placed ? child : null;
    }

    /** The path of a name in a directory; ESTALE when nobody knows where the directory is. */
    public String pathOf(Inode directory, Name name) throws StoreException {
        locations.findStore(directory, name);
        String path = table.path(directory, name);
        if (path == null) {
            refresh(directory);
            path = table.path(directory, name);
        }
        if (path == null) {
            throw new StoreException(Errno.ESTALE, "The directory of node " + directory.node() + " is gone", null);
        }
        if (!PathLimit.isAnswered(path)) {
            throw PathLimit.tooLong(path);
        }
        return path;
    }

    /** The same of a name that is to be made; ENAMETOOLONG before anything is done. Waits where the path is long. */
    public String newPathOf(Inode directory, Name name) throws StoreException {
        String path = pathOf(directory, name);
        if (!PathLimit.isSafe(path) && !PathLimit.fits(path, store.longestPath(pathOf(directory)))) {
            throw PathLimit.tooLong(path);
        }
        return path;
    }

    /** Where the file is, as far as is known without asking; ESTALE when nothing is. */
    public String pathOf(Inode inode) throws StoreException {
        String path = table.path(inode);
        if (path == null) {
            refresh(inode);
            path = table.path(inode);
        }
        if (path == null) {
            throw new StoreException(Errno.ESTALE, "The file of node " + inode.node() + " is gone", null);
        }
        return path;
    }

    /** The name of an inode in its directory, as far as is known; null: it is in none. */
    @Nullable
    Name nameOf(Inode inode) {
        return table.name(inode);
    }

    /** Is something known at a name of Alluxio? */
    boolean isKnown(@Nullable Inode directory, String stored) {
        return directory != null
                && table.child(directory, table.names(directory).shown(stored)) != null;
    }
}

package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Dentries;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.ListingPage;
import io.posixgateway.alluxio.meta.ListingPass;
import io.posixgateway.alluxio.meta.Listings;
import io.posixgateway.alluxio.meta.ReaddirPrefetch;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.DirectoryWriter;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.spi.Stat;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An open directory: goes through the listing page by page in the order of names, so that a huge one begins to be shown at
 * once and is never in memory whole. Guarded by its own monitor.
 *
 * <p>Offset 0 is ".", 1 is "..", 2 the first name, and behind any other entry the offset is the number of its node. So an
 * offset stays right when names come and go, before it or behind it: the listing goes on behind that entry's name. Where the
 * name of an offset cannot be found any more (its file was deleted since, and is on no page that is remembered), the listing
 * begins again, so that nothing is left out.
 */
final class DirectoryHandle {
    private static final Name DOT = Name.of(".");
    private static final Name DOT_DOT = Name.of("..");
    private static final int FIRST = 2;
    /** Directories of up to so many names are kept as a whole when they were read to the end. */
    private static final int MAX_KEPT = 20_000;

    private final VolumeContext volume;
    private final Inode directory;
    private final ListingPass.Room room;
    private final Entry entry = new Entry();
    private final Name name = new Name();

    /** The page at hand, and the one before it. */
    private Listings.Listed page = begin();

    private Listings.@Nullable Listed pageBefore;
    /** Those before. */
    private final PassedPages passed;
    /** The page behind the one at hand, when there is one and the listing goes on. */
    private ReaddirPrefetch.@Nullable Part ahead;

    private boolean onFirstPage;
    /** What was shown since the beginning; null: all that is listed is on the first page, as far as is known. */
    private @Nullable ListingPass pass;

    private boolean closed;
    /** The next entry of the page. */
    private int next;
    /** The offset behind the last entry that was shown; -1: another offset was asked for since. */
    private long shown = -1;

    /** What was read since the beginning, to be kept; null: that will not be. */
    private @Nullable List<Inode> all;

    private long startedNanos;
    /** {@link Dentries#drops} before it was listed; -1: the directory is to be asked for first. */
    private long drops;

    /**
     * @param room of all open directories of the volume
     * @param passedRoom likewise
     */
    DirectoryHandle(VolumeContext volume, Inode directory, ListingPass.Room room, PassedPages.Room passedRoom) {
        this.volume = volume;
        this.directory = directory;
        this.room = room;
        this.passed = new PassedPages(passedRoom);
    }

    private static Listings.Listed begin() {
        return new Listings.Listed(ListingPage.EMPTY, "", true);
    }

    synchronized int read(Request request, long from, DirectoryWriter writer) throws StoreException {
        if (from < FIRST) {
            for (long dot = from; dot < FIRST; dot++) {
                if (!addDot(dot, writer)) {
                    return 0;
                }
            }
            restart();
        } else if (!seek(request, from)) {
            return FileSystem.WOULD_WAIT;
        }
        boolean added = from < FIRST;
        while (true) {
            int loaded = load(request, added);
            if (loaded <= 0) {
                return added ? 0 : loaded;
            }
            page.page().name(next, name);
            Inode child = child();
            if (child != null && !wasShown(child)) {
                long offset = page.page().inode(next).node();
                if (!addChild(request, writer, child, offset)) {
                    return 0;
                }
                shown = offset;
                added = true;
            }
            next++;
        }
    }

    private void restart() {
        endPass();
        next = 0;
        shown = -1;
        pageBefore = null;
        passed.clear();
        ahead = null;
        onFirstPage = true;
        startedNanos = volume.cachePolicy.nowNanos();
        Dentries dentries = directory.dentries();
        ListingPage kept = volume.cachePolicy.of(directory).fresh(dentries.listedNanos()) ? dentries.listing() : null;
        page = kept == null ? begin() : new Listings.Listed(kept, "", false);
        all = kept == null && volume.cachePolicy.of(directory).fresh(startedNanos) ? new ArrayList<>() : null;
        drops = directory.attr() == null ? -1 : dentries.drops();
    }

    /** Goes to the entry behind the one of this offset; false: only by waiting. */
    private boolean seek(Request request, long offset) throws StoreException {
        if (offset == shown) {
            return true;
        }
        shown = -1;
        if (offset == FIRST) {
            if (!onFirstPage) {
                restart();
            }
            next = 0;
            return true;
        }
        int here = page.page().behind(offset, next);
        if (here >= 0) {
            next = here;
            return true;
        }
        all = null;
        Listings.Listed before = pageBefore;
        int there = before == null ? -1 : before.page().behind(offset, 0);
        if (before != null && there >= 0) {
            passed.add(page.page());
            page = before;
            pageBefore = null;
            onFirstPage = false;
            next = there;
            return true;
        }
        return find(request, offset);
    }

    /** As if the page at hand had ended with this name of Alluxio. */
    private void continueBehind(String last) {
        passed.add(page.page());
        if (pageBefore != null) {
            passed.add(pageBefore.page());
        }
        page = new Listings.Listed(ListingPage.EMPTY, last, true);
        pageBefore = null;
        onFirstPage = false;
        next = 0;
    }

    /** The entry is on no page at hand. */
    private boolean find(Request request, long offset) throws StoreException {
        if (passed.find(offset, name)) {
            continueBehind(volume.table.names(directory).stored(name));
            return true;
        }
        Inode inode = volume.table.get(offset);
        Name known = inode != null && volume.table.parent(inode) == directory ? volume.table.name(inode) : null;
        if (known == null && !request.mayWait()) {
            return false;
        }
        String last = known == null
                ? volume.metadata.locations().nameIn(directory, offset)
                : volume.table.names(directory).stored(known);
        if (last == null) {
            restart();
            return true;
        }
        continueBehind(last);
        return true;
    }

    /**
     * Brings the page that holds the next entry: 1 there, 0 the listing ends before it, or WOULD_WAIT.
     *
     * @param added is there something in the reply, which is not to be lost by a failure? Then the next reply tells that
     */
    private int load(Request request, boolean added) throws StoreException {
        try {
            return load(request);
        } catch (StoreException e) {
            if (added) {
                return 0;
            }
            throw e;
        }
    }

    private int load(Request request) throws StoreException {
        while (next >= page.page().count()) {
            if (!page.more() || directory.unlinked()) {
                return 0; // another directory may be at its path
            }
            if (!request.mayWait()) {
                return FileSystem.WOULD_WAIT;
            }
            if (all != null && drops < 0) {
                volume.metadata.refresh(directory);
                drops = directory.dentries().drops();
            }
            Listings.Listed loaded = behind(page.last());
            boolean goesOn = loaded.more() && volume.cachePolicy.of(directory).fresh(volume.cachePolicy.nowNanos());
            ahead = goesOn ? volume.ahead.begin(directory, loaded.last()) : null;
            onFirstPage = onFirstPage && page.page().count() == 0;
            if (pageBefore != null) {
                passed.add(pageBefore.page());
            }
            pageBefore = page;
            page = loaded;
            next = 0;
            reach(loaded);
            keep();
        }
        return 1;
    }

    private Listings.Listed behind(String last) throws StoreException {
        ReaddirPrefetch.Part begun = ahead;
        ahead = null;
        return begun != null && volume.ahead.fits(begun, last)
                ? volume.ahead.take(begun)
                : volume.metadata.listings().list(directory, last);
    }

    private void reach(Listings.Listed loaded) {
        ListingPass current = pass;
        if (current == null && loaded.more() && !closed) {
            current = new ListingPass(volume.table.names(directory), room);
            pass = current;
            directory.dentries().begin(current);
        }
        if (current != null) {
            current.reached(loaded.last());
        }
    }

    private void endPass() {
        ListingPass current = pass;
        pass = null;
        if (current != null) {
            directory.dentries().end(current);
        }
    }

    synchronized void close() {
        closed = true;
        endPass();
        passed.close();
    }

    /** Was it, by a name that it had before, and has it this one still? */
    private boolean wasShown(Inode child) {
        ListingPass current = pass;
        return current != null && current.hasShown(child) && volume.table.isAt(directory, name, child);
    }

    private void keep() {
        List<Inode> inodes = all;
        if (inodes == null) {
            return;
        }
        page.page().addTo(inodes);
        if (page.more() && inodes.size() <= MAX_KEPT) {
            return;
        }
        all = null;
        if (inodes.size() <= MAX_KEPT && drops >= 0 && volume.metadata.stands(directory, drops)) {
            directory.dentries().keepListing(inodes, startedNanos);
        }
    }

    private boolean addDot(long at, DirectoryWriter writer) {
        Inode parent = at == 0 ? directory : volume.table.parent(directory);
        long node = parent == null ? directory.number() : parent.number();
        Name dots = at == 0 ? DOT : DOT_DOT;
        if (!writer.plus()) {
            return writer.add(dots, at + 1, node, Stat.S_IFDIR);
        }
        entry.clear();
        entry.attributes.inode = node;
        entry.attributes.mode = Stat.S_IFDIR;
        return writer.add(dots, at + 1, entry);
    }

    /** What has the next entry's name by now; null: nothing. */
    private @Nullable Inode child() {
        Inode listed = page.page().inode(next);
        return listed.unlinked() ? directory.dentries().holder(name) : listed;
    }

    /**
     * Adds the next entry; false: no room.
     *
     * @param offset behind it: the node that the page has there, whoever holds the name by now
     */
    private boolean addChild(Request request, DirectoryWriter writer, Inode child, long offset) throws StoreException {
        Attr attr = volume.metadata.known(child);
        int type = attr != null ? attr.mode() & Stat.S_IFMT : child.isDirectory() ? Stat.S_IFDIR : 0;
        if (!writer.plus()) {
            return writer.add(name, offset, child.number(), type);
        }
        entry.clear();
        boolean here = volume.table.isAt(directory, name, child);
        if (!here || attr == null || !isShown(request, child)) {
            entry.clear();
            entry.attributes.inode = child.number();
            entry.attributes.mode = type;
            return writer.add(name, offset, entry);
        }
        entry.node = child.node();
        entry.validNanos = entry.attributes.validNanos;
        if (!writer.add(name, offset, entry)) {
            return false;
        }
        volume.table.lookedUp(child);
        return true;
    }

    /** Are its attributes in the entry? Whoever asks for what cannot be shown is told why; the others are listed all the same. */
    private boolean isShown(Request request, Inode child) {
        try {
            return volume.show(request, child, entry.attributes) == 0;
        } catch (StoreException e) {
            return false;
        }
    }
}

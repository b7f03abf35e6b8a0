package io.posixgateway.alluxio.meta;

import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The names of one directory: those that lead somewhere, those known to lead nowhere, and perhaps the order of the whole
 * listing. Any thread; guarded by its own monitor, which is held for a few instructions.
 */
public final class Dentries {
    private static final int MAX_MISSING = 10_000;

    /** What is known of one name. */
    public sealed interface Dentry permits Inode, Missing {
        /** Null: nothing has this name. */
        @Nullable
        Inode child();

        /** When this was seen, by the volume's clock. */
        long seenNanos();

        /** Of what is known of it; see {@link Generation}. */
        long generation();
    }

    /** Nothing has this name. */
    record Missing(long seenNanos, long generation) implements Dentry {
        @Override
        public @Nullable Inode child() {
            return null;
        }
    }

    /**
     * The directory's own time and number of entries are what they were when it was listed: its files are the same.
     *
     * @param listedNanos when the listing began
     * @param seenNanos when the directory was seen unchanged
     */
    public record Standing(long listedNanos, long seenNanos) {
        /** When a file of the directory was last seen as it was when its attributes were fetched. */
        public long sawNanos(long fetchedNanos) {
            boolean listed = fetchedNanos - listedNanos >= 0 && seenNanos - fetchedNanos > 0;
            return listed ? seenNanos : fetchedNanos;
        }
    }

    private final MemoryAccounting bytes;
    private final Children children = new Children();
    private volatile @Nullable Standing standing;
    private @Nullable Replacements replacements;
    private @Nullable Map<Name, Missing> missing;
    private @Nullable TakenNames taken;
    /** Null: none. Written under the monitor. */
    private volatile @Nullable NamesInFlight unsure;

    private Inode @Nullable [] listing;
    private long listedNanos;
    /** Generation of the last change by this mount to a name of which nothing is known any more. */
    private long forgotten;

    private long drops;
    /** All names are known, as of then. */
    private boolean complete;

    private long completeNanos;
    /** Names that Alluxio was asked for in vain since then. */
    private int asked;
    /** When the directory was last seen to have no other names than those that this mount knows of. */
    private long lookedNanos = Long.MIN_VALUE / 2;
    /** Changes of names by this mount. */
    private int inFlight;
    /** Those that are over, since a look to which none of them came in the way. */
    private int unproven;

    private @Nullable List<ListingPass> passes;

    Dentries(MemoryAccounting bytes) {
        this.bytes = bytes;
    }

    /** Finds without allocating; null: nothing is known of the name. */
    public synchronized @Nullable Dentry find(Name name) {
        Inode child = children.find(name);
        if (child != null) {
            return child;
        }
        Map<Name, Missing> absent = missing;
        return absent == null ? null : absent.get(name);
    }

    /** @param child whose name is set, and is in no directory */
    synchronized void put(Inode child, long nowNanos) {
        child.seenNanos = nowNanos;
        if (children.put(child)) {
            listing = null;
            if (missing != null || taken != null) {
                forget(Name.of(Children.nameOf(child)));
            }
        }
    }

    /** The name leads somewhere. */
    private void forget(Name name) {
        forgetMissing(name);
        if (taken != null) {
            taken.remove(name);
        }
    }

    private @Nullable Missing forgetMissing(Name name) {
        Missing known = missing == null ? null : missing.remove(name);
        if (known != null) {
            bytes.add(-MemoryAccounting.ofMissing(name));
        }
        return known;
    }

    private Collection<Name> forgetAllMissing() {
        Map<Name, Missing> absent = missing;
        missing = null;
        if (absent == null) {
            return List.of();
        }
        absent.forEach((name, known) -> {
            bytes.add(-MemoryAccounting.ofMissing(name));
            forgot(known.generation);
        });
        return absent.keySet();
    }

    /** Nothing is known any more of a name of which something of this generation was. */
    synchronized void forgot(long generation) {
        if (Generation.isChange(generation)) {
            forgotten = Math.max(forgotten, generation);
        }
    }

    /**
     * Returns whether something else is known of a name than a response says, of a later generation.
     *
     * @param child that the name leads to by the response; null: it leads nowhere
     * @param issued {@link Generation#issued} before the request
     */
    synchronized boolean isNewer(Name name, @Nullable Inode child, long issued) {
        Dentry known = find(name);
        boolean same = known != null && known.child() == child && !(unsure != null && unsure.has(name));
        return !same && (known == null ? forgotten : known.generation()) > issued;
    }

    /** Nothing has this name; the names of which that is no longer known here. */
    synchronized Collection<Name> putMissing(Name name, long generation, long nowNanos) {
        Missing before = missing == null ? null : missing.get(name);
        long newest = before == null ? generation : Math.max(generation, before.generation);
        return keepMissing(name, new Missing(nowNanos, newest));
    }

    /**
     * Somebody is told that nothing has this name, as all names are known: keeps it, so that this can be taken back.
     *
     * @return the names that are no longer kept, in their place
     */
    public synchronized Collection<Name> tellMissing(Name name, long seenNanos) {
        return find(name) == null ? keepMissing(name, new Missing(seenNanos, forgotten)) : List.of();
    }

    private Collection<Name> keepMissing(Name name, Missing known) {
        boolean full = missing != null && missing.size() >= MAX_MISSING;
        Collection<Name> dropped = full ? forgetAllMissing() : List.of();
        Map<Name, Missing> absent = missing;
        if (absent == null) {
            absent = new HashMap<>();
            missing = absent;
        }
        if (absent.put(name.copy(), known) == null) {
            bytes.add(MemoryAccounting.ofMissing(name));
        }
        return dropped;
    }

    /** This mount took the name away: should Alluxio have it again, that may be wrong. */
    synchronized void putTaken(Name name) {
        TakenNames names = taken;
        if (names == null) {
            names = new TakenNames();
            taken = names;
        }
        names.add(name);
    }

    /** A change of the name by this mount has an unknown outcome: until then it counts as in flight. */
    synchronized void unsure(Name name, long untilNanos) {
        NamesInFlight all = unsure;
        if (all == null) {
            all = new NamesInFlight();
            unsure = all;
        }
        all.add(name, untilNanos);
        dropMissing(name);
    }

    /** Returns whether a change of the name by this mount is in flight as its outcome is unknown: then no response about it is kept. */
    public boolean isUnsure(Name name, Clock clock) {
        return unsure != null && isUnsure(name, clock.nanos());
    }

    private synchronized boolean isUnsure(Name name, long nowNanos) {
        return isAnyUnsure(nowNanos) && unsure != null && unsure.has(name);
    }

    /** The same of any name. */
    boolean isAnyUnsure(Clock clock) {
        return unsure != null && isAnyUnsure(clock.nanos());
    }

    private synchronized boolean isAnyUnsure(long nowNanos) {
        NamesInFlight all = unsure;
        if (all != null && all.isEmpty(nowNanos)) {
            unsure = null;
        }
        return unsure != null;
    }

    /** Did this mount take the name away, with nothing seen there since? */
    public synchronized boolean wasTaken(Name name) {
        return taken != null && taken.has(name);
    }

    /**
     * Takes the child out if it is here.
     *
     * @param gone is it known that it has this name no more? If not, not all names are known any more
     */
    synchronized void remove(Inode child, boolean gone) {
        if (children.remove(child)) {
            listing = null;
            complete &= gone;
            drops += gone ? 0 : 1;
        }
    }

    /** Makes what is known of a child's name as old as can be. */
    synchronized void doubt(Inode child) {
        child.seenNanos = Long.MIN_VALUE / 2;
    }

    /**
     * Keeps that all names are known by a whole listing, unless one was forgotten or a file was seen at two names; and the listing
     * itself, if it is what is known here by now: any change of the directory drops it.
     *
     * @param all the children in the order of their names
     * @param startedNanos when the listing began
     */
    public synchronized void keepListing(List<Inode> all, long startedNanos) {
        if (isAnyUnsure(startedNanos) || new HashSet<>(all).size() != all.size()) {
            return;
        }
        for (Inode child : all) {
            if (!children.has(child) && !child.unlinked()) {
                return;
            }
        }
        nowComplete(startedNanos);
        long current = children.all().stream()
                .filter(child -> child.seenNanos >= startedNanos)
                .count();
        if (current == all.size() && all.stream().noneMatch(Inode::unlinked)) {
            listing = all.toArray(Inode[]::new);
            listedNanos = startedNanos;
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

    /** This mount is about to ask Alluxio for a change of names here. */
    public synchronized void changeBegins() {
        inFlight++;
    }

    /** It is over, and known here. */
    public synchronized void changeEnds() {
        inFlight--;
        unproven++;
    }

    /**
     * Returns how many changes of names by this mount a response may have counted or not: by so many the number of names may differ.
     *
     * @param outdated did one end after the request was issued?
     */
    public synchronized int uncounted(boolean outdated) {
        return inFlight + (outdated ? unproven : 0);
    }

    /**
     * The directory was seen to have no names but those of which this mount knows.
     *
     * @param proven no change by this mount came in the way
     */
    public synchronized void looked(long nowNanos, boolean proven) {
        lookedNanos = nowNanos;
        unproven = proven ? 0 : unproven;
    }

    /** When it was, by the volume's clock; long ago if never. */
    public synchronized long lookedNanos() {
        return lookedNanos;
    }

    /** The whole listing in order, if one is kept. */
    public synchronized @Nullable ListingPage listing() {
        Inode[] all = listing;
        if (all == null) {
            return null;
        }
        byte[][] names = new byte[all.length][];
        for (int i = 0; i < all.length; i++) {
            names[i] = Children.nameOf(all[i]);
        }
        return new ListingPage(names, all, all.length);
    }

    public synchronized long listedNanos() {
        return listedNanos;
    }

    /** How often others were seen to have changed names, or may have, or a name was forgotten: not all are known any more. */
    public synchronized long drops() {
        return drops;
    }

    /** Others have changed names, or may have: drops the listing and the names known to be missing, which it returns. */
    public synchronized Collection<Name> dropListing() {
        drops++;
        listing = null;
        complete = false;
        return forgetAllMissing();
    }

    /** Whether this name leads somewhere is to be asked; false: that was not known. */
    public synchronized boolean dropMissing(Name name) {
        Missing known = forgetMissing(name);
        boolean told = complete || known != null;
        listing = null;
        complete = false;
        if (known != null) {
            forgot(known.generation);
        }
        return told;
    }

    /**
     * The file of this name is about to be replaced: what Alluxio lists from now on may lack the name, though it is never free.
     *
     * @param by what will be there
     */
    public synchronized void replacing(Name name, Inode by) {
        Replacements all = replacements;
        if (all == null) {
            all = new Replacements();
            replacements = all;
        }
        all.begin(name, by);
    }

    /** It is, or will not be; known by the children. */
    public synchronized void replaced(Name name, long nowNanos) {
        listing = null;
        if (replacements != null) {
            replacements.end(name, nowNanos);
        }
    }

    /** The names whose files were being replaced at this moment or later; some more. */
    public synchronized List<Name> replacedSince(long nanos) {
        return replacements == null ? List.of() : replacements.since(nanos);
    }

    /** What has this name, or is about to have it while what had it goes; null: nothing that is known. */
    public synchronized @Nullable Inode holder(Name name) {
        Dentry dentry = find(name);
        Inode child = dentry == null ? null : dentry.child();
        if (child != null && !child.unlinked()) {
            return child;
        }
        return replacements == null ? null : replacements.by(name);
    }

    /** The directory is listed in pages from now on. */
    public synchronized void begin(ListingPass pass) {
        List<ListingPass> all = passes;
        if (all == null) {
            all = new ArrayList<>(1);
            passes = all;
        }
        all.add(pass);
    }

    /** No more. */
    public synchronized void end(ListingPass pass) {
        pass.end();
        List<ListingPass> all = passes;
        if (all != null && all.remove(pass) && all.isEmpty()) {
            passes = null;
        }
    }

    /**
     * This mount gave a file a name here.
     *
     * @param from the name that it had here; null: none
     * @param free had nothing that name before?
     */
    public synchronized void named(Inode file, @Nullable Name from, Name to, boolean free) {
        List<ListingPass> all = passes;
        if (all == null) {
            return;
        }
        for (ListingPass pass : all) {
            if (free) {
                pass.named(file, from, to);
            } else {
                pass.replaced(file);
            }
        }
    }

    /** What is known of the directory as a whole; null: nothing. */
    public @Nullable Standing standing() {
        return standing;
    }

    public void stand(@Nullable Standing now) {
        standing = now;
    }

    /** How many children are known. */
    public synchronized int children() {
        return children.size();
    }

    /** The children known now. */
    public synchronized List<Inode> snapshot() {
        return children.all();
    }
}

package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cache as one volume uses it: whose entries it may find, and what it is reading now. Any thread.
 *
 * <p>What is read from Alluxio is gathered in memory, piece by piece; a piece of which all was read is written by the cache's thread. A piece
 * has all of its memory from its first part on. Where there is none, one that nobody went on with for {@link #IDLE_NANOS} is given up; else
 * the new one is left out: of many who read in sequence some fill the cache, and not each takes the memory of the next one. For a while
 * then nothing begins in the middle of a piece, as its reader was left out, or reads at random.
 */
public final class CacheVolume implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheVolume.class);

    /** Memory for what is read. Any thread; never waits. */
    public interface Buffers {
        /** Of at least so many bytes, at most 1 MiB; null: there is none. */
        @Nullable
        ByteBuffer take(int bytes);

        /** With the limit that it had. */
        void give(ByteBuffer buffer);
    }

    /** Asks Alluxio who this volume is; null: it does not say which cluster it is. Waits. */
    public interface Identity {
        @Nullable
        Tenant find() throws StoreException;
    }

    /** The folder that volumes share. */
    interface Host extends AutoCloseable {
        NodeCache cache();

        /** Whether this process has the folder; where it may wait, one that it has not yet is tried. */
        boolean isReady(boolean mayWait);

        /** On the thread that writes; false: the folder was closed meanwhile. */
        boolean later(Runnable work);

        @Override
        void close();
    }

    /** So long a piece keeps its memory though nothing more of it is read. */
    static final long IDLE_NANOS = 5_000_000_000L;

    private final Host folder;
    private final Identity identity;
    private final Buffers buffers;
    private final Clock clock;
    private volatile @Nullable Tenant tenant;
    /** By themselves as pieces; the first one was not used for longest. Guarded by itself. */
    private final LinkedHashMap<Piece, Filling> fillings = new LinkedHashMap<>(16, 0.75f, true);

    /** When a piece was left out last. */
    private volatile @Nullable Long shortNanos;

    /** Files that are open: where the volume ends before its handles, they must not keep pieces of others' cache from eviction. */
    private final Set<AutoCloseable> open = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    private final LongAdder hits = new LongAdder();
    private final LongAdder hitBytes = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder skipped = new LongAdder();

    /** @param folder this volume's from here on, as one of those that share it */
    public CacheVolume(CacheFolders.Shared folder, Identity identity, Buffers buffers, Clock clock) {
        this((Host) folder, identity, buffers, clock);
    }

    CacheVolume(Host folder, Identity identity, Buffers buffers, Clock clock) {
        this.clock = clock;
        this.folder = folder;
        this.identity = identity;
        this.buffers = buffers;
    }

    NodeCache cache() {
        return folder.cache();
    }

    /**
     * A version of a file, as Alluxio says; null: the cache cannot be used for it now.
     *
     * @param mayWait false: null, too, where Alluxio or the disk would have to be asked first
     */
    public @Nullable CachedFile open(long fileId, long lengthBytes, long version, boolean mayWait) {
        CacheKey key = key(fileId, lengthBytes, version, mayWait);
        return key == null ? null : begun(new CachedFile(this, key));
    }

    /** Would {@link #openWhole} open one, as far as is known? Never waits. */
    public boolean hasWhole(long fileId, long lengthBytes, long version) {
        return wholeKey(fileId, lengthBytes, version) != null;
    }

    private @Nullable CacheKey wholeKey(long fileId, long lengthBytes, long version) {
        CacheKey key = key(fileId, lengthBytes, version, false);
        boolean has = key != null && key.pieces() == 1 && !cache().isSuspended() && cache().hasVerified(key, 0);
        return has ? key : null;
    }

    /**
     * Opens a version of a file that is one file of the cache; null: it is none, or it is not verified yet, or cannot be opened now. Waits
     * for the disk.
     */
    public @Nullable WholeFile openWhole(long fileId, long lengthBytes, long version) {
        CacheKey key = wholeKey(fileId, lengthBytes, version);
        Piece piece = key == null ? null : cache().pin(key, 0);
        if (piece == null) {
            return null;
        }
        FolderDisk.Opened file = cache().open(piece);
        if (file == null) {
            cache().unpin(piece);
            return null;
        }
        return begun(new WholeFile(this, piece, file));
    }

    private <T extends AutoCloseable> @Nullable T begun(T made) {
        open.add(made);
        if (!closed) {
            return made;
        }
        end(made);
        return null;
    }

    /** It is closed. */
    void ended(AutoCloseable file) {
        open.remove(file);
    }

    private static void end(AutoCloseable file) {
        try {
            file.close();
        } catch (Exception e) {
            throw new IllegalStateException("it throws none", e);
        }
    }

    /** Is all of this version of a file here? Never waits. */
    public boolean hasAll(long fileId, long lengthBytes, long version) {
        CacheKey key = key(fileId, lengthBytes, version, false);
        return key != null && IntStream.range(0, key.pieces()).allMatch(index -> cache().has(key, index));
    }

    /** To fill the cache with. */
    public CacheFill fill() {
        return new CacheFill(this);
    }

    boolean later(Runnable work) {
        return folder.later(work);
    }

    Clock clock() {
        return clock;
    }

    /** Is a piece here? Never waits. */
    public boolean has(CacheKey file, int index) {
        return cache().has(file, index);
    }

    /** As {@link #open}. */
    public @Nullable CacheKey key(long fileId, long lengthBytes, long version, boolean mayWait) {
        if (!folder.isReady(mayWait)) {
            return null;
        }
        Tenant known = tenant;
        if (known == null && mayWait) {
            known = ask();
        }
        CacheKey key = known == null ? null : new CacheKey(known, fileId, lengthBytes, version);
        return key != null && key.isCacheable() ? key : null;
    }

    private @Nullable Tenant ask() {
        try {
            Tenant found = identity.find();
            tenant = found;
            return found;
        } catch (StoreException e) {
            LOG.debug("Without a cluster id the data cache is not used: {}", e.getMessage());
            return null;
        }
    }

    /** Another Alluxio answers, or may: it is asked anew who this volume is. */
    public void forgetTenant() {
        tenant = null;
    }

    /** @param into where in the piece */
    void put(CacheKey file, int index, int into, ByteBuffer data) {
        if (cache().has(file, index) || !cache().mayKeep()) {
            return;
        }
        Piece name = new Piece(file, index, 0, false);
        Filling known = known(name);
        Filling filling = known == null ? begun(name, into == 0) : known;
        if (filling == null) {
            return;
        }
        boolean whole = filling.put(into, data, clock.nanos());
        if (whole && isTaken(name, filling) && !folder.later(() -> keep(filling))) {
            filling.end();
        }
    }

    private @Nullable Filling known(Piece name) {
        synchronized (fillings) {
            return fillings.get(name);
        }
    }

    /** Null: there is no memory. */
    private @Nullable Filling begun(Piece name, boolean atStart) {
        long now = clock.nanos();
        Long before = shortNanos;
        if (!atStart && before != null && now - before < IDLE_NANOS) {
            return null;
        }
        Filling made = new Filling(name.file, name.index, buffers, now);
        while (!made.hasMemory()) {
            if (!isIdleGivenUp(now)) {
                shortNanos = now;
                if (atStart) { // else it counts once for each read in it
                    skipped.increment();
                }
                return null;
            }
        }
        Filling other;
        synchronized (fillings) {
            other = fillings.putIfAbsent(name, made);
        }
        if (other != null) {
            made.end();
        }
        return other == null ? made : other;
    }

    /** From here on nobody else ends it; false: somebody did. */
    private boolean isTaken(Piece name, Filling filling) {
        synchronized (fillings) {
            return fillings.remove(name, filling);
        }
    }

    /** False: some of each was read not long ago. */
    private boolean isIdleGivenUp(long now) {
        Filling oldest;
        synchronized (fillings) {
            var each = fillings.values().iterator();
            oldest = each.hasNext() ? each.next() : null;
            if (oldest == null || !oldest.isIdleFor(IDLE_NANOS, now)) {
                return false;
            }
            each.remove();
        }
        oldest.end();
        skipped.increment();
        return true;
    }

    private void keep(Filling filling) {
        try {
            cache().keep(filling.file, filling.index, filling.content());
        } finally {
            filling.end();
        }
    }

    void hit(int bytes) {
        hits.increment();
        hitBytes.add(bytes);
    }

    void miss() {
        misses.increment();
    }

    /** What this volume found, and what became of the pieces of all volumes that share the folder. */
    public CacheFigures figures() {
        NodeCache cache = cache();
        return new CacheFigures(
                hits.sum(),
                misses.sum(),
                hitBytes.sum(),
                skipped.sum(),
                cache.bytes(),
                cache.limitBytes(),
                cache.size(),
                cache.pinned(),
                cache.evicted(),
                cache.dropped(),
                cache.scrubbed(),
                cache.faults(),
                cache.isSuspended());
    }

    @Override
    public void close() {
        closed = true;
        open.forEach(CacheVolume::end);
        synchronized (fillings) {
            fillings.values().forEach(Filling::end);
            fillings.clear();
        }
        folder.close();
    }
}

package io.posixgateway.alluxio.nodecache;

import io.posixgateway.alluxio.store.StoreException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
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
 * <p>What is read from Alluxio is gathered in memory, piece by piece; a piece of which all was read is written by the cache's thread. Where
 * there is no memory, what was not read for longest is given up, so that who reads in sequence fills the cache and who reads at random
 * does where it completes pieces.
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

    private final Host folder;
    private final Identity identity;
    private final Buffers buffers;
    private volatile @Nullable Tenant tenant;
    /** By themselves as pieces; the first one was not used for longest. Guarded by itself. */
    private final LinkedHashMap<Piece, Filling> fillings = new LinkedHashMap<>(16, 0.75f, true);

    /** Files that are open: where the volume ends before its handles, they must not keep pieces of others' cache from eviction. */
    private final Set<AutoCloseable> open = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    private final LongAdder hits = new LongAdder();
    private final LongAdder hitBytes = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /** @param folder this volume's from here on, as one of those that share it */
    public CacheVolume(CacheFolders.Shared folder, Identity identity, Buffers buffers) {
        this((Host) folder, identity, buffers);
    }

    CacheVolume(Host folder, Identity identity, Buffers buffers) {
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

    private @Nullable CacheKey key(long fileId, long lengthBytes, long version, boolean mayWait) {
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
        Filling filling = filling(name);
        Filling.Outcome outcome = filling.put(into, data);
        while (outcome == Filling.Outcome.NO_MEMORY && isOldestGivenUp(name)) {
            outcome = filling.put(into, data);
        }
        if (outcome == Filling.Outcome.WHOLE && isTaken(name, filling) && !folder.later(() -> keep(filling))) {
            filling.end();
        }
    }

    private Filling filling(Piece name) {
        synchronized (fillings) {
            return fillings.computeIfAbsent(name, made -> new Filling(name.file, name.index, buffers));
        }
    }

    /** From here on nobody else ends it; false: somebody did. */
    private boolean isTaken(Piece name, Filling filling) {
        synchronized (fillings) {
            return fillings.remove(name, filling);
        }
    }

    /** False: it was the piece itself. */
    private boolean isOldestGivenUp(Piece wanted) {
        Map.Entry<Piece, Filling> oldest;
        synchronized (fillings) {
            var each = fillings.entrySet().iterator();
            if (!each.hasNext()) {
                return false;
            }
            oldest = each.next();
            each.remove();
        }
        oldest.getValue().end();
        return !oldest.getKey().equals(wanted);
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
                cache.bytes(),
                cache.limitBytes(),
                cache.size(),
                cache.pinned(),
                cache.evicted(),
                cache.dropped(),
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

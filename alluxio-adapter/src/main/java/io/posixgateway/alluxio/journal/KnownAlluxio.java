package io.posixgateway.alluxio.journal;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;

/**
 * Is the Alluxio that answers the one that a volume's records are of? Asked once, by whoever is first. Any thread; waits, under no
 * lock: {@link #changed} is called while other calls to Alluxio wait for it.
 */
public final class KnownAlluxio {
    private final Store store;
    private final @Nullable VolumeStateDir folder;
    private final String root;
    // Guarded by this.
    private @Nullable VolumeIdentity now;
    private @Nullable VolumeIdentity recorded;
    private int changes;

    /** @param folder of the volume; null: it has none */
    public KnownAlluxio(Store store, @Nullable VolumeStateDir folder, String root) {
        this.store = store;
        this.folder = folder;
        this.root = root;
    }

    /**
     * Null: it is, as far as can be told; else why not, in half a sentence that follows "because".
     *
     * @throws StoreException Alluxio does not answer
     */
    public @Nullable String difference() throws StoreException {
        VolumeIdentity there = identity();
        VolumeIdentity before = before();
        return before == null ? null : before.difference(there);
    }

    private synchronized @Nullable VolumeIdentity before() {
        return recorded;
    }

    private VolumeIdentity identity() throws StoreException {
        VolumeIdentity known = null;
        while (known == null) {
            int asked = changesSoFar();
            known = knownSince(asked, null);
            if (known == null) {
                known = knownSince(asked, new VolumeIdentity(clusterId(), store.cluster(), root));
            }
        }
        return known;
    }

    private synchronized int changesSoFar() {
        return changes;
    }

    /**
     * What is known; null: nothing, or another Alluxio answers since then.
     *
     * @param answer what is known from now on, unless that happened; null: nothing was asked yet
     */
    private synchronized @Nullable VolumeIdentity knownSince(int asked, @Nullable VolumeIdentity answer) {
        if (now == null && answer != null && changes == asked) {
            recorded = folder == null || recorded != null ? recorded : folder.identity();
            now = answer;
        }
        return now;
    }

    /** Another Alluxio answers since it was asked. */
    public synchronized void changed() {
        VolumeIdentity before = now;
        if (recorded == null) {
            recorded = before;
        }
        now = null;
        changes++;
    }

    /** The client that is asked. */
    public Store store() {
        return store;
    }

    private String clusterId() throws StoreException {
        try {
            return store.clusterId();
        } catch (StoreException e) {
            if (e.isOutcomeUnknown()) {
                throw e;
            }
            return e.errno() == Errno.ESTALE
                    ? store.clusterId()
                    : ""; // another one than before; or it may not be asked
        }
    }

    /**
     * What is recorded from now on is of the Alluxio that answers.
     *
     * @param anew even where something else was recorded, of which nothing is left
     */
    public void record(boolean anew) throws StoreException {
        record(identity(), anew);
    }

    private synchronized void record(VolumeIdentity there, boolean anew) {
        if (!there.equals(now) || there.equals(recorded) || (recorded != null && !anew)) {
            return;
        }
        if (folder != null) {
            folder.identityIs(there);
        }
        recorded = there;
    }
}

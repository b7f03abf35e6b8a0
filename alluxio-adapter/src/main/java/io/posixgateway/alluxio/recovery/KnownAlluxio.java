package io.posixgateway.alluxio.recovery;

import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import org.jspecify.annotations.Nullable;

/** Is the Alluxio that answers the one that a volume's records are of? Asked once, by whoever is first. Any thread; waits. */
public final class KnownAlluxio {
    private final Store store;
    private final @Nullable VolumeFolder folder;
    private final String root;
    private @Nullable VolumeIdentity now;
    private @Nullable VolumeIdentity recorded;

    /** @param folder of the volume; null: it has none */
    public KnownAlluxio(Store store, @Nullable VolumeFolder folder, String root) {
        this.store = store;
        this.folder = folder;
        this.root = root;
    }

    /**
     * Null: it is, as far as can be told; else why not, in half a sentence that follows "as".
     *
     * @throws StoreException Alluxio does not answer
     */
    public synchronized @Nullable String difference() throws StoreException {
        VolumeIdentity there = identity();
        VolumeIdentity before = recorded;
        return before == null ? null : before.difference(there);
    }

    private VolumeIdentity identity() throws StoreException {
        VolumeIdentity known = now;
        if (known == null) {
            known = new VolumeIdentity(clusterId(), store.cluster(), root);
            recorded = folder == null || recorded != null ? recorded : folder.identity();
            now = known;
        }
        return known;
    }

    /** Another Alluxio answers since it was asked. */
    public synchronized void changed() {
        VolumeIdentity before = now;
        if (recorded == null) {
            recorded = before;
        }
        now = null;
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
    public synchronized void record(boolean anew) throws StoreException {
        VolumeIdentity there = identity();
        if (folder != null && (recorded == null || anew) && !there.equals(recorded)) {
            folder.identityIs(there);
        }
    }
}

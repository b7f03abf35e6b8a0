package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.KnownAlluxio;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Name;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of a mount whose Alluxio is formatted, or replaced by another one, while it is mounted. File ids begin anew, so each
 * node that the kernel knows but the root is foreign from then on: it answers ESTALE until it is forgotten, and names are looked up
 * anew. Changed content that was not uploaded is set aside, because the file that it belongs to is no more.
 *
 * <pre>
 *   a call notifications ─► nodes foreign, caches dropped (at once, before the call fails) ─► content set aside (later)
 * </pre>
 *
 * <p>On a kept volume the next process hears of it from the volume's folder. Any thread.
 */
final class ClusterChange {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterChange.class);
    /** In the place of a cluster id: the next process takes whichever answers for another one. */
    private static final String UNKNOWN = "unknown";

    private static final String WHY = "it belongs to another Alluxio cluster, or to this one before it was formatted";

    private final VolumeContext volume;
    private final KnownAlluxio alluxio;
    private final @Nullable VolumeStateDir kept;
    /** What the next process is to hear, and has not been written; null: nothing. Guarded by this. */
    private VolumeStateDir.@Nullable Nodes unwritten;

    /** @param kept null: the volume ends with its process */
    ClusterChange(VolumeContext volume, KnownAlluxio alluxio, @Nullable VolumeStateDir kept) {
        this.volume = volume;
        this.alluxio = alluxio;
        this.kept = kept;
        volume.store.watchCluster("", this::happened);
        volume.metadata.restored().whenNoticed(this::restored);
    }

    /**
     * Before the first call to Alluxio for a volume that an earlier process served.
     *
     * @param goesOn the kernel knows the nodes of that process
     */
    void inherit(VolumeStateDir folder, boolean goesOn) {
        VolumeStateDir.Nodes nodes = goesOn ? folder.foreignNodes() : null;
        volume.table.ids().startAt(folder.passthrough().generation(), nodes == null ? -1 : nodes.began());
        if (goesOn) {
            volume.store.watchCluster(nodes == null ? folder.clusterId() : nodes.clusterId(), this::happened);
        }
    }

    private void restored() {
        LOG.error("Alluxio was restored from a backup: files open on this mount fail with ESTALE; new opens by name"
                + " work");
        String clusterId = kept == null ? "" : kept.clusterId();
        happened(clusterId.isEmpty() ? UNKNOWN : clusterId);
    }

    /** On the thread of the call that noticed. */
    private void happened(String clusterId) {
        List<Name> names = volume.table.restart();
        volume.dirtyFiles.nameReservations().forget();
        volume.readers.forgetAll();
        note(new VolumeStateDir.Nodes(clusterId, volume.table.ids().began()));
        alluxio.changed();
        volume.invalidator.moved(volume.table.root(), names);
        volume.table.forEachKnown(inode -> volume.invalidator.changed(inode.node()));
        volume.later(this::setAside);
    }

    private synchronized void note(VolumeStateDir.Nodes nodes) {
        unwritten = kept == null || kept.foreignNodesAre(nodes) ? null : nodes;
    }

    /** False: to the next process the nodes of before would be those of the Alluxio that answers, were it recorded as the known one. */
    private synchronized boolean isNoted() {
        VolumeStateDir.Nodes again = unwritten;
        if (again != null) {
            note(again);
        }
        return unwritten == null;
    }

    private void setAside() {
        if (kept != null) {
            volume.replacer.inherit(); // what earlier processes left, too
            volume.hidden.inherit();
            volume.creations.inherit();
        }
        volume.replacer.leaveForeign(WHY);
        volume.sillyRenameCleanup.leaveForeign(WHY);
        volume.dirtyFiles.setForeignAside(volume.table.ids(), WHY);
        try {
            if (volume.dirtyFiles.withheld().isEmpty() && !volume.recovers() && isNoted()) {
                alluxio.record(true);
            }
        } catch (StoreException e) {
            LOG.warn("The next process will set aside the changes of this one: {}", e.getMessage());
        }
    }

    /** @throws StoreException ESTALE: the node is of a file of another Alluxio */
    void check(long node) throws StoreException {
        if (volume.table.ids().isForeign(node)) {
            throw new StoreException(
                    Errno.ESTALE,
                    "Node " + node + " belongs to another Alluxio cluster, or to this one before it was formatted",
                    null);
        }
    }
}

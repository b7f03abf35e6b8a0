package io.posixgateway.alluxio;

import io.posixgateway.alluxio.data.Passthrough;
import io.posixgateway.alluxio.inode.NodeIdListener;
import io.posixgateway.alluxio.recovery.NodeLog;
import io.posixgateway.alluxio.recovery.PassthroughLog;
import io.posixgateway.alluxio.recovery.VolumeFolder;
import org.jspecify.annotations.Nullable;

/** What a volume whose mount outlives its process stores for the next one as it happens. Any thread. */
final class StoredNotes {
    private StoredNotes() {}

    /** Stored nowhere where the mount ends with its process. */
    static Passthrough.Notes holdings(@Nullable VolumeFolder kept) {
        return kept == null ? Passthrough.Notes.NONE : new Holdings(kept.passthrough());
    }

    /** Files that the kernel reads by itself. */
    private record Holdings(PassthroughLog log) implements Passthrough.Notes {
        @Override
        public boolean add(long held) {
            return log.add(held);
        }

        @Override
        public void remove(long held) {
            log.remove(held);
        }
    }

    /** Nodes whose files have other ids than they began with. */
    record Numbering(NodeLog log) implements NodeIdListener {
        @Override
        public void moved(long node, long fileId) {
            log.noticed(node, fileId);
        }

        @Override
        public void gone(long node) {
            log.noticed(node, NodeLog.NOBODY);
        }
    }
}

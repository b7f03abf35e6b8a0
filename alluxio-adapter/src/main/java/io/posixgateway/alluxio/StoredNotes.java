package io.posixgateway.alluxio;

import io.posixgateway.alluxio.data.Passthrough;
import io.posixgateway.alluxio.inode.Inode;
import io.posixgateway.alluxio.inode.NodeIdListener;
import io.posixgateway.alluxio.recovery.NodeIdRemapLog;
import io.posixgateway.alluxio.recovery.VolumeStateDir;

/**
 * What the parts of a volume note in its folder for the process that serves it next. Any thread.
 *
 * @param folder of the volume
 */
record StoredNotes(VolumeStateDir folder) implements Passthrough.Notes, NodeIdListener {
    @Override
    public boolean add(long held) {
        return folder.passthrough().add(held);
    }

    @Override
    public void remove(long held) {
        folder.passthrough().remove(held);
    }

    @Override
    public void moved(Inode inode, long fileId) {
        if (inode.isDirectory()) {
            folder.nodes().directoryMoved(inode.node(), fileId);
        } else {
            folder.nodes().noticed(inode.node(), fileId);
        }
    }

    @Override
    public void gone(long node) {
        folder.nodes().noticed(node, NodeIdRemapLog.NOBODY);
    }
}

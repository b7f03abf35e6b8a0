package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.journal.VolumeStateDir;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.NodeIdListener;
import io.posixgateway.alluxio.read.Passthrough;

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

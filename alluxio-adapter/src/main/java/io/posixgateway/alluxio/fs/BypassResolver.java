package io.posixgateway.alluxio.fs;

import io.posixgateway.alluxio.bypass.BlockSet;
import io.posixgateway.alluxio.bypass.BypassResult;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.read.BlockFolder;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Request;
import java.util.List;

/** Finds the block files of files that may be read without us. Any thread; never waits. */
final class BypassResolver {
    private final VolumeContext volume;

    BypassResolver(VolumeContext volume) {
        this.volume = volume;
    }

    /**
     * Of the file that shows this inode number. By what the file's open has just seen, as for passthrough: a complete regular file
     * that nobody changes here.
     */
    BlockSet of(long number) {
        if (!volume.unchanging()) {
            return BlockSet.refused(BypassResult.WRITABLE);
        }
        Inode inode = volume.table.ofNumber(number);
        Attr attr = inode == null ? null : inode.attr();
        if (inode == null || attr == null || !isReadOnly(inode, attr)) {
            return BlockSet.refused(BypassResult.NOT_COMPLETE);
        }
        long lengthBytes = attr.lengthBytes();
        if (lengthBytes < Math.max(1, volume.options.bypassBytes())) {
            return BlockSet.refused(BypassResult.SMALL);
        }
        List<BlockFolder> folders = volume.readers.blocks().folders();
        if (folders.isEmpty() || !volume.store.mayReadBlocks()) {
            return BlockSet.refused(BypassResult.NOT_LOCAL);
        }
        long blockBytes = Math.max(1, attr.blockBytes());
        long blocks = (lengthBytes + blockBytes - 1) / blockBytes;
        return new BlockSet(
                BypassResult.GIVEN,
                attr.fileId(),
                lengthBytes,
                blockBytes,
                (int) Math.min(Integer.MAX_VALUE, blocks),
                FileOperations.extent(attr).firstBlock(),
                folders);
    }

    /**
     * Before an open is answered, after which the file's blocks may be asked for: block files are found by their numbers alone, which another
     * Alluxio gives to others. Waits for a moment, if it may, until it is known which one answers; else the blocks are refused later.
     *
     * @return false: it is not known, and this request may not wait
     */
    boolean isPrepared(Request request) throws StoreException {
        boolean prepared = volume.options.bypassBytes() <= 0 || !volume.unchanging() || volume.store.mayReadBlocks();
        if (!prepared && request.mayWait()) {
            volume.store.awaitMayReadBlocks();
        }
        return prepared || request.mayWait();
    }

    private boolean isReadOnly(Inode inode, Attr attr) {
        return attr.fileId() == inode.fileId()
                && attr.complete()
                && inode.isRegular()
                && inode.writers() == 0
                && !volume.dirtyFiles.has(inode)
                && !volume.recovers(inode);
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.meta.DirectoryTimes;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.LostAttributes;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import org.jspecify.annotations.Nullable;

/**
 * Writes the content of a changed file over its object, where that is: one upload, and no moment without the name. Called under the dirty
 * file's lock; waits.
 *
 * <pre>
 *   recorded ─► uploaded ─► compared by Alluxio: another file, without attributes ─► attributes given back ─► committed
 *      └────────────┴────────────────────────────┴───any failure───────────────────────────┴─► recorded: all of it again
 * </pre>
 *
 * <p>From the record on the old content may be lost: a worker whose stream breaks deletes the object. So the content and its record are on
 * the disk of this node before that, and stay until all is done, whatever a program was answered: this process tries again, and after its
 * end the next one on this node. Only what is recorded for that is written over.
 */
public final class Overwriter {
    private final Store store;
    private final Metadata metadata;
    private final InodeTable table;
    private final @Nullable NodeIdRemapLog nodes;

    public Overwriter(Store store, Metadata metadata, InodeTable table, @Nullable NodeIdRemapLog nodes) {
        this.store = store;
        this.metadata = metadata;
        this.table = table;
        this.nodes = nodes;
    }

    /** What takes the content, once the disk has that and the record; null: it is not to be done this way, and nothing is changed. */
    @Nullable
    StoreWriter begin(DirtyFile dirtyFile, String path) throws StoreException {
        StoreWriter writer = dirtyFile.record.isStored() ? store.overwrite(path, dirtyFile.inode.fileId()) : null;
        if (writer != null) {
            dirtyFile.spool.force();
            dirtyFile.record.overwriting(dirtyFile.inode.fileId(), path);
            dirtyFile.base = null; // from now on Alluxio may have lost the attributes
        }
        return writer;
    }

    /** @return the file as Alluxio has it then, which has no attributes before it gets these */
    FileStatus overwrite(DirtyFile dirtyFile, StoreWriter writer, String path, FileStatus raw, Waiter waiter)
            throws StoreException {
        Inode inode = dirtyFile.inode;
        table.expect(inode, inode.fileId());
        DirectoryTimes.Replacement unseen = metadata.times().replacing(table.parent(inode));
        LostAttributes.Overwriting overwriting = metadata.overwriting(inode);
        try {
            dirtyFile.spool.copyTo(writer, true, waiter);
            writer.complete();
            FileStatus there = store.compared(path);
            checkIsOurs(dirtyFile, there, path);
            isNow(inode, there.id());
            store.change(path, new Store.Change(raw.mode(), raw.owner(), raw.group(), raw.xattrs()));
            return there;
        } finally {
            overwriting.close();
            unseen.close();
            table.expectNoMore(inode, inode.fileId(), metadata.nowNanos());
        }
    }

    /**
     * Another writer may have been there just after: what was loaded from an object has no attributes. The last one wins: that is this one,
     * when it is done again.
     */
    private static void checkIsOurs(DirtyFile dirtyFile, FileStatus there, String path) throws StoreException {
        boolean isLoaded =
                there.id() == dirtyFile.inode.fileId() || there.xattrs().isEmpty();
        boolean isWhole = there.complete() && there.lengthBytes() == dirtyFile.spool.lengthBytes();
        if (there.directory() || !isLoaded || !isWhole) {
            String text = path + " has other content than was just uploaded: another client wrote it at the same time";
            throw StoreException.unanswered(text, new IllegalStateException(text));
        }
    }

    /** As this process, the next one is to know that it is the same node. */
    private void isNow(Inode inode, long fileId) throws StoreException {
        if (fileId == inode.fileId()) {
            return; // the same content
        }
        table.expect(inode, fileId);
        if (nodes != null) {
            nodes.moved(inode.node(), fileId);
        }
        table.replaced(inode, fileId, metadata.nowNanos());
    }
}

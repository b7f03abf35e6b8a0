package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.AttributeEdit;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.DirtyFile.Unsent;
import java.time.Instant;

/** Brings attributes of a dirty file into Alluxio. Under its lock; waits. */
final class AttributeCommits {
    private final Store store;
    private final Metadata metadata;
    private final InodeTable table;
    private final AttrDecoder reader;

    AttributeCommits(Store store, Metadata metadata, InodeTable table, AttrDecoder reader) {
        this.store = store;
        this.metadata = metadata;
        this.table = table;
        this.reader = reader;
    }

    /**
     * The time that is shown of the last write is what everyone is to see from now on. Alluxio's own is that of the completion, and
     * nobody can set it.
     */
    void settleTime(DirtyFile dirtyFile) {
        Instant written = dirtyFile.writtenAt();
        FileStatus before = dirtyFile.attr.raw();
        FileStatus after = written == null ? before : AttributeEdit.written(before, written);
        if (!after.equals(before)) {
            dirtyFile.attr = reader.read(after, dirtyFile.attr.fetchedNanos());
            dirtyFile.unsent = dirtyFile.unsent == Unsent.ALL ? Unsent.ALL : Unsent.TIME;
        }
    }

    /**
     * What others changed since the attributes were read or sent stays, as far as the same was not changed here: what is sent takes the
     * place of all that Alluxio has.
     *
     * @param there what Alluxio has at the file's path
     */
    void merge(DirtyFile dirtyFile, FileStatus there) {
        FileStatus base = dirtyFile.base;
        FileStatus ours = dirtyFile.attr.raw();
        if (base == null || there.id() != ours.id() || AttributeEdit.hasSame(base, there)) {
            return;
        }
        FileStatus merged = AttributeEdit.merged(base, ours, there).withContent(ours.id(), ours.lengthBytes());
        Attr before = dirtyFile.attr;
        dirtyFile.attr = reader.read(merged, before.fetchedNanos());
        dirtyFile.base = there;
        boolean isWritten = dirtyFile.is(Phase.COMMITTED) || dirtyFile.is(Phase.UNSTABLE);
        if (isWritten && !dirtyFile.attr.sameModified(before)) {
            dirtyFile.showGivenTime(); // which they gave after our last write, whose time Alluxio has had
        }
    }

    /**
     * A new file was made before it was written: it gets the time of its last write just before it is completed, so that nobody
     * finds it with another one. Where its mode is to be changed, too, an object store gets both at once, since its objects have no mode;
     * elsewhere both are sent afterwards, as the under file system gets the mode then.
     */
    void sendBefore(DirtyFile dirtyFile, String path) throws StoreException {
        settleTime(dirtyFile);
        boolean all = dirtyFile.unsent == Unsent.ALL && store.copiesOnRename(path);
        if (all || dirtyFile.unsent == Unsent.TIME) {
            FileStatus raw = dirtyFile.attr.raw();
            store.change(path, new Store.Change(all ? raw.mode() : null, null, null, raw.xattrs()));
            dirtyFile.sent();
        }
    }

    /** The content is there already. */
    void send(DirtyFile dirtyFile) throws StoreException {
        settleTime(dirtyFile);
        if (dirtyFile.unsent != Unsent.NOTHING) {
            FileStatus raw = dirtyFile.attr.raw();
            try {
                store.change(metadata.pathOf(dirtyFile.inode), new Store.Change(raw.mode(), null, null, raw.xattrs()));
            } finally {
                dirtyFile.inode.invalidateAttr(table.generation().changed()); // with an unknown outcome, too
            }
            dirtyFile.sent();
        }
    }
}

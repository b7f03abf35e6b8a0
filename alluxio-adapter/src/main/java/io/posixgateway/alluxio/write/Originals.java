package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.Inode;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import io.posixgateway.fuse.spi.Errno;

/** What existing files hold when a change of them begins, which goes into the spool first. Any thread. */
public final class Originals {
    private final Metadata metadata;
    private final SpoolFolder folder;
    private volatile Source source;

    /** Where the content of a file is. */
    @FunctionalInterface
    public interface Source {
        /**
         * Opens it for one thread, which closes it.
         *
         * @param fileId which version of it, unless it has no name any more; ESTALE where others replaced that, now or when it is read
         */
        StoreReader open(Inode inode, long fileId) throws StoreException;
    }

    Originals(Metadata metadata, SpoolFolder folder, Source source) {
        this.metadata = metadata;
        this.folder = folder;
        this.source = source;
    }

    void readFrom(Source other) {
        source = other;
    }

    /**
     * A dirty file without content, whose record does not count yet.
     *
     * @param copied will content be copied? EBUSY if it is not complete
     */
    DirtyFile dirtyFile(Inode inode, Attr attr, boolean copied) throws StoreException {
        if (copied && !attr.raw().complete()) {
            throw new StoreException(Errno.EBUSY, "Another client writes " + metadata.pathOf(inode), null);
        }
        Spool spool = folder.make();
        try {
            DirtyFileRecord.Content content =
                    new DirtyFileRecord.Content(inode.node(), inode.fileId(), metadata.pathOf(inode), attr.raw());
            DirtyFileRecord record = folder.record(spool, content);
            record.began(of(inode, content.path(), attr.raw()));
            return new DirtyFile(inode, spool, record, attr, metadata.clock(), DirtyState.Plain.COMMITTED);
        } catch (StoreException e) {
            spool.close(false);
            throw e;
        }
    }

    /** What the inode is by now, which others may have learned while it was copied, is what is changed. */
    private void checkVersion(DirtyFile dirtyFile) throws StoreException {
        Inode inode = dirtyFile.inode;
        if (!inode.unlinked() && inode.fileId() != dirtyFile.attr.fileId()) {
            throw new StoreException(
                    Errno.ESTALE, metadata.pathOf(inode) + " was replaced by another client while it was copied", null);
        }
    }

    private static Origin of(Inode inode, String path, FileStatus file) {
        return new Origin(
                inode.node(), file.id(), path, file.lengthBytes(), file.modifiedMillis(), file.createdSeconds());
    }

    /** Takes over so many bytes; from then on the record counts. ESTALE: they are of another version than the attributes. */
    void copy(DirtyFile dirtyFile, long bytes) throws StoreException {
        if (bytes > 0) {
            try (StoreReader from = source.open(dirtyFile.inode, dirtyFile.attr.fileId())) {
                dirtyFile.spool.copyFrom(from, bytes);
            }
        }
        checkVersion(dirtyFile);
        if (dirtyFile.inode.unlinked()) {
            dirtyFile.record.mark(Phase.UNLINKED);
            dirtyFile.become(DirtyState.Plain.UNLINKED);
        } else {
            dirtyFile.record.mark(Phase.COMMITTED);
        }
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Metadata;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Large new files that are written in sequence go straight to Alluxio, without a spool. Called under the dirty file's lock.
 *
 * <p>A file begins in the spool. The write at its end that makes it as long as {@code fromBytes} moves what is there into
 * Alluxio's stream, where the rest follows. Whatever a stream cannot do (a write elsewhere, a read, a truncation, the loss of its
 * name) first completes the file in Alluxio, where it is one as any other: what changes it then copies it into the spool. So does
 * a rename of a directory above it, since the under file system would have it at the old place. A write that the stream refuses
 * loses the file, as its beginning is nowhere else: from then on all of it is answered with that failure, until it is closed.
 */
final class StreamingUploads {
    private static final Logger LOG = LoggerFactory.getLogger(StreamingUploads.class);

    private final Metadata metadata;
    private final StaleWorkerWrites late;
    private final FileReplacer replacer;
    private final AbandonedCreates incomplete;
    private final long fromBytes;

    /** @param fromBytes {@link Long#MAX_VALUE}: never */
    StreamingUploads(Store store, Metadata metadata, StaleWorkerWrites late, FileReplacer replacer, long fromBytes) {
        this.metadata = metadata;
        this.late = late;
        this.replacer = replacer;
        this.incomplete = new AbandonedCreates(store, metadata.clock());
        this.fromBytes = store.persists() ? fromBytes : Long.MAX_VALUE;
    }

    /** Does this write go into the stream, which may begin with it? Then it waits. */
    boolean takes(DirtyFile dirtyFile, long offset, int count) {
        if (dirtyFile.state() instanceof StreamingUpload upload) {
            return offset == upload.lengthBytes();
        }
        return offset + count >= fromBytes
                && offset == dirtyFile.spool.lengthBytes()
                && !dirtyFile.spool.hasHoles()
                && dirtyFile.state() instanceof DirtyState.Created
                && !dirtyFile.inode.unlinked();
    }

    /** Appends; the bytes written, or 0 when there is no stream after all: the dirty file is as it was. */
    int append(DirtyFile dirtyFile, ByteBuffer data) throws StoreException {
        if (dirtyFile.state() instanceof DirtyState.Created created) {
            metadata.pathLocks().tryShared(dirtyFile.inode, () -> begin(dirtyFile, created.sink()));
        }
        if (!(dirtyFile.state() instanceof StreamingUpload upload)) {
            return 0;
        }
        try {
            dirtyFile.touch();
            return upload.append(data);
        } catch (StoreException e) {
            lose(dirtyFile, upload, e);
            throw e;
        } catch (RuntimeException | Error e) {
            // What the stream has of this piece would come before it once more.
            lose(dirtyFile, upload, unexpected("a write into its upload", e));
            throw e;
        }
    }

    private static StoreException unexpected(String what, Throwable cause) {
        return new StoreException(Errno.EIO, what + " failed unexpectedly: " + cause, cause);
    }

    /** Moves what is in the spool into the stream; where Alluxio does not take it now, it stays in the spool. */
    private DirtyFile begin(DirtyFile dirtyFile, StoreWriter sink) throws StoreException {
        if (!isWhereItWasMade(dirtyFile, sink)) {
            return dirtyFile;
        }
        dirtyFile.record.mark(Phase.STREAMING);
        dirtyFile.become(DirtyState.Spooled.INCOMPLETE); // whatever happens, nothing else goes into this sink
        try {
            dirtyFile.spool.copyTo(sink, false, Waiter.PATIENT);
        } catch (StoreException e) {
            LOG.info("A large file stays in the spool: {}", e.getMessage());
            sink.cancel();
            late.note(dirtyFile, dirtyFile.record.content().path(), sink);
            dirtyFile.record.unmark(Phase.STREAMING);
            return dirtyFile;
        }
        dirtyFile.become(new StreamingUpload(sink, dirtyFile.spool.lengthBytes()));
        dirtyFile.spool.truncate(0);
        return dirtyFile;
    }

    /** False where Alluxio does not say, too. */
    private boolean isWhereItWasMade(DirtyFile dirtyFile, StoreWriter sink) throws StoreException {
        String path = metadata.pathOf(dirtyFile.inode);
        try {
            return sink.isAt(path) && incomplete.isAt(path, sink.fileId());
        } catch (StoreException e) {
            LOG.info("A large file stays in the spool: {}", e.getMessage());
            return false;
        }
    }

    private void lose(DirtyFile dirtyFile, StreamingUpload upload, StoreException failure) {
        LOG.error("{} was lost while it was being written: {}", dirtyFile.path(), failure.getMessage());
        try {
            cancel(dirtyFile, upload);
        } finally {
            dirtyFile.become(new DirtyState.Lost(failure));
        }
    }

    private void cancel(DirtyFile dirtyFile, StreamingUpload upload) {
        incomplete.beside(dirtyFile.path(), upload.sink.fileId(), replacer, upload.sink::cancel);
        late.note(dirtyFile, dirtyFile.path(), upload.sink);
    }

    /** Nobody misses the content any more, lost or not: from here on the dirty file is in the spool as any other, and empty. */
    void discardLost(DirtyFile dirtyFile) throws StoreException {
        if (dirtyFile.state() instanceof StreamingUpload upload) {
            cancel(dirtyFile, upload);
        }
        dirtyFile.become(dirtyFile.inode.unlinked() ? DirtyState.Plain.UNLINKED : DirtyState.Spooled.INCOMPLETE);
        dirtyFile.touch();
        dirtyFile.record.unmark(Phase.STREAMING);
    }

    /** What is done at the path of a file, which is there, before it is completed. */
    interface Last {
        void at(String path, FileStatus there) throws StoreException;
    }

    /**
     * Everyone finds the file, which the caller closes. Where Alluxio does not say whether it is still there, it remains a stream, which
     * can be completed later.
     */
    void complete(DirtyFile dirtyFile, StreamingUpload upload, Last last) throws StoreException {
        try {
            String path = metadata.pathOf(dirtyFile.inode);
            FileStatus there = upload.sink.isAt(path) ? incomplete.find(path, upload.sink.fileId()) : null;
            if (there != null) {
                last.at(path, there);
            }
            dirtyFile.become(new DirtyState.Committing(upload));
            complete(path, upload, there != null);
        } catch (StoreException e) {
            if (dirtyFile.state() != upload) {
                lose(dirtyFile, upload, e);
            }
            throw e;
        } catch (RuntimeException | Error e) {
            // Another attempt would find the stream closed, and take that for success.
            lose(dirtyFile, upload, unexpected("its upload", e));
            throw e;
        }
    }

    private static void complete(String path, StreamingUpload upload, boolean there) throws StoreException {
        if (!there) {
            String how = upload.sink.isAt(path)
                    ? "Another client replaced or removed it in the meantime"
                    : "It was moved to " + path + " while it was being streamed";
            throw new StoreException(Errno.EIO, how, null);
        }
        upload.sink.complete();
    }

    /** Nobody is left who would complete it. */
    void loseUnfinished(DirtyFile dirtyFile, StoreException failure) {
        if (dirtyFile.state() instanceof StreamingUpload upload) {
            lose(dirtyFile, upload, failure);
        }
    }

    /** The failure of a file that an earlier process was streaming. */
    static StoreException left(String path) {
        return new StoreException(
                Errno.EIO, path + " was being streamed by a gateway that has ended; write it again", null);
    }
}

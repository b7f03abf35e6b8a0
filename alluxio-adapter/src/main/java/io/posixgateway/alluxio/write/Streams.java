package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.cache.Metadata;
import io.posixgateway.alluxio.client.FileSink;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.recovery.DraftRecord;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Large new files that are written in sequence go straight to Alluxio, without a spool. Called under the draft's lock.
 *
 * <p>A file begins in the spool. The write at its end that makes it as long as {@code fromBytes} moves what is there into
 * Alluxio's stream, where the rest follows. Whatever a stream cannot do (a write elsewhere, a read, a truncation, the loss of its
 * name) first completes the file in Alluxio, where it is one as any other: what changes it then copies it into the spool. So does
 * a rename of a directory above it, since the under file system would have it at the old place. A write that the stream refuses
 * loses the file, as its beginning is nowhere else: from then on all of it is answered with that failure, until it is closed.
 */
final class Streams {
    private static final Logger LOG = LoggerFactory.getLogger(Streams.class);

    private final Metadata metadata;
    private final LateWrites late;
    private final FileReplacer replacer;
    private final IncompleteFiles incomplete;
    private final long fromBytes;

    /** @param fromBytes {@link Long#MAX_VALUE}: never */
    Streams(Store store, Metadata metadata, LateWrites late, FileReplacer replacer, long fromBytes) {
        this.metadata = metadata;
        this.late = late;
        this.replacer = replacer;
        this.incomplete = new IncompleteFiles(store, metadata.clock());
        this.fromBytes = store.persists() ? fromBytes : Long.MAX_VALUE;
    }

    /** Does this write go into the stream, which may begin with it? Then it waits. */
    boolean takes(Draft draft, long offset, int count) {
        Streamed streamed = draft.streamed;
        if (streamed != null) {
            return offset == streamed.lengthBytes();
        }
        return offset + count >= fromBytes
                && offset == draft.spool.lengthBytes()
                && !draft.spool.hasHoles()
                && draft.reserved != null
                && !draft.inode.unlinked();
    }

    /** Appends; the bytes written, or 0 when there is no stream after all: the draft is as it was. */
    int append(Draft draft, ByteBuffer data) throws StoreException {
        Streamed streamed = draft.streamed;
        if (streamed == null) {
            metadata.moves().tryStay(draft.inode, () -> begin(draft));
            streamed = draft.streamed;
            if (streamed == null) {
                return 0;
            }
        }
        try {
            draft.touch();
            return streamed.append(data);
        } catch (StoreException e) {
            lose(draft, e);
            throw e;
        }
    }

    /** Moves what is in the spool into the stream; where Alluxio does not take it now, it stays in the spool. */
    private Draft begin(Draft draft) throws StoreException {
        FileSink sink = draft.reserved;
        if (sink == null || !isWhereItWasMade(draft, sink)) {
            return draft;
        }
        draft.record.put(DraftRecord.STREAMED, 0);
        draft.reserved = null;
        try {
            draft.spool.copyTo(sink, false, draft.waiter);
        } catch (StoreException e) {
            LOG.info("A large file stays in the spool: {}", e.getMessage());
            sink.cancel();
            late.note(draft, draft.record.content().path(), sink);
            draft.record.put(0, DraftRecord.STREAMED);
            return draft;
        }
        draft.streamed = new Streamed(sink, draft.spool.lengthBytes());
        draft.spool.truncate(0);
        return draft;
    }

    /** False where Alluxio does not say, too. */
    private boolean isWhereItWasMade(Draft draft, FileSink sink) throws StoreException {
        String path = metadata.pathOf(draft.inode);
        try {
            return sink.isAt(path) && incomplete.isAt(path, sink.fileId());
        } catch (StoreException e) {
            LOG.info("A large file stays in the spool: {}", e.getMessage());
            return false;
        }
    }

    private void lose(Draft draft, StoreException failure) {
        LOG.error(
                "{} was lost while it was being written: {}",
                draft.record.content().path(),
                failure.getMessage());
        cancel(draft);
        draft.lost = failure;
    }

    private void cancel(Draft draft) {
        Streamed streamed = draft.streamed;
        if (streamed != null) {
            String path = draft.record.content().path();
            incomplete.beside(path, streamed.sink.fileId(), replacer, streamed.sink::cancel);
            late.note(draft, path, streamed.sink);
            draft.streamed = null;
        }
    }

    /** Nobody wants the content any more: from here on the draft is in the spool as any other, and empty. */
    void drop(Draft draft) throws StoreException {
        if (draft.streamed != null) {
            cancel(draft);
            draft.touch();
            draft.record.put(0, DraftRecord.STREAMED);
        }
    }

    /** What is done at the path of a file before it is completed. */
    interface Last {
        void at(String path) throws StoreException;
    }

    /** Everyone finds the file; it is no draft any more. */
    void complete(Draft draft, Last last) throws StoreException {
        Streamed streamed = draft.streamed;
        if (streamed == null) {
            return;
        }
        try {
            String path = metadata.pathOf(draft.inode);
            if (!streamed.sink.isAt(path)) {
                throw new StoreException(Errno.EIO, "It was moved to " + path + " while it was being streamed", null);
            }
            if (!incomplete.isAt(path, streamed.sink.fileId())) {
                throw new StoreException(Errno.EIO, "Another client replaced or removed it in the meantime", null);
            }
            last.at(path);
            streamed.sink.complete();
        } catch (StoreException e) {
            lose(draft, e);
            throw e;
        }
    }

    /** The incomplete file of a lost draft is in everyone's way. */
    void remove(Draft draft) {
        try {
            incomplete.remove(metadata.pathOf(draft.inode), draft.facts.raw().id());
        } catch (StoreException e) {
            LOG.info("Remains of a lost file cannot be removed: {}", e.getMessage());
        }
    }

    /** The failure of a file that an earlier process was streaming. */
    static StoreException left(String path) {
        return new StoreException(
                Errno.EIO, path + " was being streamed by a gateway that has ended; write it again", null);
    }
}

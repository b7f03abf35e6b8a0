package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.NodeIdRemapLog;
import io.posixgateway.alluxio.journal.Origin;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * What the dirty files of a node that died, or of a mount that ended, still count for when it is back. Their writers are gone; other
 * nodes may have written the same files since. Waits; for one thread.
 *
 * <p>What fsync or close acknowledged is in Alluxio, so content that is still only here was acknowledged to nobody: it is never
 * committed. What was committed but is in doubt is committed once more, and attributes are given, only where the file is still
 * the one that the dirty file began from.
 */
final class Returned {
    /** As a refusal: there is no content that anybody could miss. */
    static final String NOTHING = "";

    private final Store store;
    private final NodeIdRemapLog nodes;

    Returned(Store store, NodeIdRemapLog nodes) {
        this.store = store;
        this.nodes = nodes;
    }

    /** Null: it counts; else why not, in half a sentence that follows "because". */
    @Nullable
    String refusal(DirtyFileRecord record, Path spool) throws StoreException {
        if (record.isMarked(Phase.UNLINKED)) {
            return NOTHING; // it went with its last handle
        }
        if (record.isMarked(Phase.SPOOLED) && record.isOverwriting()) {
            return overwritten(record, spool);
        }
        if (record.isMarked(Phase.SPOOLED) && record.isMarked(Phase.UNSTABLE) && isComplete(record)) {
            return "its writer had written more after the last sync when its node or mount ended; the synced data is"
                    + " in Alluxio, and is uploaded again or set aside if a worker that stopped responding undoes it";
        }
        if (record.isMarked(Phase.SPOOLED)) {
            return "its writer had neither synced nor closed it when its node or mount ended";
        }
        if (!record.isUnstable() && !record.hasAttributes()) {
            return NOTHING;
        }
        return changed(record, spool);
    }

    /** Null: what it was being written over is what it was, or what was uploaded so far, or lost: the content may be all that is left. */
    private @Nullable String overwritten(DirtyFileRecord record, Path spool) throws StoreException {
        DirtyFileRecord.Content content = record.content();
        long known = nodes.inherited().getOrDefault(content.node(), content.fileId());
        String moved = where(known);
        String path = moved == null ? content.path() : moved;
        FileStatus now = Existing.orNull(() -> store.compared(path));
        if (now == null || now.id() == known || (now.xattrs().isEmpty() && isPartOf(spool, path, now))) {
            return null;
        }
        return "its file has new content in Alluxio";
    }

    private boolean isPartOf(Path spool, String path, FileStatus now) throws StoreException {
        long bytes = now.lengthBytes();
        if (now.directory() || !now.complete() || bytes > bytesOf(spool)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(spool, StandardOpenOption.READ);
                StoreReader there = store.open(path, now.id())) {
            String ours = ContentDigest.of((at, into) -> read(channel, at, into), bytes);
            return ContentDigest.of(there::read, bytes).equals(ours);
        } catch (IOException e) {
            throw SpoolFolder.failure("The spool file " + spool, e);
        }
    }

    private static int read(FileChannel channel, long at, ByteBuffer into) throws StoreException {
        try {
            return channel.read(into, at);
        } catch (IOException e) {
            throw SpoolFolder.failure("Reading a spool file", e);
        }
    }

    private boolean isComplete(DirtyFileRecord record) throws StoreException {
        String path = where(record.content().fileId());
        FileStatus now = path == null ? null : at(path);
        return now != null && now.complete();
    }

    /** Null: the file is the one that the dirty file began from, or was committed as. */
    private @Nullable String changed(DirtyFileRecord record, Path spool) throws StoreException {
        DirtyFileRecord.Content content = record.content();
        boolean recommits = record.isUnstable();
        long fileId = recommits ? content.fileId() : nodes.inherited().getOrDefault(content.node(), content.fileId());
        String path = where(fileId);
        FileStatus now = path == null || !isFound(record, fileId, path) ? null : at(path);
        if (now == null) {
            return "its file is gone from Alluxio, or was renamed";
        }
        if (now.id() != fileId || !now.complete() || now.lengthBytes() != bytesOf(spool)) {
            return "its file has new content in Alluxio";
        }
        return renumbered(record.origin(), recommits, now);
    }

    /**
     * A file that is to be committed again may have been renamed since, or a directory above it. The id alone may be that of another file
     * there: it counts with the time at which the file was made.
     */
    private static boolean isFound(DirtyFileRecord record, long fileId, String path) {
        Origin origin = record.origin();
        boolean isKnown = origin != null && origin.fileId() == fileId && origin.createdSeconds() != 0;
        return !record.isUnstable() || isKnown || path.equals(record.content().path());
    }

    private static @Nullable String renumbered(@Nullable Origin origin, boolean recommits, FileStatus now) {
        if (origin == null) {
            return recommits ? null : "the content that it was based on is unknown";
        }
        return origin.fileId() != now.id() || isStill(origin, now)
                ? null
                : "another file now has its name and id in Alluxio";
    }

    /** Is it the same file with the same content, as far as can be seen? */
    private static boolean isStill(Origin origin, FileStatus now) {
        return isSame(origin, now) && (origin.modifiedMillis() == 0 || origin.modifiedMillis() == now.modifiedMillis());
    }

    /** Is it the same file, not another one of the same id? */
    static boolean isSame(Origin origin, FileStatus now) {
        return AbandonedCreates.isSame(origin.createdSeconds(), now.createdSeconds());
    }

    /** Where Alluxio has the file of this id; null: nowhere. */
    @Nullable
    String where(long fileId) throws StoreException {
        return Existing.orNull(() -> store.pathOf(fileId));
    }

    /** Null: nothing is there. */
    @Nullable
    FileStatus at(String path) throws StoreException {
        return Existing.orNull(() -> store.status(path));
    }

    private static long bytesOf(Path spool) throws StoreException {
        try {
            return Files.size(spool);
        } catch (IOException e) {
            throw SpoolFolder.failure("The spool file " + spool, e);
        }
    }
}

package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Checks that what a worker read from the under file system (UFS) is of the file that was opened. The worker reads by the path, and asks
 * nobody whose it is: once another client has replaced the file it returns the new one's bytes, and a file of several blocks would be a
 * mix. So the master is asked for the file after the read. For one stream, and one thread at a time.
 *
 * <p>Objects are replaced behind Alluxio's back, too: it compares the path with the UFS (one HEAD, see {@link #compare}). A file of a
 * folder is replaced through Alluxio, whose master forgets the old one before rename(2) puts another in its place: there it is enough
 * that the master still knows the file at this path (see {@link #locate}). In both, so were the bytes.
 *
 * <p>No comparison is needed of a file that was read whole, in one piece, and has the {@link ContentHash} that Alluxio knows.
 *
 * <p>Nor after each read: a worker reads a block with one GET, which returns one version of the object. A read is checked that begins a
 * block, or begins elsewhere than the last one ended, since it has a GET of its own; and one that ends a block, since the GET may have
 * been repeated meanwhile. So no block is read to its end without an error unless all of it is of the file that was opened.
 */
final class VersionCheck {
    private static final long NOWHERE = -1;

    private final long blockBytes;
    private final long lengthBytes;
    private final @Nullable ContentHash hash;
    private final Comparison comparison;
    /** Behind the last read, where a GET may go on. */
    private long continuesAt = NOWHERE;

    /** {@link #compare} or {@link #locate}. */
    @FunctionalInterface
    interface Comparison {
        /**
         * @return false: another client gave the file another name, and another file may be at the path by which it was read
         * @throws StoreException ESTALE: this version of the file is gone
         */
        boolean run() throws StoreException;
    }

    /**
     * @param blockBytes of the file, {@code lengthBytes} long; positive
     * @param hash null: it is not known
     */
    VersionCheck(long blockBytes, long lengthBytes, @Nullable ContentHash hash, Comparison comparison) {
        this.blockBytes = blockBytes;
        this.lengthBytes = lengthBytes;
        this.hash = hash;
        this.comparison = comparison;
    }

    /**
     * These bytes came from the UFS in a stream, which may go on behind them.
     *
     * @param anew by another call than what was read before
     * @return as {@link Comparison#run}
     */
    boolean streamed(long offset, ByteBuffer bytes, boolean anew) throws StoreException {
        long continued = anew ? NOWHERE : continuesAt;
        continuesAt = NOWHERE;
        if (isWhole(offset, bytes)) {
            return true; // by a GET that nothing was compared after
        }
        long end = offset + bytes.remaining();
        boolean sameGet = offset == continued && offset / blockBytes == end / blockBytes && offset % blockBytes != 0;
        boolean isOfFile = (sameGet && end != lengthBytes) || comparison.run();
        continuesAt = isOfFile ? end : NOWHERE;
        return isOfFile;
    }

    /**
     * Some bytes came from the UFS by themselves.
     *
     * @return as {@link Comparison#run}
     */
    boolean pread(long offset, ByteBuffer bytes) throws StoreException {
        return isWhole(offset, bytes) || comparison.run();
    }

    /** Is this the file that was opened, whatever the worker read it from? */
    private boolean isWhole(long offset, ByteBuffer bytes) {
        return hash != null && offset == 0 && bytes.remaining() == lengthBytes && hash.isOf(bytes);
    }

    /**
     * A {@link Comparison} with the UFS.
     *
     * @param path of the file when it was opened; others may have renamed it since
     */
    static boolean compare(Store store, String path, long fileId) throws StoreException {
        if (isAt(store::compared, path, fileId)) {
            return true;
        }
        String moved = pathOrNull(store, fileId);
        if (moved == null || moved.equals(path) || !isAt(store::compared, moved, fileId)) {
            throw gone(path);
        }
        return false;
    }

    /** As {@link #compare}, but as Alluxio has it: for a UFS in which nobody replaces a file but through Alluxio. */
    static boolean locate(Store store, String path, long fileId) throws StoreException {
        String now = pathOrNull(store, fileId);
        if (now == null) {
            throw gone(path);
        }
        return now.equals(path) || isAt(store::status, path, fileId);
    }

    private static StoreException gone(String path) {
        return new StoreException(
                Errno.ESTALE,
                path
                        + " was replaced in the under file system while it was being read, and the old version is"
                        + " gone: open it again",
                null);
    }

    /** What the store says of a path. */
    private interface Saying {
        FileStatus of(String path) throws StoreException;
    }

    private static boolean isAt(Saying store, String path, long fileId) throws StoreException {
        FileStatus there = Existing.orNull(() -> store.of(path));
        return there != null && there.id() == fileId;
    }

    private static @Nullable String pathOrNull(Store store, long fileId) throws StoreException {
        return Existing.orNull(() -> store.pathOf(fileId));
    }
}

package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Checks that what a worker read from the under file system (UFS) is of the file that was opened. The worker reads by the path: once
 * another client has replaced the object, behind Alluxio's back, it returns the new one's bytes, and a file of several blocks would be
 * a mix. So Alluxio compares the path with the UFS after the read (one HEAD): if the file there is still this one, so were the bytes.
 * For one stream, and one thread at a time.
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

    /** Has Alluxio compare the file with the UFS. */
    @FunctionalInterface
    interface Comparison {
        /** @throws StoreException ESTALE: the path has another version, or none */
        void run() throws StoreException;
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

    /** These bytes came from the UFS in a stream, which may go on behind them. */
    void streamed(long offset, ByteBuffer bytes) throws StoreException {
        if (isWhole(offset, bytes)) {
            continuesAt = NOWHERE; // by a GET that nothing was compared after
            return;
        }
        long end = offset + bytes.remaining();
        boolean sameGet = offset == continuesAt && offset / blockBytes == end / blockBytes && offset % blockBytes != 0;
        continuesAt = NOWHERE;
        if (!sameGet || end == lengthBytes) {
            comparison.run();
        }
        continuesAt = end;
    }

    /** Some bytes came from the UFS by themselves. */
    void pread(long offset, ByteBuffer bytes) throws StoreException {
        if (!isWhole(offset, bytes)) {
            comparison.run();
        }
    }

    /** Is this the file that was opened, whatever the worker read it from? */
    private boolean isWhole(long offset, ByteBuffer bytes) {
        return hash != null && offset == 0 && bytes.remaining() == lengthBytes && hash.isOf(bytes);
    }

    /**
     * A {@link Comparison}.
     *
     * @param path of the file when it was opened; this mount may have renamed it since
     */
    static void compare(Store store, String path, long fileId) throws StoreException {
        if (isAt(store, path, fileId)) {
            return;
        }
        String moved = pathOrNull(store, fileId);
        if (moved == null || moved.equals(path) || !isAt(store, moved, fileId)) {
            throw new StoreException(
                    Errno.ESTALE,
                    path
                            + " was replaced in the under file system while it was being read, and the old version is"
                            + " gone: open it again",
                    null);
        }
    }

    private static boolean isAt(Store store, String path, long fileId) throws StoreException {
        try {
            return store.compared(path).id() == fileId;
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    private static @Nullable String pathOrNull(Store store, long fileId) throws StoreException {
        try {
            return store.pathOf(fileId);
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return null;
            }
            throw e;
        }
    }
}

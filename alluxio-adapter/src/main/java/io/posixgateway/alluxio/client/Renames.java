package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.client.file.FileSystem;
import alluxio.client.file.URIStatus;
import alluxio.grpc.RenamePOptions;
import alluxio.grpc.S3SyntaxOptions;
import io.posixgateway.fuse.spi.Errno;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Renames in Alluxio, in the way that the under file system (UFS) of the path needs. Any thread; waits.
 *
 * <p>To replace a file, Alluxio's master first deletes it, from Alluxio alone unless it is asked to persist, and then renames in the UFS.
 * Object stores and HDFS refuse to rename to what exists: there the file is to be deleted in the UFS, too. The master does all of it under
 * the locks of both paths, so Alluxio shows the old file or the new one; the UFS itself shows neither for the time of a copy. On a local
 * folder that gap need not be, as rename(2) replaces.
 *
 * <p>Where it deletes, it is asked once: a master that was killed after the last step in the UFS, before its journal said so, would
 * delete what it had put there if it was asked again. And it deletes whatever is at the target, a directory with all that is in it: so
 * that is looked at just before.
 */
final class Renames implements AutoCloseable {
    private static final S3SyntaxOptions OVERWRITING =
            S3SyntaxOptions.newBuilder().setOverwrite(true).build();

    private final FileSystem files;
    private final RenameClients once;
    private final MasterCaller caller;
    private final MountPoints mountPoints;
    private final FirstListings listings;
    private final OpenStreams open;

    /** @param once its own from here on */
    Renames(
            FileSystem files,
            RenameClients once,
            MasterCaller caller,
            MountPoints mountPoints,
            FirstListings listings,
            OpenStreams open) {
        this.files = files;
        this.once = once;
        this.caller = caller;
        this.mountPoints = mountPoints;
        this.listings = listings;
        this.open = open;
    }

    /** As {@link Store#rename}. */
    void rename(AlluxioURI from, AlluxioURI to, boolean overFile) throws StoreException {
        boolean deletes = overFile && mountPoints.of(to.getPath()).kind() != UfsKind.LOCAL;
        open.moved(from.getPath());
        try {
            listings.take(
                    List.of(from.getPath(), to.getPath()),
                    () -> deletes ? replaced(from, to) : renamed(from, to, overFile));
        } finally {
            open.moved(from.getPath());
        }
    }

    private AlluxioURI renamed(AlluxioURI from, AlluxioURI to, boolean overFile) throws StoreException {
        RenamePOptions.Builder options = RenamePOptions.newBuilder();
        if (overFile) {
            options.setS3SyntaxOptions(OVERWRITING);
        }
        return caller.attempt("rename to " + to.getPath(), from.getPath(), () -> {
            files.rename(from, to, options.build());
            return to;
        });
    }

    private AlluxioURI replaced(AlluxioURI from, AlluxioURI to) throws StoreException {
        checkReplaceable(to);
        RenamePOptions options = RenamePOptions.newBuilder()
                .setS3SyntaxOptions(OVERWRITING)
                .setPersist(true)
                .build();
        try {
            return caller.attempt("rename to " + to.getPath(), from.getPath(), () -> {
                once.rename(from, to, options);
                return to;
            });
        } catch (StoreException e) {
            if (e.errno() != Errno.EIO || Thread.currentThread().isInterrupted() || !ErrnoTable.isUnanswered(e)) {
                throw e;
            }
            throw StoreException.unanswered(String.valueOf(e.getMessage()), e);
        }
    }

    private void checkReplaceable(AlluxioURI target) throws StoreException {
        URIStatus there = statusOrNull(target);
        if (there != null && there.isFolder()) {
            throw new StoreException(
                    Errno.EISDIR,
                    target.getPath()
                            + " is a directory that another client created; move it away, or write to another path",
                    null);
        }
    }

    private @Nullable URIStatus statusOrNull(AlluxioURI path) throws StoreException {
        try {
            return caller.attempt("status", path.getPath(), () -> files.getStatus(path));
        } catch (StoreException e) {
            if (e.errno() == Errno.ENOENT) {
                return null;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        once.close();
    }
}

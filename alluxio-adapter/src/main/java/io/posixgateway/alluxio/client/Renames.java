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
 * <p>The master deletes whatever is at the target, and a directory with all that is in it. So it is looked at just before.
 */
final class Renames {
    private final FileSystem files;
    private final MasterCaller caller;
    private final MountPoints mountPoints;
    private final FirstListings listings;

    Renames(FileSystem files, MasterCaller caller, MountPoints mountPoints, FirstListings listings) {
        this.files = files;
        this.caller = caller;
        this.mountPoints = mountPoints;
        this.listings = listings;
    }

    /**
     * @param overFile replace a file there; if false, EEXIST when something is there
     * @throws StoreException EXDEV where the two are in different UFS; EISDIR where a directory is to be replaced
     */
    void rename(AlluxioURI from, AlluxioURI to, boolean overFile) throws StoreException {
        RenamePOptions.Builder options = RenamePOptions.newBuilder();
        if (overFile) {
            options.setS3SyntaxOptions(S3SyntaxOptions.newBuilder().setOverwrite(true));
            if (mountPoints.of(to.getPath()).kind() != UfsKind.LOCAL) {
                options.setPersist(true);
                checkReplaceable(to);
            }
        }
        listings.take(
                List.of(from.getPath(), to.getPath()),
                () -> caller.attempt("rename to " + to.getPath(), from.getPath(), () -> {
                    files.rename(from, to, options.build());
                    return to;
                }));
    }

    private void checkReplaceable(AlluxioURI target) throws StoreException {
        URIStatus there = statusOrNull(target);
        if (there != null && there.isFolder()) {
            throw new StoreException(
                    Errno.EISDIR,
                    "A directory of another client is in the place of the file " + target.getPath(),
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
}

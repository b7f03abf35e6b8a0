package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.recovery.RenameLog.Renaming;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;

/** What is said of renames that failed: what, why, and what to do. */
final class RenameFailures {
    private RenameFailures() {}

    /** It is not begun, as this folder takes no record of it. */
    static StoreException notRecorded(Renaming renaming, Path folder) {
        return new StoreException(
                Errno.EIO,
                renaming.to() + " is not replaced, as that cannot be recorded in " + folder
                        + " (the log says why): were this host and Alluxio's master to stop meanwhile, the file could be lost."
                        + " Make room there, or mount with another folder as spool",
                null);
    }

    /** Both files were seen to be whole. */
    static StoreException asBefore(Renaming renaming, StoreException failure) {
        return failure.isUnanswered()
                ? new StoreException(
                        Errno.EIO,
                        renaming.to() + " and " + renaming.from()
                                + " are as they were; do the same when Alluxio answers: " + failure.getMessage(),
                        failure)
                : failure;
    }

    static StoreException bothGone(Renaming renaming, StoreException failure) {
        return new StoreException(Errno.EIO, bothGone(renaming) + ": " + failure.getMessage(), failure);
    }

    static String bothGone(Renaming renaming) {
        return renaming.to() + " does not have its new content: neither it nor " + renaming.from()
                + " is in the under file system any more, as another client removed them, or Alluxio's master was killed"
                + " between; what this mount wrote is still in its spool, and is uploaded anew by the next fsync or close,"
                + " all else has to be written again";
    }
}

package io.posixgateway.alluxio.write;

import io.posixgateway.alluxio.journal.RenameLog.Renaming;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.write.RenameOutcomes.Outcome;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;

/** What is said of renames that failed: what, why, and what to do. */
final class RenameFailures {
    private RenameFailures() {}

    /** It is not begun, as this folder takes no record of it. */
    static StoreException notRecorded(Renaming renaming, Path folder) {
        return new StoreException(
                Errno.EIO,
                renaming.to() + " is not replaced, because that cannot be recorded in " + folder + " (see the log),"
                        + " and the file could be lost if this host and Alluxio's master stopped now. Free space"
                        + " there, or mount with another spool",
                null);
    }

    /** Both files were seen to be whole. */
    private static StoreException asBefore(Renaming renaming, StoreException failure) {
        return failure.isUnanswered()
                ? new StoreException(
                        Errno.EIO,
                        renaming.to() + " and " + renaming.from() + " are unchanged; retry when Alluxio answers: "
                                + failure.getMessage(),
                        failure)
                : failure;
    }

    private static StoreException bothGone(Renaming renaming, StoreException failure) {
        return new StoreException(Errno.EIO, bothGone(renaming) + ": " + failure.getMessage(), failure);
    }

    static String bothGone(Renaming renaming) {
        return renaming.to() + " does not have its new content: neither it nor " + renaming.from()
                + " is in the under file system any more: another client removed them, or Alluxio's master was killed"
                + " in between. Data that this mount wrote is still in its spool, and the next fsync or close uploads"
                + " it again; write all other data again";
    }

    /** Of one that was interrupted before another version served. */
    static String leftAsItIs(Renaming renaming) {
        return renaming.to() + " is missing, and " + renaming.from() + " is not renamed to it: since that was"
                + " interrupted another version of the gateway has served the volume, so it may have been deleted on"
                + " purpose. If not, rename it with 'alluxio fs mv'";
    }

    /** What is told of one that did not end in place. */
    static StoreException of(Renaming renaming, Outcome found, StoreException failure) {
        if (found == Outcome.BOTH_GONE) {
            return bothGone(renaming, failure);
        }
        return found == Outcome.TARGET_STAYS ? asBefore(renaming, failure) : failure;
    }
}

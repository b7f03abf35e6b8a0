package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.UfsKind;
import io.posixgateway.fuse.time.Clock;

/** What other stores than Alluxio's need of this package. */
public final class StoreParts {
    private StoreParts() {}

    /** The store as volumes have it: timed, and each call can be interrupted. */
    public static Store metered(Store store, Clock clock) {
        return new MeteredStore(store, clock);
    }

    /** EIO: a server did not answer. */
    public static StoreException unanswered(String message) {
        return StoreException.unanswered(message, new IllegalStateException(message));
    }

    /** EIO: a server has not answered yet. */
    public static StoreException silence(String message) {
        return StoreException.silence(message, null);
    }

    /** After a read from the UFS by this path: false where the file is elsewhere, ESTALE where this version of it is gone. */
    public static boolean isOfFile(Store store, UfsKind ufs, String path, long fileId) throws StoreException {
        return ufs == UfsKind.LOCAL
                ? VersionCheck.locate(store, path, fileId)
                : VersionCheck.compare(store, path, fileId);
    }

    /** EIO: Alluxio has marked the file LOST, and no worker has what is to be read. */
    public static StoreException lost(String path) {
        return LostFile.failure(path, null);
    }
}

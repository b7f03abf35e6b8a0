package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;

/**
 * What a reader of a file asks the master. Any thread; all but {@link #isRecent} wait.
 *
 * @param asks where its blocks are
 */
record ReadRequests(Store store, StatusCache recent, long fileId, Call asks) implements BlockFileReader.Asking {
    /** To the master. */
    interface Call {
        BlockFileReader.Asked run() throws StoreException;
    }

    @Override
    public BlockFileReader.Asked ask() throws StoreException {
        return asks.run();
    }

    @Override
    public boolean isRecent(BlockFileReader.Asked asked) {
        return recent.isRecent(asked);
    }

    @Override
    public boolean compare(String path) throws StoreException {
        return VersionCheck.compare(store, path, fileId);
    }

    @Override
    public boolean locate(String path) throws StoreException {
        return VersionCheck.locate(store, path, fileId);
    }

    @Override
    public boolean isTaken(String path) throws StoreException {
        FileStatus there = Existing.orNull(() -> store.status(path));
        return there != null && there.id() != fileId;
    }
}

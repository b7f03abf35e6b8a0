package io.posixgateway.alluxio.client;

import alluxio.exception.AlluxioException;
import java.io.IOException;

/** Makes calls to Alluxio's master and says why one failed. */
interface MasterCaller {
    /** One call. */
    @FunctionalInterface
    interface Call<T> {
        T run() throws IOException, AlluxioException;
    }

    /**
     * @param what it does, for the text of a failure
     * @param path what it does that to
     */
    <T> T attempt(String what, String path, Call<T> call) throws StoreException;
}

package io.posixgateway.alluxio.store.contract;

import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.WriteType;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An Alluxio, real or in memory, over a local UFS, that {@link StoreContract} runs against. */
public interface StoreFixture {
    /** A client, kept for all tests. Two with the same number are the same. */
    Store client(WriteType type, int number) throws StoreException;

    /** Writes a file to the UFS behind Alluxio's back, and the directories above it. */
    void writeOutside(String path, byte[] content) throws IOException;

    void makeDirectoryOutside(String path) throws IOException;

    /** Deletes a file of the UFS behind Alluxio's back. */
    void deleteOutside(String path) throws IOException;

    /** What the UFS has; null: no such file. */
    byte @Nullable [] readOutside(String path) throws IOException;

    /** The names that the UFS has in a directory, in order; empty where it has no such directory. */
    List<String> listOutside(String path) throws IOException;

    /** Time passes, so that what is done next has a later one. */
    void later() throws InterruptedException;
}

package io.posixgateway.alluxio.client;

import java.nio.ByteBuffer;

/** Reads a complete file, best in sequence. For one thread at a time. */
public interface FileSource extends AutoCloseable {
    /** Fills the buffer from this offset on; returns the bytes put, fewer than asked only at the end of the file. */
    int read(long offset, ByteBuffer into) throws StoreException;

    /** The same for a few bytes somewhere, without reading ahead. */
    int readOnce(long offset, byte[] into, int count) throws StoreException;

    @Override
    void close();
}

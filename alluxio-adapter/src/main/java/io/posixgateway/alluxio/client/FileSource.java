package io.posixgateway.alluxio.client;

import java.nio.ByteBuffer;

/** Reads a complete file. For one thread at a time, except where it says otherwise. */
public interface FileSource extends AutoCloseable {
    /** Fills the buffer from this offset on, best in sequence; returns the bytes put, fewer only at the end of the file. */
    int read(long offset, ByteBuffer into) throws StoreException;

    /** The same without reading ahead. */
    int readOnce(long offset, ByteBuffer into) throws StoreException;

    /** May this part be read with {@link #readBeside}? Any thread; never waits. */
    boolean isReadBeside(long offset);

    /**
     * As {@link #readOnce}, beside other calls. Any thread.
     *
     * @return fewer bytes than asked at the end of a block, too; -1: this way failed, another is to be taken, and the buffer is
     *     as it was
     */
    int readBeside(long offset, ByteBuffer into) throws StoreException;

    @Override
    void close();
}

package io.posixgateway.alluxio.store;

import java.nio.ByteBuffer;

/** Reads a complete file. For one thread at a time, except where it says otherwise. */
public interface StoreReader extends AutoCloseable {
    /** Buffers that are filled one after the other, by one thread. */
    interface ScatterTarget {
        /** So much is still wanted in all. */
        int bytes();

        /** What is to be filled next; it has room as long as something is wanted. */
        ByteBuffer next();

        /** Something was put there. */
        void came();

        /** The only one. */
        static ScatterTarget of(ByteBuffer into) {
            return new SingleBuffer(into);
        }
    }

    /** Fills the buffer from this offset on, best in sequence; returns the bytes put, fewer only at the end of the file. */
    int read(long offset, ByteBuffer into) throws StoreException;

    /** The same without reading ahead. */
    default int readOnce(long offset, ByteBuffer into) throws StoreException {
        return read(offset, into);
    }

    /** So much from there on may be asked for with one {@link #readRange}; 0: nothing. Any thread; never waits. */
    default long rangeAvailable(long offset) {
        return 0;
    }

    /**
     * As {@link #readOnce}, beside other calls. Any thread.
     *
     * @return what came: fewer bytes than wanted at the end of a block, too, and when this way failed; -1: nothing did, another
     *     way is to be taken
     */
    default int readRange(long offset, ScatterTarget rooms) throws StoreException {
        return -1;
    }

    @Override
    void close();
}

package io.posixgateway.alluxio.store;

/**
 * Writes a new file from its beginning to its end. For one thread at a time. Nothing is opened at the workers before the
 * first write, or the completion.
 */
public interface StoreWriter {
    long fileId();

    /** The master's time when it made the file: that of its directory is the same, or a moment earlier. 0: not known. */
    long madeMillis();

    /** Of what length the blocks are into which the file is cut. */
    long blockBytes();

    /** Is the file still where it was made? If not, as directories above it were renamed, it cannot be written any more. */
    boolean isAt(String path);

    /** Before the first write: the file will have exactly so many bytes. Workers then reserve no more than these. */
    void expect(long lengthBytes);

    void write(byte[] bytes, int from, int count) throws StoreException;

    /** Completes the file: from now on everyone can read it. After a failure the file stays incomplete. */
    void complete() throws StoreException;

    /** After a failure: will no worker do anything more to what was written? If not, it may be later, when one has answered. */
    boolean isQuiescent();

    /** Gives the data up; the incomplete file stays until it is deleted. */
    void cancel();
}

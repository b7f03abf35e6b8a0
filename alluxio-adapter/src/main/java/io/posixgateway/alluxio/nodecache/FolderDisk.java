package io.posixgateway.alluxio.nodecache;

import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The files below one folder, by names relative to it with {@code /} between their parts; so that a test can have the disk fail. Any
 * thread; waits for the disk.
 */
public interface FolderDisk {
    /** A file that is read, also after its name is gone. */
    interface Opened extends Closeable {
        /** Fills the buffer from this offset on; fewer bytes at the end of the file. */
        int read(long offset, ByteBuffer into) throws IOException;

        /**
         * Fills the buffer with what is in memory. Never waits.
         *
         * @return -1: it is not, or this cannot be told, or the file ends before; and then the buffer's position is as it was
         */
        default int readNow(long offset, ByteBuffer into) {
            return -1;
        }

        /** As {@link #read}, of what nobody will read soon: it takes no more of the node's memory afterwards than before. */
        default int readOnce(long offset, ByteBuffer into) throws IOException {
            return read(offset, into);
        }

        FileDescriptor descriptor();
    }

    /**
     * Makes the folder, or checks the one that is there. What lies in it is believed, so nobody else may write to it.
     *
     * @throws IOException it cannot be used; says why, and what to do
     */
    void prepare() throws IOException;

    /** Does the disk not answer, so that files are neither opened nor read now? Never waits. */
    default boolean isSuspended() {
        return false;
    }

    /** @throws java.nio.file.NoSuchFileException it is not there */
    Opened open(String name) throws IOException;

    /** All of it; a mapping, so that a long one takes no memory. Empty where there is none. */
    ByteBuffer map(String name) throws IOException;

    /**
     * Makes the file, or replaces its content.
     *
     * @param syncs does it wait until the disk has it?
     */
    void write(String name, List<ByteBuffer> parts, boolean syncs) throws IOException;

    /** Makes the file if need be. */
    void append(String name, ByteBuffer bytes) throws IOException;

    /** Replaces what is there, and makes the folder that it lies in. */
    void rename(String from, String to) throws IOException;

    /** Of a file that may be missing. */
    void delete(String name) throws IOException;

    /** What is in a folder, without its path; nothing where it is missing or cannot be read. */
    List<String> list(String folder);

    /** When it was changed, by the disk's own clock; 0: it is missing, or this cannot be told. */
    long modifiedMillis(String name);

    /** What anybody may still write. */
    long usableBytes();

    /** 0: it is not known, nor what is usable. */
    long totalBytes();

    /** Of a folder that may be missing, with all that is in it; makes it anew. */
    void empty(String folder) throws IOException;
}

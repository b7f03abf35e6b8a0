package io.posixgateway.alluxio.client;

import alluxio.client.file.FileOutStream;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A {@link FileSink} over a stream of Alluxio's, which is opened when it is needed. */
final class StreamSink implements FileSink {
    /** How long the file will be is not known. */
    static final long UNKNOWN = -1;

    private final String path;
    private final long fileId;
    private final Opening opening;
    private long lengthBytes = UNKNOWN;
    private @Nullable FileOutStream stream;

    /** Opens the stream; waits. */
    interface Opening {
        /** @param lengthBytes how long the file will be, or {@link #UNKNOWN} */
        FileOutStream open(long lengthBytes) throws IOException;
    }

    StreamSink(String path, long fileId, Opening opening) {
        this.path = path;
        this.fileId = fileId;
        this.opening = opening;
    }

    @Override
    public long fileId() {
        return fileId;
    }

    @Override
    public boolean isAt(String other) {
        return path.equals(other);
    }

    @Override
    public void expect(long bytes) {
        lengthBytes = bytes;
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws StoreException {
        try {
            stream().write(bytes, from, count);
        } catch (IOException | RuntimeException e) {
            throw lost("write", e);
        }
    }

    @Override
    public void complete() throws StoreException {
        try {
            stream().close();
        } catch (IOException | RuntimeException e) {
            throw lost("complete", e);
        }
    }

    private FileOutStream stream() throws IOException {
        FileOutStream open = stream;
        if (open == null) {
            open = opening.open(lengthBytes);
            stream = open;
        }
        return open;
    }

    /** ENOSPC and EACCES as they are, else EIO: that a block, or a worker, is not found does not mean that the file is not. */
    private StoreException lost(String what, Exception failure) {
        int errno = ErrnoTable.of(failure);
        boolean told = errno == Errno.ENOSPC || errno == Errno.EACCES;
        return new StoreException(told ? errno : Errno.EIO, what + " " + path + ": " + failure, failure);
    }

    @Override
    public void cancel() {
        FileOutStream open = stream;
        if (open == null) {
            return;
        }
        try {
            open.cancel();
        } catch (IOException | RuntimeException e) {
            org.slf4j.LoggerFactory.getLogger(StreamSink.class).debug("Cancelling {} failed: {}", path, e.toString());
        }
    }
}

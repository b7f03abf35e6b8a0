package io.posixgateway.alluxio.client;

import alluxio.client.file.FileOutStream;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;

/** A {@link FileSink} over Alluxio's output stream. */
final class StreamSink implements FileSink {
    private final String path;
    private final long fileId;
    private final FileOutStream stream;

    StreamSink(String path, long fileId, FileOutStream stream) {
        this.path = path;
        this.fileId = fileId;
        this.stream = stream;
    }

    @Override
    public long fileId() {
        return fileId;
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws StoreException {
        try {
            stream.write(bytes, from, count);
        } catch (IOException | RuntimeException e) {
            throw lost("write", e);
        }
    }

    @Override
    public void complete() throws StoreException {
        try {
            stream.close();
        } catch (IOException | RuntimeException e) {
            throw lost("complete", e);
        }
    }

    /** ENOSPC and EACCES as they are, else EIO: that a block, or a worker, is not found does not mean that the file is not. */
    private StoreException lost(String what, Exception failure) {
        int errno = ErrnoTable.of(failure);
        boolean told = errno == Errno.ENOSPC || errno == Errno.EACCES;
        return new StoreException(told ? errno : Errno.EIO, what + " " + path + ": " + failure, failure);
    }

    @Override
    public void cancel() {
        try {
            stream.cancel();
        } catch (IOException | RuntimeException e) {
            org.slf4j.LoggerFactory.getLogger(StreamSink.class).debug("Cancelling {} failed: {}", path, e.toString());
        }
    }
}

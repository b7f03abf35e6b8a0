package io.posixgateway.alluxio.client;

import alluxio.client.file.FileOutStream;
import alluxio.client.file.URIStatus;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A {@link StoreWriter} over a stream of Alluxio's, which is opened when it is needed. */
final class StreamWriter implements StoreWriter {
    /** How long the file will be is not known. */
    static final long UNKNOWN = -1;

    private final String path;
    private final long fileId;
    private final long madeMillis;
    private final long blockBytes;
    private final String ufsPath;
    private final WriteWorkerSelector workers;
    private final Opening opening;
    private long lengthBytes = UNKNOWN;
    private @Nullable FileOutStream stream;
    private volatile boolean uncertain;

    /** Opens the stream; waits. */
    interface Opening {
        /** @param lengthBytes how long the file will be, or {@link #UNKNOWN} */
        FileOutStream open(long lengthBytes) throws IOException;
    }

    /**
     * @param made what the master answered
     * @param workers those that the stream will write through
     */
    StreamWriter(String path, URIStatus made, WriteWorkerSelector workers, Opening opening) {
        this.path = path;
        this.fileId = made.getFileId();
        this.madeMillis = made.getLastModificationTimeMs();
        this.blockBytes = made.getBlockSizeBytes();
        this.ufsPath = String.valueOf(made.getUfsPath());
        this.workers = workers;
        this.opening = opening;
    }

    @Override
    public long fileId() {
        return fileId;
    }

    @Override
    public long madeMillis() {
        return madeMillis;
    }

    @Override
    public long blockBytes() {
        return blockBytes;
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
        attempt("write", () -> stream().write(bytes, from, count));
    }

    @Override
    public void complete() throws StoreException {
        attempt("complete", () -> stream().close());
    }

    private interface Step {
        void run() throws IOException;
    }

    private void attempt(String what, Step step) throws StoreException {
        Throwable failure = null;
        workers.begin(lengthBytes != UNKNOWN);
        try {
            step.run();
        } catch (IOException | RuntimeException | LinkageError e) { // Alluxio logs some with a class that is not there
            failure = e;
        }
        boolean givenUp = workers.end();
        if (failure != null) {
            throw lost(what, failure, givenUp);
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

    /** ENOSPC, EACCES and EROFS as they are, else EIO: that a block, or a worker, is not found does not mean that the file is not. */
    private StoreException lost(String what, Throwable failure, boolean givenUp) {
        String message = what + " " + path + ": " + failure;
        int errno = ErrnoTable.of(failure);
        if (errno == Errno.ENOSPC) {
            return new StoreException(errno, message + ObjectUploads.adviceWhenFull(ufsPath), failure);
        }
        if (errno == Errno.EACCES || errno == Errno.EROFS) {
            return new StoreException(errno, message, failure);
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        boolean unanswered = givenUp || ErrnoTable.isUnanswered(failure) || ErrnoTable.isWorkerUnregistered(failure);
        if (interrupted || unanswered) {
            workers.suspect();
            uncertain = stream != null;
        }
        return unanswered && !interrupted
                ? StoreException.unanswered(message, failure)
                : new StoreException(Errno.EIO, message, failure);
    }

    @Override
    public boolean isQuiescent() {
        return !uncertain || workers.haveAnswered();
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
            org.slf4j.LoggerFactory.getLogger(StreamWriter.class).debug("Cancelling {} failed: {}", path, e.toString());
        }
    }
}

package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.client.block.stream.UnderFileSystemFileOutStream;
import alluxio.client.file.FileOutStream;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.options.OutStreamOptions;
import alluxio.conf.AlluxioConfiguration;
import alluxio.conf.PropertyKey;
import alluxio.exception.status.UnavailableException;
import alluxio.grpc.CompleteFilePOptions;
import alluxio.retry.ExponentialTimeBoundedRetry;
import alluxio.retry.RetryPolicy;
import alluxio.wire.WorkerNetAddress;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes a file to the under file system through a worker, and its blocks into workers beside it. For one thread.
 *
 * <p>Does what Alluxio's own stream does for such files, with one call to the master less for each block, and no more room
 * reserved in workers than the file takes.
 */
final class PersistedOutStream extends FileOutStream {
    private final FileSystemContext context;
    private final Completing completing;
    private final String path;
    private final Closeable reinitialization;
    private final UnderFileSystemFileOutStream persisted;
    private final @Nullable CachedBlocks cached;
    private boolean closed;

    /** What is done once the under file system has the file. */
    interface Completing {
        void complete(CompleteFilePOptions.Builder options) throws IOException;
    }

    /** @param cached null: only the under file system gets the file */
    PersistedOutStream(
            FileSystemContext context,
            Completing completing,
            String path,
            OutStreamOptions options,
            BlockStreams streams,
            @Nullable CachedBlocks cached)
            throws IOException {
        this.context = context;
        this.completing = completing;
        this.path = path;
        this.cached = cached;
        this.reinitialization = context.blockReinit();
        try {
            this.persisted = UnderFileSystemFileOutStream.create(context, worker(options, streams), options);
        } catch (IOException | RuntimeException e) {
            reinitialization.close();
            throw e;
        }
    }

    /** A worker to write through; for a moment there may be none. */
    private WorkerNetAddress worker(OutStreamOptions options, BlockStreams streams) throws IOException {
        AlluxioConfiguration configuration = context.getPathConf(new AlluxioURI(path));
        RetryPolicy retry = ExponentialTimeBoundedRetry.builder()
                .withMaxDuration(configuration.getDuration(PropertyKey.USER_FILE_WRITE_INIT_MAX_DURATION))
                .withInitialSleep(configuration.getDuration(PropertyKey.USER_FILE_WRITE_INIT_SLEEP_MIN))
                .withMaxSleep(configuration.getDuration(PropertyKey.USER_FILE_WRITE_INIT_SLEEP_MAX))
                .withSkipInitialSleep()
                .build();
        IOException failure = null;
        while (retry.attempt()) {
            try {
                Optional<WorkerNetAddress> worker = streams.worker(options);
                if (worker.isPresent()) {
                    return worker.get();
                }
            } catch (IOException e) {
                failure = e;
            }
        }
        throw failure == null ? new UnavailableException("No Alluxio worker is available to write through") : failure;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        persisted.write(bytes, from, count);
        if (cached != null) {
            cached.write(bytes, from, count);
        }
        mBytesWritten += count;
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            persisted.close();
            if (cached != null) {
                cached.close();
            }
            complete();
        } catch (IOException | RuntimeException e) {
            dropBlocks();
            throw e;
        } finally {
            reinitialization.close();
        }
    }

    private void complete() throws IOException {
        CompleteFilePOptions.Builder options = CompleteFilePOptions.newBuilder().setUfsLength(mBytesWritten);
        persisted.getDataWriter().getUfsContentHash().ifPresent(options::setContentHash);
        completing.complete(options);
    }

    private void dropBlocks() {
        if (cached != null) {
            cached.cancel();
        }
    }

    @Override
    public void cancel() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            persisted.cancel();
        } finally {
            dropBlocks();
            reinitialization.close();
        }
    }
}

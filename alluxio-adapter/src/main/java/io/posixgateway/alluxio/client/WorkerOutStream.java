package io.posixgateway.alluxio.client;

import alluxio.AlluxioURI;
import alluxio.Constants;
import alluxio.client.block.stream.BlockOutStream;
import alluxio.client.file.FileOutStream;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.options.OutStreamOptions;
import alluxio.grpc.CompleteFilePOptions;
import alluxio.grpc.ScheduleAsyncPersistencePOptions;
import alluxio.master.block.BlockId;
import alluxio.util.FileSystemOptionsUtils;
import io.posixgateway.alluxio.store.StoreException;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Writes a file to workers alone; the under file system gets it later, or never. For one thread. */
final class WorkerOutStream extends FileOutStream {
    private final FileSystemContext context;
    private final FileSystemMaster master;
    private final String path;
    private final long fileId;
    private final OutStreamOptions options;
    private final BlockStreams streams;
    private final Closeable reinitialization;
    /** The last one is not full. Each is committed when the file is closed. */
    private final List<BlockOutStream> blocks = new ArrayList<>(1);

    private boolean closed;

    WorkerOutStream(
            FileSystemContext context,
            FileSystemMaster master,
            String path,
            long fileId,
            OutStreamOptions options,
            BlockStreams streams) {
        this.context = context;
        this.master = master;
        this.path = path;
        this.fileId = fileId;
        this.options = options;
        this.streams = streams;
        this.reinitialization = context.blockReinit();
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        for (int done = 0; done < count; ) {
            BlockOutStream block = block();
            int part = (int) Math.min(block.remaining(), count - done);
            block.write(bytes, from + done, part);
            done += part;
            mBytesWritten += part;
        }
    }

    private BlockOutStream block() throws IOException {
        BlockOutStream last = blocks.isEmpty() ? null : blocks.get(blocks.size() - 1);
        if (last != null && last.remaining() > 0) {
            return last;
        }
        if (last != null) {
            last.flush();
        }
        BlockOutStream next = streams.open(newBlock(), options.getBlockSizeBytes(), options).stream();
        blocks.add(next);
        return next;
    }

    /** The master is asked by path: once another client has renamed this file away, and made its own there, it gives one of that. */
    private long newBlock() throws IOException {
        long block;
        try {
            block = master.newBlock(path);
        } catch (StoreException e) {
            throw FileSystemMaster.cause(e);
        }
        if (BlockId.getContainerId(block) != BlockId.getContainerId(fileId)) {
            throw new IOException(
                    path + " is another file now: another client renamed or replaced the one being written");
        }
        return block;
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            for (BlockOutStream block : blocks) {
                block.close();
            }
            complete();
        } catch (IOException | RuntimeException e) {
            cancelBlocks(e);
            throw e;
        } finally {
            reinitialization.close();
        }
    }

    private void complete() throws IOException {
        CompleteFilePOptions.Builder completed = CompleteFilePOptions.newBuilder();
        if (options.getUnderStorageType().isAsyncPersist()
                && options.getPersistenceWaitTime() != Constants.NO_AUTO_PERSIST) {
            ScheduleAsyncPersistencePOptions defaults =
                    FileSystemOptionsUtils.scheduleAsyncPersistDefaults(context.getPathConf(new AlluxioURI(path)));
            completed.setAsyncPersistOptions(defaults.toBuilder()
                    .setCommonOptions(options.getCommonOptions())
                    .setPersistenceWaitTime(options.getPersistenceWaitTime()));
        }
        master.complete(path, fileId, completed);
    }

    /** Those that are not committed. */
    private void cancelBlocks(Exception failure) {
        for (BlockOutStream block : blocks) {
            try {
                block.cancel();
            } catch (IOException | RuntimeException e) {
                failure.addSuppressed(e);
            }
        }
    }

    @Override
    public void cancel() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        IOException failure = new IOException("Not all blocks of " + path + " are cancelled");
        cancelBlocks(failure);
        reinitialization.close();
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}

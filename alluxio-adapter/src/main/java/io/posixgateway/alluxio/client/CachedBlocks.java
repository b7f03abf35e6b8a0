package io.posixgateway.alluxio.client;

import alluxio.client.block.stream.BlockOutStream;
import alluxio.client.block.stream.BlockWorkerClient;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.options.OutStreamOptions;
import alluxio.grpc.RemoveBlockRequest;
import alluxio.master.block.BlockId;
import alluxio.resource.CloseableResource;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The blocks of a file on their way into workers, while the file itself goes to the under file system. For one thread.
 *
 * <p>The master derives the ids of a persisted file's blocks from the file's id when the file is completed; so they are known
 * here without asking. Caching never fails the file: after a failure nothing more is cached, and readers find the rest in the
 * under file system.
 */
final class CachedBlocks {
    private static final Logger LOG = LoggerFactory.getLogger(CachedBlocks.class);

    private final FileSystemContext context;
    private final BlockStreams streams;
    private final OutStreamOptions options;
    private final long container;
    private final long lengthBytes;
    private final Map<Long, List<WorkerNetAddress>> committed = new LinkedHashMap<>();
    private BlockStreams.@Nullable Opened open;
    private long openId;
    private long doneBytes;
    private long nextSequence;
    private boolean failed;

    /** @param lengthBytes of the whole file, or {@link StreamWriter#UNKNOWN} */
    CachedBlocks(
            FileSystemContext context, BlockStreams streams, OutStreamOptions options, long fileId, long lengthBytes) {
        this.context = context;
        this.streams = streams;
        this.options = options;
        this.container = BlockId.getContainerId(fileId);
        this.lengthBytes = lengthBytes;
    }

    void write(byte[] bytes, int from, int count) {
        int at = from;
        try {
            while (at < from + count && !failed) {
                BlockOutStream block = block().stream();
                int part = (int) Math.min(block.remaining(), from + count - at);
                block.write(bytes, at, part);
                at += part;
                doneBytes += part;
                if (block.remaining() == 0) {
                    commit();
                }
            }
        } catch (IOException | RuntimeException e) {
            giveUp(e);
        }
    }

    private BlockStreams.Opened block() throws IOException {
        BlockStreams.Opened block = open;
        if (block == null) {
            long most = options.getBlockSizeBytes();
            long size = lengthBytes == StreamWriter.UNKNOWN ? most : Math.min(most, lengthBytes - doneBytes);
            openId = BlockId.createBlockId(container, nextSequence++);
            block = streams.open(openId, size, options);
            open = block;
        }
        return block;
    }

    private void commit() throws IOException {
        BlockStreams.Opened block = open;
        if (block != null) {
            open = null;
            committed.put(openId, block.workers()); // some may have it where closing fails
            block.stream().close();
        }
    }

    /** The last block is complete, too. */
    void close() {
        try {
            commit();
        } catch (IOException | RuntimeException e) {
            giveUp(e);
        }
    }

    private void giveUp(Exception reason) {
        failed = true;
        LOG.warn("A written file is not cached in workers from block {} on: {}", nextSequence - 1, reason.toString());
        cancelOpen();
    }

    private void cancelOpen() {
        BlockStreams.Opened block = open;
        open = null;
        if (block != null) {
            try {
                block.stream().cancel();
            } catch (IOException | RuntimeException e) {
                LOG.debug("Cancelling a block failed: {}", e.toString());
            }
        }
    }

    /** There will be no such file: takes the blocks out of the workers. */
    void cancel() {
        cancelOpen();
        committed.forEach((id, workers) -> workers.forEach(worker -> remove(id, worker)));
        committed.clear();
    }

    private void remove(long id, WorkerNetAddress worker) {
        try (CloseableResource<BlockWorkerClient> client = context.acquireBlockWorkerClient(worker)) {
            client.get()
                    .removeBlock(RemoveBlockRequest.newBuilder().setBlockId(id).build());
        } catch (IOException | RuntimeException e) {
            LOG.debug("Removing a block failed: {}", e.toString());
        }
    }
}

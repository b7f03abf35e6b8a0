package io.posixgateway.alluxio.client;

import alluxio.client.WriteType;
import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.block.policy.options.GetWorkerOptions;
import alluxio.client.block.stream.BlockOutStream;
import alluxio.client.file.FileSystemContext;
import alluxio.client.file.options.OutStreamOptions;
import alluxio.exception.status.ResourceExhaustedException;
import alluxio.exception.status.UnavailableException;
import alluxio.wire.BlockInfo;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Opens streams of blocks to workers, which the policy of the file chooses among those that the master knows. Any thread; waits. */
final class BlockStreams {
    private final FileSystemContext context;
    private final WorkerList workers;

    BlockStreams(FileSystemContext context, WorkerList workers) {
        this.context = context;
        this.workers = workers;
    }

    /** A worker to write all of a file through; empty: none will do. */
    Optional<WorkerNetAddress> worker(OutStreamOptions options) throws IOException {
        return choose(new BlockInfo().setBlockId(-1).setLength(0), workers.all(), options);
    }

    private static Optional<WorkerNetAddress> choose(
            BlockInfo block, List<BlockWorkerInfo> among, OutStreamOptions options) {
        return options.getLocationPolicy()
                .getWorker(GetWorkerOptions.defaults().setBlockInfo(block).setBlockWorkerInfos(among));
    }

    /** A stream that puts a block into each of these workers. */
    record Opened(BlockOutStream stream, List<WorkerNetAddress> workers) {}

    /** To as many workers, each on another host, as the file's options ask for. */
    Opened open(long blockId, long bytes, OutStreamOptions options) throws IOException {
        BlockInfo block = new BlockInfo().setBlockId(blockId).setLength(bytes);
        List<BlockWorkerInfo> left = workers.all();
        if (left.isEmpty()) {
            throw new UnavailableException("Alluxio's master knows no worker");
        }
        int wanted = Math.max(1, replicas(options));
        List<WorkerNetAddress> chosen = new ArrayList<>(wanted);
        while (chosen.size() < wanted) {
            WorkerNetAddress next = choose(block, left, options)
                    .orElseThrow(() -> new ResourceExhaustedException("Of " + wanted + " workers for a block of "
                            + bytes + " bytes only " + chosen.size() + " have space"));
            chosen.add(next);
            left = left.stream()
                    .filter(worker -> !worker.getNetAddress().getHost().equals(next.getHost()))
                    .toList();
        }
        return new Opened(
                BlockOutStream.createReplicatedBlockOutStream(context, blockId, bytes, chosen, options), chosen);
    }

    /** Before the file is persisted, where it is not at once. */
    private static int replicas(OutStreamOptions options) {
        return options.getWriteType() == WriteType.ASYNC_THROUGH
                ? Math.max(options.getReplicationDurable(), options.getReplicationMin())
                : options.getReplicationMin();
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.file.URIStatus;
import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.OpenLocalBlockRequest;
import alluxio.grpc.OpenLocalBlockResponse;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import alluxio.util.network.NetworkAddressUtils;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.FileBlockInfo;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Asks a worker on this host where it keeps a block, as Alluxio's own short-circuit readers do. */
final class LocalBlockLocator {
    private static final long ANSWER_SECONDS = 5;

    private LocalBlockLocator() {}

    /** The folder of the first block that a worker here has; null: none has one. */
    static @Nullable Path folder(WorkerConnections connections, URIStatus status) throws IOException {
        String here =
                NetworkAddressUtils.getClientHostName(connections.context().getClusterConf());
        for (FileBlockInfo fileBlock : status.getFileBlockInfos()) {
            BlockInfo block = fileBlock.getBlockInfo();
            for (BlockLocation location : block.getLocations()) {
                if (location.getWorkerAddress().getHost().equals(here)) {
                    return ask(connections, location.getWorkerAddress(), block.getBlockId());
                }
            }
        }
        return null;
    }

    /** The folder of this block, of the first worker here that has it; null: none has it. */
    static @Nullable Path folder(WorkerConnections connections, long block) throws IOException {
        for (WorkerNetAddress worker : connections.list().here()) {
            Path folder = askIfThere(connections, worker, block);
            if (folder != null) {
                return folder;
            }
        }
        return null;
    }

    /** Asks for each of them, which then counts as used; how many are there. A worker that does not answer is left alone. */
    static int use(WorkerConnections connections, List<Long> blocks) throws IOException {
        int there = 0;
        for (WorkerNetAddress worker : connections.list().here()) {
            for (long block : blocks) {
                there += askIfThere(connections, worker, block) != null ? 1 : 0;
            }
        }
        return there;
    }

    /** Null: the worker does not have it. */
    private static @Nullable Path askIfThere(WorkerConnections connections, WorkerNetAddress worker, long block)
            throws IOException {
        try {
            return ask(connections, worker, block);
        } catch (IOException e) {
            if (e.getCause() instanceof ExecutionException && !ErrnoTable.isUnanswered(e)) {
                return null;
            }
            throw e;
        }
    }

    private static @Nullable Path ask(WorkerConnections connections, WorkerNetAddress worker, long blockId)
            throws IOException {
        CompletableFuture<String> answer = new CompletableFuture<>();
        try (WorkerConnection.Use use = connections.of(worker).use(null, TimeUnit.SECONDS.toNanos(ANSWER_SECONDS))) {
            StreamObserver<OpenLocalBlockRequest> question = BlockWorkerGrpc.newStub(use.channel)
                    .withExecutor(Runnable::run)
                    .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                    .openLocalBlock(new Answer(answer));
            question.onNext(OpenLocalBlockRequest.newBuilder()
                    .setBlockId(blockId)
                    .setPromote(false)
                    .build());
            try {
                String file = answer.get(ANSWER_SECONDS, TimeUnit.SECONDS);
                question.onCompleted();
                return Path.of(file).getParent();
            } catch (ExecutionException | TimeoutException e) {
                use.failed(e);
                throw new IOException("Worker " + worker.getHost() + " did not return the path of block " + blockId, e);
            }
        } catch (InvalidPathException e) {
            throw new IOException("Worker " + worker.getHost() + " returned no path for block " + blockId, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted", e);
        }
    }

    /** Takes the one answer. */
    private record Answer(CompletableFuture<String> path) implements StreamObserver<OpenLocalBlockResponse> {
        @Override
        public void onNext(OpenLocalBlockResponse response) {
            path.complete(response.getPath());
        }

        @Override
        public void onError(Throwable failure) {
            path.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            path.completeExceptionally(new IOException("The worker ended the stream"));
        }
    }
}

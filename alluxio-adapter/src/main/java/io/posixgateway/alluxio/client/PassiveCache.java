package io.posixgateway.alluxio.client;

import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.CacheRequest;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.jni.UnpinnedThread;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a worker fetch a block that was read elsewhere: the worker on this host, where there is one, else the one that read the block from the
 * under file system. Nobody waits for it, and what is too much is left undone. Any thread.
 */
final class PassiveCache implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PassiveCache.class);
    private static final int MAX_WAITING = 256;
    private static final int IDLE_SECONDS = 10;
    private static final int ANSWER_SECONDS = 8;

    private final WorkerConnections connections;
    private final WorkerHealth watch;
    private final ThreadPoolExecutor sender = new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            task -> new UnpinnedThread(task, "passive-cache"),
            new ThreadPoolExecutor.DiscardPolicy());

    PassiveCache(WorkerConnections connections, WorkerHealth watch) {
        this.connections = connections;
        this.watch = watch;
        sender.allowCoreThreadTimeOut(true);
    }

    /**
     * A block was read. Does not wait.
     *
     * @param request but for where to fetch the block from
     * @param toHere may the worker on this host fetch it?
     * @param isWanted asked on another thread before the request is sent
     */
    void fetch(CacheRequest.Builder request, ReadWorkerSelector.Place place, boolean toHere, BooleanSupplier isWanted) {
        sender.execute(() -> {
            try {
                WorkerNetAddress fetching = fetching(place, toHere);
                if (fetching != null
                        && isWanted.getAsBoolean()
                        && !watch.of(fetching).hangs()) {
                    send(fetching, from(place.address(), request));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException
                    | RuntimeException
                    | LinkageError e) { // Alluxio logs some with a class that is not there
                LOG.debug("No worker fetches block {}: {}", request.getBlockId(), e.toString());
            }
        });
    }

    /** Null: none does. */
    private @Nullable WorkerNetAddress fetching(ReadWorkerSelector.Place place, boolean toHere) throws IOException {
        WorkerNetAddress here = toHere ? connections.list().local() : null;
        if (place.fromUfs()) {
            return here == null ? place.address() : here;
        }
        return connections.list().isNodeLocal(place.address()) ? null : here;
    }

    private static CacheRequest from(WorkerNetAddress source, CacheRequest.Builder request) {
        boolean inContainer = !source.getContainerHost().isEmpty();
        return request.setSourceHost(inContainer ? source.getContainerHost() : source.getHost())
                .setSourcePort(source.getDataPort())
                .setAsync(true)
                .build();
    }

    private void send(WorkerNetAddress worker, CacheRequest request) throws IOException, InterruptedException {
        try (WorkerConnection.Use use = connections.of(worker).use(null, TimeUnit.SECONDS.toNanos(ANSWER_SECONDS))) {
            var unused = BlockWorkerGrpc.newBlockingStub(use.channel)
                    .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                    .cache(request);
        }
    }

    @Override
    public void close() {
        sender.shutdownNow();
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The workers of a volume, and the connections to them, which are opened when they are needed. Those to workers that are gone are closed when
 * another worker is connected to: where each that starts has another address, as in Kubernetes, they do not become more. Any thread.
 */
final class WorkerConnections implements AutoCloseable {
    private final FileSystemContext context;
    private final WorkerList list;
    private final Clock clock;
    private final ConcurrentMap<WorkerNetAddress, WorkerConnection> workers = new ConcurrentHashMap<>();
    private volatile boolean closed;

    WorkerConnections(FileSystemContext context, WorkerList list, Clock clock) {
        this.context = context;
        this.list = list;
        this.clock = clock;
    }

    FileSystemContext context() {
        return context;
    }

    WorkerList list() {
        return list;
    }

    WorkerConnection of(WorkerNetAddress worker) {
        WorkerConnection known = workers.get(worker);
        if (known == null) {
            closeUnused();
            known = workers.computeIfAbsent(
                    worker,
                    address -> new WorkerConnection(context, address, ClientProperties.streamingThreads(), clock));
            if (closed) {
                known.close();
            }
        }
        return known;
    }

    /** Calls in flight end by themselves. */
    private void closeUnused() {
        workers.forEach((address, connection) -> {
            if (list.isGone(address) && workers.remove(address, connection)) {
                connection.close();
            }
        });
    }

    /** How many workers there are connections to, or were. */
    int size() {
        return workers.size();
    }

    /** No call begins any more. */
    @Override
    public void close() {
        closed = true;
        workers.values().forEach(WorkerConnection::close);
    }
}

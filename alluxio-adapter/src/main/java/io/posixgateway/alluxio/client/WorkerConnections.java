package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.time.Clock;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The workers of a volume, and the connections to them, which are opened when they are needed. Any thread. */
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
            known = workers.computeIfAbsent(
                    worker,
                    address -> new WorkerConnection(context, address, ClientProperties.streamingThreads(), clock));
            if (closed) {
                known.close();
            }
        }
        return known;
    }

    /** No call begins any more. */
    @Override
    public void close() {
        closed = true;
        workers.values().forEach(WorkerConnection::close);
    }
}

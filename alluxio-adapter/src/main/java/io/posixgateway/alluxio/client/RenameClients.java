package io.posixgateway.alluxio.client;

import alluxio.AbstractMasterClient;
import alluxio.AlluxioURI;
import alluxio.Constants;
import alluxio.client.file.FileSystemContext;
import alluxio.exception.status.AlluxioStatusException;
import alluxio.exception.status.UnavailableException;
import alluxio.grpc.FileSystemMasterClientServiceGrpc;
import alluxio.grpc.FileSystemMasterClientServiceGrpc.FileSystemMasterClientServiceBlockingStub;
import alluxio.grpc.RenamePOptions;
import alluxio.grpc.RenamePRequest;
import alluxio.grpc.ServiceType;
import alluxio.master.MasterClientContext;
import alluxio.retry.CountingRetry;
import alluxio.util.FileSystemOptionsUtils;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections to Alluxio's master for renames that are sent at most once; what Alluxio's own client is not answered it sends again by
 * itself. They are made when they are needed, and kept. Any thread; waits.
 */
final class RenameClients implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RenameClients.class);

    private final FileSystemContext context;
    private final Deque<Connection> idle = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    RenameClients(FileSystemContext context) {
        this.context = context;
    }

    /** One call at a time. */
    private static final class Connection extends AbstractMasterClient {
        private @Nullable FileSystemMasterClientServiceBlockingStub stub;

        private Connection(MasterClientContext context) {
            super(context, () -> new CountingRetry(0));
        }

        @Override
        protected ServiceType getRemoteServiceType() {
            return ServiceType.FILE_SYSTEM_MASTER_CLIENT_SERVICE;
        }

        @Override
        protected String getServiceName() {
            return Constants.FILE_SYSTEM_MASTER_CLIENT_SERVICE_NAME;
        }

        @Override
        protected long getServiceVersion() {
            return Constants.FILE_SYSTEM_MASTER_CLIENT_SERVICE_VERSION;
        }

        @Override
        protected void afterConnect() {
            stub = FileSystemMasterClientServiceGrpc.newBlockingStub(mChannel);
        }

        private void rename(RenamePRequest request) throws AlluxioStatusException {
            retryRPC(() -> Objects.requireNonNull(stub).rename(request), LOG, "Rename", "%s", request);
        }
    }

    /**
     * Sends it once; again only where the master did not look at it, as it does not know the connection.
     *
     * @throws UnavailableException nobody answered; also where it was not sent, as no connection could be made
     */
    void rename(AlluxioURI from, AlluxioURI to, RenamePOptions options) throws AlluxioStatusException {
        RenamePOptions defaults = FileSystemOptionsUtils.renameDefaults(context.getClusterConf());
        RenamePRequest request = RenamePRequest.newBuilder()
                .setPath(from.getPath())
                .setDstPath(to.getPath())
                .setOptions(defaults.toBuilder().mergeFrom(options))
                .build();
        Connection kept = idle.poll();
        Connection connection = kept == null ? new Connection(context.getMasterClientContext()) : kept;
        try {
            send(connection, request);
        } finally {
            idle.push(connection);
            if (closed) {
                close();
            }
        }
    }

    private static void send(Connection connection, RenamePRequest request) throws AlluxioStatusException {
        try {
            connection.rename(request);
        } catch (UnavailableException e) {
            if (!ErrnoTable.isUnauthenticated(e)) {
                throw e;
            }
            // A master that began since the connection was made refused it before anything was done.
            connection.rename(request);
        }
    }

    @Override
    public void close() {
        closed = true;
        for (Connection connection = idle.poll(); connection != null; connection = idle.poll()) {
            connection.close();
        }
    }
}

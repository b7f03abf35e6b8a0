package io.posixgateway.alluxio.client;

import static java.util.Objects.requireNonNull;

import alluxio.AbstractMasterClient;
import alluxio.Constants;
import alluxio.grpc.FileSystemMasterClientServiceGrpc;
import alluxio.grpc.FileSystemMasterClientServiceGrpc.FileSystemMasterClientServiceBlockingStub;
import alluxio.grpc.ServiceType;
import alluxio.grpc.SubmitJobPRequest;
import alluxio.master.MasterClientContext;
import alluxio.shaded.client.com.google.protobuf.ByteString;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection to the master, to have it load a path; see {@link LoadRequest} for why the client's own will not do. */
final class LoadClient extends AbstractMasterClient {
    private static final Logger LOG = LoggerFactory.getLogger(LoadClient.class);

    private @Nullable FileSystemMasterClientServiceBlockingStub stub;

    LoadClient(MasterClientContext context) {
        super(context);
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

    /** True: it begins; false: the master has one of this path already, which goes on. */
    boolean load(String path) throws IOException {
        SubmitJobPRequest request = SubmitJobPRequest.newBuilder()
                .setRequestBody(ByteString.copyFrom(LoadRequest.bytes(path)))
                .build();
        return retryRPC(() -> requireNonNull(stub).submitJob(request), LOG, "SubmitJob", "path=%s", path)
                .hasJobId();
    }
}

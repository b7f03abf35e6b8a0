package io.posixgateway.alluxio.client;

import alluxio.conf.Configuration;
import alluxio.conf.PropertyKey;
import alluxio.grpc.BlockMasterClientServiceGrpc;
import alluxio.grpc.CompleteFilePRequest;
import alluxio.grpc.CompleteFilePResponse;
import alluxio.grpc.ConfigProperty;
import alluxio.grpc.CreateDirectoryPRequest;
import alluxio.grpc.CreateDirectoryPResponse;
import alluxio.grpc.DeletePRequest;
import alluxio.grpc.DeletePResponse;
import alluxio.grpc.FileInfo;
import alluxio.grpc.FileSystemMasterClientServiceGrpc;
import alluxio.grpc.GetConfigurationPOptions;
import alluxio.grpc.GetConfigurationPResponse;
import alluxio.grpc.GetServiceVersionPRequest;
import alluxio.grpc.GetServiceVersionPResponse;
import alluxio.grpc.GetStatusPRequest;
import alluxio.grpc.GetStatusPResponse;
import alluxio.grpc.GetWorkerInfoListPOptions;
import alluxio.grpc.GetWorkerInfoListPResponse;
import alluxio.grpc.GrpcUtils;
import alluxio.grpc.ListStatusPartialPRequest;
import alluxio.grpc.ListStatusPartialPResponse;
import alluxio.grpc.MetaMasterConfigurationServiceGrpc;
import alluxio.grpc.RenamePRequest;
import alluxio.grpc.RenamePResponse;
import alluxio.grpc.SaslAuthenticationServiceGrpc;
import alluxio.grpc.SaslMessage;
import alluxio.grpc.ServiceVersionClientServiceGrpc;
import alluxio.grpc.SetAttributePRequest;
import alluxio.grpc.SetAttributePResponse;
import alluxio.grpc.WorkerInfo;
import alluxio.shaded.client.com.google.protobuf.Message;
import alluxio.shaded.client.io.grpc.Context;
import alluxio.shaded.client.io.grpc.Deadline;
import alluxio.shaded.client.io.grpc.Server;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.shaded.client.io.grpc.netty.NettyServerBuilder;
import alluxio.shaded.client.io.grpc.stub.ServerCallStreamObserver;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A master of Alluxio, over gRPC, that accepts no login, so clients are without one, and that answers a few calls as a test says. */
final class FalseMaster implements AutoCloseable {
    private final Server server;
    /** What it was asked, but for its settings and versions. */
    final List<Message> requests = new CopyOnWriteArrayList<>();

    final AtomicInteger cancelled = new AtomicInteger();
    /** Those that it knows, from the first time on that it is asked. */
    final List<WorkerNetAddress> workers = new CopyOnWriteArrayList<>();

    final AtomicInteger logins = new AtomicInteger();
    final AtomicInteger workerRequests = new AtomicInteger();
    /** Of what it was asked, but for its settings and versions; empty: there was none. */
    final Queue<Optional<Deadline>> deadlines = new ConcurrentLinkedQueue<>();

    private volatile FileInfo file = FileInfo.getDefaultInstance();
    private volatile boolean leads;
    private volatile boolean frozen;
    private final AtomicInteger versionRequests = new AtomicInteger();
    private volatile Answering answering = number -> Status.OK;
    private volatile Answering answeringVersions = number -> leads ? Status.OK : Status.NOT_FOUND;

    /** How it answers. */
    @FunctionalInterface
    interface Answering {
        /**
         * @param number of the request, from 1 on
         * @return null: never
         */
        @Nullable
        Status to(int number);
    }

    FalseMaster(boolean leads) throws IOException {
        this.leads = leads;
        this.server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Versions())
                .addService(new Settings())
                .addService(new Files())
                .addService(new Blocks())
                .addService(new Logins())
                .build()
                .start();
    }

    String address() {
        return "127.0.0.1:" + server.getPort();
    }

    void lead() {
        leads = true;
    }

    /** From now on it serves nothing but what a standby does, on the same connections. */
    void stepDown() {
        leads = false;
        answering = number -> Status.UNIMPLEMENTED;
    }

    /** From now on it responds to nothing, as one that is stopped, though its connections stay. */
    void freeze() {
        frozen = true;
    }

    void answer(Answering how) {
        answering = how;
    }

    /** What it says of any path, where it says that something is there. */
    void has(FileInfo info) {
        file = info;
    }

    /** How it answers who connects. */
    void answerVersions(Answering how) {
        answeringVersions = how;
    }

    private <T> void reply(Message request, StreamObserver<T> responses, T response) {
        requests.add(request);
        deadlines.add(Optional.ofNullable(Context.current().getDeadline()));
        ((ServerCallStreamObserver<T>) responses).setOnCancelHandler(cancelled::incrementAndGet);
        Status status = frozen ? null : answering.to(requests.size());
        if (status != null && status.isOk()) {
            responses.onNext(response);
            responses.onCompleted();
        } else if (status != null) {
            responses.onError(status.asException());
        }
    }

    private final class Versions extends ServiceVersionClientServiceGrpc.ServiceVersionClientServiceImplBase {
        @Override
        public void getServiceVersion(
                GetServiceVersionPRequest request, StreamObserver<GetServiceVersionPResponse> responses) {
            if (frozen) {
                return;
            }
            Status status = answeringVersions.to(versionRequests.incrementAndGet());
            if (status != null && status.isOk()) {
                responses.onNext(
                        GetServiceVersionPResponse.newBuilder().setVersion(2).build());
                responses.onCompleted();
            } else if (status != null) {
                responses.onError(status.asException());
            }
        }
    }

    private static final class Settings
            extends MetaMasterConfigurationServiceGrpc.MetaMasterConfigurationServiceImplBase {
        @Override
        public void getConfiguration(
                GetConfigurationPOptions request, StreamObserver<GetConfigurationPResponse> responses) {
            GetConfigurationPResponse.Builder response = GetConfigurationPResponse.newBuilder();
            for (PropertyKey needed : List.of(PropertyKey.VERSION, PropertyKey.UNDERFS_VERSION)) {
                String value = Configuration.getString(needed);
                response.addClusterConfigs(
                        ConfigProperty.newBuilder().setName(needed.getName()).setValue(value));
            }
            responses.onNext(response.build());
            responses.onCompleted();
        }
    }

    private final class Files extends FileSystemMasterClientServiceGrpc.FileSystemMasterClientServiceImplBase {
        @Override
        public void getStatus(GetStatusPRequest request, StreamObserver<GetStatusPResponse> responses) {
            reply(
                    request,
                    responses,
                    GetStatusPResponse.newBuilder().setFileInfo(file).build());
        }

        @Override
        public void listStatusPartial(
                ListStatusPartialPRequest request, StreamObserver<ListStatusPartialPResponse> responses) {
            reply(request, responses, ListStatusPartialPResponse.getDefaultInstance());
        }

        @Override
        public void rename(RenamePRequest request, StreamObserver<RenamePResponse> responses) {
            reply(request, responses, RenamePResponse.getDefaultInstance());
        }

        @Override
        public void createDirectory(
                CreateDirectoryPRequest request, StreamObserver<CreateDirectoryPResponse> responses) {
            reply(request, responses, CreateDirectoryPResponse.getDefaultInstance());
        }

        @Override
        public void completeFile(CompleteFilePRequest request, StreamObserver<CompleteFilePResponse> responses) {
            reply(request, responses, CompleteFilePResponse.getDefaultInstance());
        }

        @Override
        public void remove(DeletePRequest request, StreamObserver<DeletePResponse> responses) {
            reply(request, responses, DeletePResponse.getDefaultInstance());
        }

        @Override
        public void setAttribute(SetAttributePRequest request, StreamObserver<SetAttributePResponse> responses) {
            reply(request, responses, SetAttributePResponse.getDefaultInstance());
        }
    }

    private final class Blocks extends BlockMasterClientServiceGrpc.BlockMasterClientServiceImplBase {
        @Override
        public void getWorkerInfoList(
                GetWorkerInfoListPOptions request, StreamObserver<GetWorkerInfoListPResponse> responses) {
            workerRequests.incrementAndGet();
            deadlines.add(Optional.ofNullable(Context.current().getDeadline()));
            if (frozen) {
                return;
            }
            GetWorkerInfoListPResponse.Builder response = GetWorkerInfoListPResponse.newBuilder();
            for (WorkerNetAddress worker : workers) {
                response.addWorkerInfos(WorkerInfo.newBuilder()
                        .setAddress(GrpcUtils.toProto(worker))
                        .setCapacityBytes(1 << 30)
                        .setUsedBytes(0));
            }
            responses.onNext(response.build());
            responses.onCompleted();
        }
    }

    private final class Logins extends SaslAuthenticationServiceGrpc.SaslAuthenticationServiceImplBase {
        @Override
        public StreamObserver<SaslMessage> authenticate(StreamObserver<SaslMessage> responses) {
            logins.incrementAndGet();
            responses.onError(
                    Status.UNAUTHENTICATED.withDescription("wrong password").asException());
            return new StreamObserver<>() {
                @Override
                public void onNext(SaslMessage message) {}

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {}
            };
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
    }
}

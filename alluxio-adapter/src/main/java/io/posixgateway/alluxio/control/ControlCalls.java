package io.posixgateway.alluxio.control;

import com.google.protobuf.Message;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.posixgateway.alluxio.service.Directories;
import io.posixgateway.alluxio.service.GatewayService;
import io.posixgateway.alluxio.service.Logging;
import io.posixgateway.alluxio.service.ServiceException;
import io.posixgateway.alluxio.service.Volume;
import io.posixgateway.alluxio.service.VolumeStats;

/** Each call of the control API: asks the service, turns answers into messages and failures into gRPC codes. */
final class ControlCalls extends ControlGrpc.ControlImplBase {
    private final GatewayService service;
    private final Directories directories;

    ControlCalls(GatewayService service, Directories directories) {
        this.service = service;
        this.directories = directories;
    }

    private interface Call<T extends Message> {
        T answer() throws ServiceException;
    }

    private static <T extends Message> void run(StreamObserver<T> observer, Call<T> call) {
        T answer;
        try {
            answer = call.answer();
        } catch (ServiceException | RuntimeException e) {
            observer.onError(Codes.statusOf(e).asRuntimeException());
            return;
        }
        observer.onNext(answer);
        observer.onCompleted();
    }

    @Override
    public void info(InfoRequest request, StreamObserver<InfoReply> observer) {
        run(observer, () -> InfoReply.newBuilder()
                .setVersion(service.version())
                .setReady(service.ready())
                .setVolumes(service.volumes().all().size())
                .setPid(ProcessHandle.current().pid())
                .build());
    }

    @Override
    public void attach(AttachRequest request, StreamObserver<AttachReply> observer) {
        run(observer, () -> AttachReply.newBuilder()
                .setSessionLine(service.volumes().attach(request).session().line())
                .build());
    }

    @Override
    public void detach(DetachRequest request, StreamObserver<DetachReply> observer) {
        run(observer, () -> {
            service.volumes().detach(request.getVolume());
            return DetachReply.getDefaultInstance();
        });
    }

    @Override
    public void list(ListRequest request, StreamObserver<ListReply> observer) {
        run(observer, () -> {
            ListReply.Builder reply = ListReply.newBuilder();
            for (Volume volume : service.volumes().all()) {
                AttachRequest attached = volume.request();
                reply.addVolumes(io.posixgateway.alluxio.control.Volume.newBuilder()
                        .setVolume(volume.name())
                        .setAlluxioPath(attached.getAlluxioPath())
                        .setMasters(attached.getCluster().getMasters())
                        .setTransport(volume.session().transportName())
                        .setReadOnly(attached.getReadOnly())
                        .setTakeovers(volume.takeovers()));
            }
            return reply.build();
        });
    }

    @Override
    public void stats(StatsRequest request, StreamObserver<StatsReply> observer) {
        run(observer, () -> {
            VolumeStats stats = service.volumes().named(request.getVolume()).stats();
            return StatsReply.newBuilder()
                    .setCapacityBytes(stats.capacityBytes())
                    .setUsedBytes(stats.usedBytes())
                    .setAvailableBytes(stats.availableBytes())
                    .setHealthy(stats.condition().isEmpty())
                    .setCondition(stats.condition())
                    .setAgeMs(stats.ageMillis())
                    .build();
        });
    }

    @Override
    public void warmup(WarmupRequest request, StreamObserver<WarmupProgress> observer) {
        WarmupCount count = new WarmupCount((ServerCallStreamObserver<WarmupProgress>) observer);
        run(observer, () -> {
            service.volumes().named(request.getVolume()).warm(request.getPath(), request.getData(), count);
            return count.message(true);
        });
    }

    @Override
    public void invalidate(InvalidateRequest request, StreamObserver<InvalidateReply> observer) {
        run(observer, () -> InvalidateReply.newBuilder()
                .setEntries(service.volumes().named(request.getVolume()).invalidate(request.getPath()))
                .build());
    }

    @Override
    public void setLogLevel(SetLogLevelRequest request, StreamObserver<SetLogLevelReply> observer) {
        run(observer, () -> {
            Logging.setLevel(request.getLogger(), request.getLevel());
            return SetLogLevelReply.getDefaultInstance();
        });
    }

    @Override
    public void drain(DrainRequest request, StreamObserver<DrainReply> observer) {
        run(observer, () -> DrainReply.newBuilder().setVolumes(service.drain()).build());
    }

    @Override
    public void makeDirectory(DirectoryRequest request, StreamObserver<DirectoryReply> observer) {
        run(observer, () -> changed(directories.make(request.getCluster(), request.getPath(), request.getMode())));
    }

    @Override
    public void removeDirectory(DirectoryRequest request, StreamObserver<DirectoryReply> observer) {
        run(
                observer,
                () -> changed(directories.remove(request.getCluster(), request.getPath(), request.getRecursive())));
    }

    @Override
    public void renameDirectory(RenameDirectoryRequest request, StreamObserver<DirectoryReply> observer) {
        run(observer, () -> changed(directories.rename(request.getCluster(), request.getPath(), request.getNewPath())));
    }

    @Override
    public void listDirectory(DirectoryRequest request, StreamObserver<ListDirectoryReply> observer) {
        run(observer, () -> {
            ListDirectoryReply.Builder reply = ListDirectoryReply.newBuilder();
            for (Directories.Entry entry : directories.list(request.getCluster(), request.getPath())) {
                reply.addEntries(ListDirectoryReply.Entry.newBuilder()
                        .setName(entry.name())
                        .setDirectory(entry.directory()));
            }
            return reply.build();
        });
    }

    private static DirectoryReply changed(boolean changed) {
        return DirectoryReply.newBuilder().setChanged(changed).build();
    }
}

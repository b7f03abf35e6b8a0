package io.posixgateway.alluxio.control;

import com.google.protobuf.Message;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.posixgateway.alluxio.control.LongCalls.Kind;
import io.posixgateway.alluxio.control.proto.AccessLines;
import io.posixgateway.alluxio.control.proto.AttachReply;
import io.posixgateway.alluxio.control.proto.AttachRequest;
import io.posixgateway.alluxio.control.proto.ControlGrpc;
import io.posixgateway.alluxio.control.proto.DetachReply;
import io.posixgateway.alluxio.control.proto.DetachRequest;
import io.posixgateway.alluxio.control.proto.DiagnoseReply;
import io.posixgateway.alluxio.control.proto.DiagnoseRequest;
import io.posixgateway.alluxio.control.proto.DirectoryReply;
import io.posixgateway.alluxio.control.proto.DirectoryRequest;
import io.posixgateway.alluxio.control.proto.DrainReply;
import io.posixgateway.alluxio.control.proto.DrainRequest;
import io.posixgateway.alluxio.control.proto.FollowAccessesRequest;
import io.posixgateway.alluxio.control.proto.InfoReply;
import io.posixgateway.alluxio.control.proto.InfoRequest;
import io.posixgateway.alluxio.control.proto.InvalidateReply;
import io.posixgateway.alluxio.control.proto.InvalidateRequest;
import io.posixgateway.alluxio.control.proto.ListDirectoryReply;
import io.posixgateway.alluxio.control.proto.ListReply;
import io.posixgateway.alluxio.control.proto.ListRequest;
import io.posixgateway.alluxio.control.proto.MetricsReply;
import io.posixgateway.alluxio.control.proto.MetricsRequest;
import io.posixgateway.alluxio.control.proto.PathInfoReply;
import io.posixgateway.alluxio.control.proto.PathInfoRequest;
import io.posixgateway.alluxio.control.proto.RenameDirectoryRequest;
import io.posixgateway.alluxio.control.proto.SetAccessLogReply;
import io.posixgateway.alluxio.control.proto.SetAccessLogRequest;
import io.posixgateway.alluxio.control.proto.SetLogLevelReply;
import io.posixgateway.alluxio.control.proto.SetLogLevelRequest;
import io.posixgateway.alluxio.control.proto.StatsReply;
import io.posixgateway.alluxio.control.proto.StatsRequest;
import io.posixgateway.alluxio.control.proto.SyncProgress;
import io.posixgateway.alluxio.control.proto.SyncRequest;
import io.posixgateway.alluxio.control.proto.WarmupProgress;
import io.posixgateway.alluxio.control.proto.WarmupRequest;
import io.posixgateway.alluxio.gateway.AccessLog;
import io.posixgateway.alluxio.gateway.Directories;
import io.posixgateway.alluxio.gateway.Gateway;
import io.posixgateway.alluxio.gateway.Logging;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.alluxio.gateway.ServiceException;
import io.posixgateway.alluxio.gateway.SupportBundle;
import io.posixgateway.alluxio.gateway.VolumeStats;
import io.posixgateway.alluxio.gateway.Warmup;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * Each call of the control API: asks the service, turns answers into messages and failures into gRPC codes. What may wait is run on the
 * threads of its kind.
 */
final class ControlCalls extends ControlGrpc.ControlImplBase {
    private static final long SHOWN_LISTING_NANOS = 1_000_000_000L;

    private final Gateway service;
    private final @Nullable Directories directories;
    private final LongCalls longCalls;

    /** @param directories null: work on directories is not offered here */
    ControlCalls(Gateway service, @Nullable Directories directories, LongCalls longCalls) {
        this.longCalls = longCalls;
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
        } catch (ServiceException | RuntimeException | Error e) {
            observer.onError(Codes.statusOf(e).asRuntimeException());
            return;
        }
        observer.onNext(answer);
        observer.onCompleted();
    }

    /** Runs a call that may wait; a caller that goes away meanwhile is no failure. */
    private <T extends Message> void start(Kind kind, StreamObserver<T> observer, Call<T> call) {
        ((ServerCallStreamObserver<T>) observer).setOnCancelHandler(() -> {});
        if (!longCalls.start(kind, () -> run(observer, call))) {
            observer.onError(
                    Status.UNAVAILABLE.withDescription(LongCalls.busy(kind)).asRuntimeException());
        }
    }

    @Override
    public void info(InfoRequest request, StreamObserver<InfoReply> observer) {
        run(observer, () -> InfoReply.newBuilder()
                .setVersion(service.version())
                .setReady(service.ready())
                .setVolumes(service.all().size())
                .setPid(ProcessHandle.current().pid())
                .build());
    }

    @Override
    public void attach(AttachRequest request, StreamObserver<AttachReply> observer) {
        start(Kind.ATTACH, observer, () -> AttachReply.newBuilder()
                .setSessionLine(service.attach(request).session().line())
                .build());
    }

    @Override
    public void detach(DetachRequest request, StreamObserver<DetachReply> observer) {
        start(Kind.DETACH, observer, () -> {
            service.detach(request.getVolume());
            return DetachReply.getDefaultInstance();
        });
    }

    @Override
    public void list(ListRequest request, StreamObserver<ListReply> observer) {
        run(observer, () -> {
            ListReply.Builder reply = ListReply.newBuilder();
            for (ServedVolume volume : service.all()) {
                AttachRequest attached = volume.request();
                reply.addVolumes(io.posixgateway.alluxio.control.proto.Volume.newBuilder()
                        .setVolume(volume.name())
                        .setAlluxioPath(attached.getAlluxioPath())
                        .setMasters(attached.getCluster().getMasters())
                        .setTransport(volume.session().transportName())
                        .setReadOnly(attached.getReadOnly())
                        .setTakeovers(volume.takeovers())
                        .setDeviceMinor(volume.session().kernelConnection().number())
                        .setSessionLine(volume.session().line()));
            }
            return reply.build();
        });
    }

    @Override
    public void stats(StatsRequest request, StreamObserver<StatsReply> observer) {
        run(observer, () -> {
            VolumeStats stats = service.named(request.getVolume()).stats();
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
        WarmupCount count = new WarmupCount((ServerCallStreamObserver<WarmupProgress>) observer, request.getNode());
        start(Kind.WARMUP, observer, () -> {
            ServedVolume volume = service.named(request.getVolume());
            Warmup.Data data = request.getNode() ? Warmup.Data.NODE : Warmup.Data.WORKERS;
            if (request.getCheck()) {
                volume.checkWarm(request.getPath(), data, count);
            } else {
                volume.warm(request.getPath(), request.getData() ? data : Warmup.Data.NOWHERE, count);
            }
            return count.last();
        });
    }

    @Override
    public void sync(SyncRequest request, StreamObserver<SyncProgress> observer) {
        SyncReports reports = new SyncReports((ServerCallStreamObserver<SyncProgress>) observer);
        start(Kind.SYNC, observer, () -> {
            service.named(request.getVolume()).sync(request.getPath(), reports);
            return reports.last();
        });
    }

    @Override
    public void pathInfo(PathInfoRequest request, StreamObserver<PathInfoReply> observer) {
        start(Kind.PATH, observer, () -> {
            ServedVolume volume = service.named(request.getVolume());
            PathInfoReply.Builder reply = PathInfoReplies.of(
                    volume.inspect(request.getPath()),
                    volume.details().spool().aside().items(),
                    new PathInfoReplies.Running(
                            volume.store().listings(SHOWN_LISTING_NANOS),
                            volume.store().copies(SHOWN_LISTING_NANOS),
                            volume.details().renames().present()));
            return reply.addAllBudgets(BudgetLines.of(volume.details(), service.memory()))
                    .build();
        });
    }

    @Override
    public void setAccessLog(SetAccessLogRequest request, StreamObserver<SetAccessLogReply> observer) {
        run(observer, () -> SetAccessLogReply.newBuilder()
                .setFile(service.named(request.getVolume())
                        .accessLog()
                        .toFile(request.getOn())
                        .toString())
                .build());
    }

    /** On a thread of its own: it lasts as long as the caller wants, and calls are few. */
    @Override
    public void followAccesses(FollowAccessesRequest request, StreamObserver<AccessLines> observer) {
        AccessLog.Follower follower;
        try {
            follower = service.named(request.getVolume()).accessLog().follow();
        } catch (ServiceException e) {
            observer.onError(Codes.statusOf(e).asRuntimeException());
            return;
        }
        Thread thread =
                new Thread(new AccessStream(follower, (ServerCallStreamObserver<AccessLines>) observer), "accesses");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void metrics(MetricsRequest request, StreamObserver<MetricsReply> observer) {
        run(observer, () -> {
            try {
                return MetricsReply.newBuilder().setText(service.metrics()).build();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Override
    public void diagnose(DiagnoseRequest request, StreamObserver<DiagnoseReply> observer) {
        start(Kind.DIAGNOSE, observer, () -> DiagnoseReply.newBuilder()
                .putAllTexts(new SupportBundle(service).texts())
                .build());
    }

    @Override
    public void invalidate(InvalidateRequest request, StreamObserver<InvalidateReply> observer) {
        start(Kind.INVALIDATE, observer, () -> InvalidateReply.newBuilder()
                .setEntries(service.named(request.getVolume()).invalidate(request.getPath()))
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
        start(Kind.DRAIN, observer, () -> DrainReply.newBuilder()
                .setVolumes(service.drain())
                .build());
    }

    @Override
    public void makeDirectory(DirectoryRequest request, StreamObserver<DirectoryReply> observer) {
        start(
                Kind.DIRECTORY,
                observer,
                () -> changed(directories()
                        .make(request.getCluster(), request.getPath(), request.getMode(), request.getVolume())));
    }

    @Override
    public void removeDirectory(DirectoryRequest request, StreamObserver<DirectoryReply> observer) {
        start(
                Kind.DIRECTORY,
                observer,
                () -> changed(directories()
                        .remove(request.getCluster(), request.getPath(), request.getRecursive(), request.getVolume())));
    }

    @Override
    public void renameDirectory(RenameDirectoryRequest request, StreamObserver<DirectoryReply> observer) {
        start(
                Kind.DIRECTORY,
                observer,
                () -> changed(directories()
                        .rename(request.getCluster(), request.getPath(), request.getNewPath(), request.getVolume())));
    }

    @Override
    public void listDirectory(DirectoryRequest request, StreamObserver<ListDirectoryReply> observer) {
        start(Kind.DIRECTORY, observer, () -> {
            ListDirectoryReply.Builder reply = ListDirectoryReply.newBuilder();
            for (Directories.Entry entry : directories().list(request.getCluster(), request.getPath())) {
                reply.addEntries(ListDirectoryReply.Entry.newBuilder()
                        .setName(entry.name())
                        .setDirectory(entry.directory()));
            }
            return reply.build();
        });
    }

    private Directories directories() throws ServiceException {
        if (directories == null) {
            throw new ServiceException(
                    ServiceException.Kind.PRECONDITION, "this process serves a single mount; use posix-gateway serve");
        }
        return directories;
    }

    private static DirectoryReply changed(boolean changed) {
        return DirectoryReply.newBuilder().setChanged(changed).build();
    }
}

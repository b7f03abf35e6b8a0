package io.posixgateway.alluxio.control;

import io.grpc.stub.ServerCallStreamObserver;
import io.posixgateway.alluxio.control.proto.SyncProgress;
import io.posixgateway.alluxio.gateway.Sync;

/** Sends a caller how far a comparison is; ends it when the caller has gone. One thread. */
final class SyncReports implements Sync.Listener {
    private final ServerCallStreamObserver<SyncProgress> observer;
    private SyncProgress now = SyncProgress.getDefaultInstance();

    SyncReports(ServerCallStreamObserver<SyncProgress> observer) {
        this.observer = observer;
    }

    @Override
    public boolean compared(Sync.State state, long pathSeconds) {
        now = SyncProgress.newBuilder()
                .setDirectories(state.directories())
                .setEntries(state.entries())
                .setFailed(state.failed())
                .setFailure(state.failure())
                .setPath(state.path())
                .setPathSeconds(pathSeconds)
                .build();
        if (observer.isReady()) {
            observer.onNext(now);
        }
        return !observer.isCancelled();
    }

    SyncProgress last() {
        return now.toBuilder().setDone(true).build();
    }
}

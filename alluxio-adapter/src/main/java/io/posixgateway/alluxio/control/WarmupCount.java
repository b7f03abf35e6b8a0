package io.posixgateway.alluxio.control;

import io.grpc.stub.ServerCallStreamObserver;
import io.posixgateway.alluxio.service.WalkProgress;

/** Counts what a warm-up has done and tells the caller every so many entries; ends when the caller has gone. One thread. */
final class WarmupCount implements WalkProgress {
    private static final long TELL_EVERY = 1000;

    private final ServerCallStreamObserver<WarmupProgress> observer;
    private long entries;
    private long bytes;
    private long failed;

    WarmupCount(ServerCallStreamObserver<WarmupProgress> observer) {
        this.observer = observer;
    }

    @Override
    public boolean add(long bytesRead, boolean hasFailed) {
        entries++;
        bytes += bytesRead;
        failed += hasFailed ? 1 : 0;
        if (entries % TELL_EVERY == 0 && observer.isReady()) {
            observer.onNext(message(false));
        }
        return !observer.isCancelled();
    }

    WarmupProgress message(boolean done) {
        return WarmupProgress.newBuilder()
                .setEntries(entries)
                .setBytes(bytes)
                .setFailed(failed)
                .setDone(done)
                .build();
    }
}

package io.posixgateway.alluxio.control;

import io.grpc.stub.ServerCallStreamObserver;
import io.posixgateway.alluxio.control.proto.WarmupProgress;
import io.posixgateway.alluxio.gateway.Warmup;
import io.posixgateway.alluxio.store.LoadState;

/** Counts what a warm-up has done and tells the caller now and then; ends when the caller has gone. One thread. */
final class WarmupCount implements Warmup.Progress {
    private static final long TELL_EVERY = 100;

    private final ServerCallStreamObserver<WarmupProgress> observer;
    private final WarmupProgress.Builder now = WarmupProgress.newBuilder().setStep("metadata");

    /** @param node is data brought to this node? */
    WarmupCount(ServerCallStreamObserver<WarmupProgress> observer, boolean node) {
        this.observer = observer;
        now.setNode(node);
    }

    @Override
    public boolean entry(long bytes, long warmBytes, boolean failed) {
        now.setEntries(now.getEntries() + 1)
                .setTotalBytes(now.getTotalBytes() + bytes)
                .setBytes(now.getBytes() + warmBytes)
                .setFailed(now.getFailed() + (failed ? 1 : 0));
        return now.getEntries() % TELL_EVERY != 0 || tell();
    }

    /** The load counts only what is missing, and knows how much that is when it has seen all: then the rest was there. */
    @Override
    public boolean loading(LoadState state) {
        long there =
                state.done() && state.failure().isEmpty() ? Math.max(0, now.getTotalBytes() - state.totalBytes()) : 0;
        now.setStep("data").setBytes(Math.min(now.getTotalBytes(), there + state.loadedBytes()));
        if (state.done()) {
            now.setFailed(now.getFailed() + state.failedFiles());
        }
        return tell();
    }

    @Override
    public void lacksRoom(long bytes) {
        now.setNoRoomBytes(now.getNoRoomBytes() + bytes);
    }

    @Override
    public void failure(String why) {
        if (now.getFailure().isEmpty()) {
            now.setFailure(why);
        }
    }

    private boolean tell() {
        if (observer.isReady()) {
            observer.onNext(now.build());
        }
        return !observer.isCancelled();
    }

    WarmupProgress last() {
        return now.setDone(true).build();
    }
}

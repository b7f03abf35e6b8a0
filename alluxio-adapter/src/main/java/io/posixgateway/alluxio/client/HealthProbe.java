package io.posixgateway.alluxio.client;

import alluxio.grpc.BlockWorkerGrpc;
import alluxio.grpc.OpenLocalBlockRequest;
import alluxio.grpc.OpenLocalBlockResponse;
import alluxio.shaded.client.io.grpc.Channel;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks a worker for a block that nobody has: any answer shows that it lives. Waits for two seconds at most, for a connection, too. One that
 * brought no answer is not used again.
 */
final class HealthProbe implements WorkerHealth.Probe {
    private static final long ANSWER_NANOS = 2_000_000_000L;
    private static final OpenLocalBlockRequest NO_BLOCK = OpenLocalBlockRequest.newBuilder()
            .setBlockId(Long.MAX_VALUE)
            .setPromote(false)
            .build();

    private final WorkerConnections connections;
    private final Clock clock;

    HealthProbe(WorkerConnections connections, Clock clock) {
        this.connections = connections;
        this.clock = clock;
    }

    @Override
    public boolean isAlive(WorkerNetAddress worker) {
        long end = clock.nanos() + ANSWER_NANOS;
        try (WorkerConnection.Use use = connections.of(worker).use(null, ANSWER_NANOS)) {
            Answer answer = ask(use.channel);
            boolean answered = clock.await(answer.came, end - clock.nanos()) && !answer.unreached;
            if (!answered) {
                use.drop();
            }
            return answered;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true; // nothing is known
        } catch (IOException | RuntimeException e) {
            return !ErrnoTable.isUnanswered(e);
        }
    }

    @Override
    public boolean isGone(WorkerNetAddress worker) {
        return connections.list().isGone(worker);
    }

    private static Answer ask(Channel channel) {
        Answer answer = new Answer();
        StreamObserver<OpenLocalBlockRequest> request = BlockWorkerGrpc.newStub(channel)
                .withExecutor(Runnable::run)
                .withDeadlineAfter(ANSWER_NANOS, TimeUnit.NANOSECONDS)
                .openLocalBlock(answer);
        request.onNext(NO_BLOCK);
        request.onCompleted();
        return answer;
    }

    /** Hears it. */
    private static final class Answer implements StreamObserver<OpenLocalBlockResponse> {
        private final CountDownLatch came = new CountDownLatch(1);
        private volatile boolean unreached;

        @Override
        public void onNext(OpenLocalBlockResponse response) {
            came.countDown();
        }

        @Override
        public void onError(Throwable failure) {
            unreached = ErrnoTable.isUnanswered(failure);
            came.countDown();
        }

        @Override
        public void onCompleted() {
            came.countDown();
        }
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.block.stream.BlockWorkerClient;
import alluxio.client.file.FileSystemContext;
import alluxio.grpc.OpenLocalBlockRequest;
import alluxio.grpc.OpenLocalBlockResponse;
import alluxio.resource.CloseableResource;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/**
 * Asks a worker for a block that nobody has: any answer shows that it lives. Waits for two seconds at
 * most; a connection that has to be made first may take longer, so the question has a thread of its own.
 */
final class WorkerPulse implements WorkerWatch.Pulse {
    private static final long ANSWER_NANOS = 2_000_000_000L;
    private static final long NO_BLOCK = Long.MAX_VALUE;

    private final FileSystemContext context;
    private final Clock clock;

    WorkerPulse(FileSystemContext context, Clock clock) {
        this.context = context;
        this.clock = clock;
    }

    @Override
    public boolean beats(WorkerNetAddress worker) {
        Answer answer = new Answer();
        Thread thread = new Thread(() -> ask(worker, answer), "worker-pulse");
        thread.setDaemon(true);
        thread.start();
        try {
            return clock.await(answer.came, ANSWER_NANOS) && !answer.unreached;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true; // nothing is known
        } finally {
            thread.interrupt();
        }
    }

    /** Until it is interrupted. */
    private void ask(WorkerNetAddress worker, Answer answer) {
        try (CloseableResource<BlockWorkerClient> client = context.acquireBlockWorkerClient(worker)) {
            StreamObserver<OpenLocalBlockRequest> question = client.get().openLocalBlock(answer);
            question.onNext(OpenLocalBlockRequest.newBuilder()
                    .setBlockId(NO_BLOCK)
                    .setPromote(false)
                    .build());
            question.onCompleted();
            answer.came.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            answer.onError(e);
        }
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

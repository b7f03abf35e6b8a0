package io.posixgateway.alluxio.client;

import alluxio.client.block.stream.BlockWorkerClient;
import alluxio.client.file.FileSystemContext;
import alluxio.grpc.OpenLocalBlockRequest;
import alluxio.grpc.OpenLocalBlockResponse;
import alluxio.resource.CloseableResource;
import alluxio.shaded.client.io.grpc.stub.StreamObserver;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks a worker for a block that nobody has: any answer shows that it lives. Waits for {@value #ANSWER_SECONDS} seconds at
 * most; a connection that has to be made first may take longer, so the question has a thread of its own.
 */
final class WorkerPulse implements WorkerWatch.Pulse {
    private static final long ANSWER_SECONDS = 2;
    private static final long NO_BLOCK = Long.MAX_VALUE;

    private final FileSystemContext context;

    WorkerPulse(FileSystemContext context) {
        this.context = context;
    }

    @Override
    public boolean beats(WorkerNetAddress worker) {
        Answer answer = new Answer();
        Thread thread = new Thread(() -> ask(worker, answer), "worker-pulse");
        thread.setDaemon(true);
        thread.start();
        try {
            return answer.came.await(ANSWER_SECONDS, TimeUnit.SECONDS) && !answer.unreached;
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

package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.wire.WorkerNetAddress;
import io.posixgateway.alluxio.harness.Waiting;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Who may read from a worker that has not answered for a while. */
class WorkerWatchTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1000);
    private final WorkerWatch watch = new WorkerWatch(nanos::get);
    private final WorkerWatch.Worker worker = watch.of(new WorkerNetAddress().setHost("here"));

    private void pass(long more) {
        nanos.addAndGet(more);
    }

    private void beginMost() {
        for (int i = 0; i < WorkerWatch.MOST_UNANSWERED; i++) {
            assertThat(worker.tryBegin()).isNotEqualTo(WorkerWatch.NOT_BEGUN);
        }
    }

    @Test
    void oneThatAnswersIsNeverLeft() {
        for (int i = 0; i < 1000; i++) {
            assertThat(worker.tryBegin()).isNotEqualTo(WorkerWatch.NOT_BEGUN);
            pass(WorkerWatch.CROWD_NANOS);
            worker.answered();
        }
        pass(100 * WorkerWatch.SILENT_NANOS);
        assertThat(worker.hangs()).isFalse();
    }

    @Test
    void manyWithoutAnAnswerAreEnoughSoon() {
        beginMost();
        assertThat(worker.hangs()).isFalse();
        assertThat(worker.tryBegin()).isEqualTo(WorkerWatch.NOT_BEGUN);
        pass(WorkerWatch.CROWD_NANOS);
        assertThat(worker.hangs()).isTrue();
        assertThat(worker.await(true)).isEqualTo(WorkerWatch.NOT_BEGUN);
        worker.answered();
        assertThat(worker.hangs()).isFalse();
        beginMost();
    }

    @Test
    void oneCallWithoutAnAnswerIsEnoughAfterAWhile() {
        long call = worker.begin();
        pass(WorkerWatch.SILENT_NANOS - 1);
        assertThat(worker.hangs()).isFalse();
        pass(1);
        assertThat(worker.hangs()).isTrue();
        worker.ended(call);
        assertThat(worker.hangs()).as("a call that failed is not an answer").isTrue();
    }

    @Test
    void oneNowAndThenTriesIt() {
        long call = worker.begin();
        worker.ended(call);
        long wait = WorkerWatch.FIRST_TRY_NANOS;
        for (int i = 0; i < 6; i++) {
            pass(wait - 1);
            assertThat(worker.await(true)).isEqualTo(WorkerWatch.NOT_BEGUN);
            pass(1);
            assertThat(worker.await(true)).as("try %d", i).isNotEqualTo(WorkerWatch.NOT_BEGUN);
            assertThat(worker.await(true)).isEqualTo(WorkerWatch.NOT_BEGUN);
            wait = Math.min(2 * wait, WorkerWatch.LAST_TRY_NANOS);
        }
    }

    @Test
    void whoseCallEndedLateDoesNotCountTwice() {
        long call = worker.begin();
        worker.answered();
        worker.ended(call);
        beginMost();
        assertThat(worker.tryBegin()).isEqualTo(WorkerWatch.NOT_BEGUN);
    }

    @Test
    void anAnswerLetsThoseGoOnWhoWaitForIt() throws Exception {
        beginMost();
        CompletableFuture<Long> waiter = new CompletableFuture<>();
        Thread thread = new Thread(() -> waiter.complete(worker.await(false)));
        thread.start();
        Waiting.until("it waits", Duration.ofSeconds(30), () -> thread.getState() == Thread.State.TIMED_WAITING);
        worker.answered();
        assertThat(waiter.get()).isNotEqualTo(WorkerWatch.NOT_BEGUN);
        thread.join();
    }

    @Test
    void itIsWaitedForAMomentOnly() {
        worker.begin();
        pass(WorkerWatch.SILENT_NANOS);
        CompletableFuture<Long> waiter = CompletableFuture.supplyAsync(() -> worker.await(false));
        while (!waiter.isDone()) {
            pass(WorkerWatch.CROWD_NANOS / 4);
            Thread.onSpinWait();
        }
        assertThat(waiter.join()).isEqualTo(WorkerWatch.NOT_BEGUN);
    }
}

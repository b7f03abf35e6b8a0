package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.time.ManualClock;
import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may read from a worker that has not answered for a while. */
class WorkerHealthTest {
    private static final long START = Long.MAX_VALUE - 1000;

    private final ManualClock clock = new ManualClock();
    private final AtomicBoolean isAlive = new AtomicBoolean();
    private final AtomicInteger probes = new AtomicInteger();
    /** What happens while it is asked. */
    private Runnable meanwhile = () -> {};

    private final NavigableMap<Long, Runnable> planned = new TreeMap<>();
    private final WorkerHealth watch = new WorkerHealth(
            clock,
            address -> {
                probes.incrementAndGet();
                meanwhile.run();
                return isAlive.get();
            },
            (work, delayNanos) -> {
                planned.put(lived() + delayNanos, work);
                return () -> planned.values().remove(work);
            });
    private final WorkerHealth.Worker worker = watch.of(new WorkerNetAddress().setHost("here"));

    @BeforeEach
    void itsTimeOverflowsSoon() {
        clock.advanceNanos(START);
    }

    private long lived() {
        return clock.nanos() - START;
    }

    private void pass(long more) {
        clock.advanceNanos(more);
    }

    /** As {@link #pass}, and does what was planned for meanwhile, at its time. */
    private void live(long more) {
        long end = lived() + more;
        while (!planned.isEmpty() && planned.firstKey() <= end) {
            pass(planned.firstKey() - lived());
            planned.pollFirstEntry().getValue().run();
        }
        pass(end - lived());
    }

    private void beginMost() {
        for (int i = 0; i < WorkerHealth.MAX_UNANSWERED; i++) {
            assertThat(worker.tryBegin()).isNotEqualTo(WorkerHealth.NOT_BEGUN);
        }
    }

    @Test
    void oneThatAnswersIsNeverLeft() {
        for (int i = 0; i < 1000; i++) {
            assertThat(worker.tryBegin()).isNotEqualTo(WorkerHealth.NOT_BEGUN);
            pass(WorkerHealth.BUSY_NANOS);
            worker.answered();
        }
        pass(100 * WorkerHealth.SILENT_NANOS);
        assertThat(worker.hangs()).isFalse();
    }

    @Test
    void manyWithoutAnAnswerAreEnoughSoon() {
        beginMost();
        assertThat(worker.hangs()).isFalse();
        assertThat(worker.tryBegin()).isEqualTo(WorkerHealth.NOT_BEGUN);
        pass(WorkerHealth.BUSY_NANOS);
        assertThat(worker.hangs()).isTrue();
        assertThat(worker.await(true)).isEqualTo(WorkerHealth.NOT_BEGUN);
        worker.answered();
        assertThat(worker.hangs()).isFalse();
        beginMost();
    }

    @Test
    void oneCallWithoutAnAnswerIsEnoughAfterAWhile() {
        long call = worker.begin();
        pass(WorkerHealth.SILENT_NANOS - 1);
        assertThat(worker.hangs()).isFalse();
        pass(1);
        assertThat(worker.hangs()).isTrue();
        worker.ended(call);
        assertThat(worker.hangs()).as("a call that failed is not an answer").isTrue();
    }

    /** One failed, or its program was killed: nobody may come for long who could hear of it. */
    @Test
    void oneThatNobodyWaitsForAnyMoreIsAskedOnce() {
        isAlive.set(true);
        failOne();
        live(WorkerHealth.SILENT_NANOS);
        assertThat(worker.hangs()).isFalse();
        live(100 * WorkerHealth.SILENT_NANOS);
        assertThat(worker.hangs()).isFalse();
        assertThat(probes).hasValue(1);
        assertThat(planned).isEmpty();
    }

    /** In Kubernetes each worker that starts has another address. */
    @Test
    void thoseThatAreGoneAreForgotten() {
        Set<WorkerNetAddress> gone = new HashSet<>();
        WorkerHealth.Probe knowing = new WorkerHealth.Probe() {
            @Override
            public boolean isAlive(WorkerNetAddress asked) {
                return false;
            }

            @Override
            public boolean isGone(WorkerNetAddress asked) {
                return gone.contains(asked);
            }
        };
        WorkerHealth health = new WorkerHealth(clock, knowing, (work, delayNanos) -> () -> {});
        for (int i = 0; i < 100; i++) {
            WorkerNetAddress address = new WorkerNetAddress().setHost("gone-" + i);
            health.of(address).mayHaveAnswered(health.of(address).begin());
            gone.add(address);
        }
        WorkerNetAddress waitedFor = new WorkerNetAddress().setHost("waited for");
        WorkerHealth.Worker kept = health.of(waitedFor);
        kept.enter(new CancellableCall());
        gone.add(waitedFor);
        health.of(new WorkerNetAddress().setHost("last"));
        assertThat(health.of(waitedFor)).isSameAs(kept);
        assertThat(health.size()).isEqualTo(2);
    }

    private void failOne() {
        CancellableCall call = new CancellableCall();
        call.beginCancellable(true);
        long began = worker.begin();
        worker.enter(call);
        worker.leave(call);
        call.end();
        worker.ended(began);
    }

    @Test
    void oneThatNobodyWaitsForAnyMoreAndThatDoesNotAnswerHangs() {
        failOne();
        live(WorkerHealth.SILENT_NANOS);
        assertThat(worker.hangs()).isTrue();
        isAlive.set(true);
        live(WorkerHealth.LAST_TRY_NANOS);
        assertThat(worker.hangs()).isFalse();
        assertThat(planned).isEmpty();
    }

    @Test
    void oneNowAndThenTriesIt() {
        long call = worker.begin();
        worker.ended(call);
        long wait = WorkerHealth.FIRST_TRY_NANOS;
        for (int i = 0; i < 6; i++) {
            pass(wait - 1);
            assertThat(worker.await(true)).isEqualTo(WorkerHealth.NOT_BEGUN);
            pass(1);
            assertThat(worker.await(true)).as("try %d", i).isNotEqualTo(WorkerHealth.NOT_BEGUN);
            assertThat(worker.await(true)).isEqualTo(WorkerHealth.NOT_BEGUN);
            wait = Math.min(2 * wait, WorkerHealth.LAST_TRY_NANOS);
        }
    }

    @Test
    void whoseCallEndedLateDoesNotCountTwice() {
        long call = worker.begin();
        worker.answered();
        worker.ended(call);
        beginMost();
        assertThat(worker.tryBegin()).isEqualTo(WorkerHealth.NOT_BEGUN);
    }

    @Test
    void anAnswerLetsThoseGoOnWhoWaitForIt() throws Exception {
        beginMost();
        CompletableFuture<Long> waiter = new CompletableFuture<>();
        Thread thread = new Thread(() -> waiter.complete(worker.await(false)));
        thread.start();
        clock.awaitWaiting(1);
        worker.answered();
        assertThat(waiter.get()).isNotEqualTo(WorkerHealth.NOT_BEGUN);
        thread.join();
    }

    @Test
    void itIsWaitedForAMomentOnly() throws Exception {
        worker.begin();
        pass(WorkerHealth.SILENT_NANOS);
        CompletableFuture<Long> waiter = CompletableFuture.supplyAsync(() -> worker.await(false));
        clock.awaitWaiting(1);
        pass(WorkerHealth.BUSY_NANOS - 1);
        assertThat(clock.waiting()).isEqualTo(1);
        pass(1);
        assertThat(waiter.orTimeout(60, TimeUnit.SECONDS).join()).isEqualTo(WorkerHealth.NOT_BEGUN);
    }

    @Test
    void whoWaitsForOneThatIsLostIsInterruptedWhereThereIsAnotherWay() {
        CancellableCall movable = new CancellableCall();
        movable.begin(true);
        worker.enter(movable);
        live(WorkerHealth.SILENT_NANOS - 1);
        assertThat(probes).hasValue(0);
        live(1);
        assertThat(probes).hasValue(1);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(movable.end()).isTrue();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(worker.hangs()).isTrue();
        worker.leave(movable);

        CancellableCall fixed = new CancellableCall();
        fixed.begin(false);
        worker.enter(fixed);
        live(4 * WorkerHealth.SILENT_NANOS);
        assertThat(fixed.end()).isFalse();
    }

    /** It may go on; but a program does not wait for it for good. */
    @Test
    void whoWaitsForOneThatIsLostAndHasNoOtherWayIsInterruptedAfterAWhile() {
        CancellableCall fixed = new CancellableCall();
        fixed.begin(false);
        worker.enter(fixed);
        live(WorkerHealth.GONE_NANOS - 1);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        live(WorkerHealth.SILENT_NANOS);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(fixed.end()).isTrue();
        worker.leave(fixed);
    }

    @Test
    void oneThatIsSlowKeepsItsCalls() {
        isAlive.set(true);
        CancellableCall call = new CancellableCall();
        call.begin(true);
        worker.enter(call);
        live(100 * WorkerHealth.SILENT_NANOS);
        assertThat(probes).hasValueGreaterThan(5);
        assertThat(call.end()).isFalse();
        worker.leave(call);
        live(WorkerHealth.SILENT_NANOS);
        assertThat(planned).as("nothing is planned where nobody waits").isEmpty();
    }

    @Test
    void whoSuspectsItWhileItIsAskedIsNotToldByThatAnswer() {
        isAlive.set(true);
        CancellableCall call = new CancellableCall();
        call.begin(true);
        worker.enter(call);
        meanwhile = () -> {
            meanwhile = () -> assertThat(worker.proofs()).isZero();
            worker.suspect();
        };
        live(WorkerHealth.SILENT_NANOS);
        assertThat(probes).hasValue(2);
        assertThat(worker.proofs()).isEqualTo(1);
        worker.leave(call);
    }

    @Test
    void whoDoubtsItWhileADoubtIsAskedAboutIsNotToldByThatAnswer() {
        isAlive.set(true);
        meanwhile = () -> {
            meanwhile = () -> assertThat(worker.proofs()).isZero();
            worker.suspect();
        };
        worker.suspect();
        live(0);
        assertThat(probes).hasValue(2);
        assertThat(worker.proofs()).isEqualTo(1);
    }

    @Test
    void whatItSendsWhileItIsAskedIsAnAnswer() {
        meanwhile = worker::answered;
        worker.suspect();
        live(0);
        assertThat(probes).hasValue(1);
        assertThat(worker.hangs()).isFalse();
        assertThat(worker.proofs()).as("it may have been on its way").isZero();
        meanwhile = () -> {};
        isAlive.set(true);
        live(WorkerHealth.SILENT_NANOS);
        assertThat(worker.proofs()).isEqualTo(1);
        assertThat(planned).isEmpty();
    }

    /** A program that reads slowly goes on for long with what its stream has fetched. */
    @Test
    void whatWasFetchedBeforeIsNoAnswer() {
        meanwhile = () -> worker.mayHaveAnswered(worker.begin());
        worker.suspect();
        live(0);
        assertThat(worker.hangs()).isTrue();
        for (int i = 0; i < 1_000; i++) {
            worker.mayHaveAnswered(worker.begin());
            assertThat(worker.hangs()).isTrue();
            live(WorkerHealth.SILENT_NANOS / 100);
        }
        assertThat(worker.proofs()).isZero();
        assertThat(probes).hasValueBetween(8, 20);
        isAlive.set(true);
        live(WorkerHealth.SILENT_NANOS);
        assertThat(worker.hangs()).as("it is asked soon, since it may be back").isFalse();
        assertThat(worker.proofs()).isEqualTo(1);
    }

    @Test
    void whatWasFetchedBeforeDoesNotAnswerForAWriter() {
        CancellableCall movable = new CancellableCall();
        movable.begin(true);
        worker.enter(movable);
        meanwhile = () -> worker.mayHaveAnswered(worker.begin());
        live(WorkerHealth.SILENT_NANOS);
        assertThat(movable.end()).isTrue();
        worker.leave(movable);
    }

    @Test
    void looks_thatAreDueSoonerThanPlanned_takeTheirPlace() {
        isAlive.set(true);
        worker.enter(new CancellableCall());
        for (int i = 0; i < 100; i++) {
            worker.suspect();
            live(1);
        }
        assertThat(probes).hasValue(100);
        assertThat(planned).hasSize(1);
    }

    @Test
    void oneThatIsLostIsAskedUntilItAnswers() {
        worker.suspect();
        assertThat(worker.hangs()).isFalse();
        live(0);
        assertThat(worker.hangs()).isTrue();
        live(10 * WorkerHealth.LAST_TRY_NANOS);
        assertThat(probes).hasValueBetween(8, 20);
        assertThat(worker.hangs()).isTrue();
        isAlive.set(true);
        live(WorkerHealth.LAST_TRY_NANOS);
        assertThat(worker.hangs()).isFalse();
        assertThat(planned).isEmpty();
    }

    @Test
    void oneThatNeverAnswersIsForgottenAtLast() {
        worker.suspect();
        live(WorkerHealth.MAX_PROBES * WorkerHealth.LAST_TRY_NANOS);
        assertThat(probes).hasValue(WorkerHealth.MAX_PROBES);
        assertThat(worker.hangs()).isFalse();
        assertThat(planned).isEmpty();
    }
}

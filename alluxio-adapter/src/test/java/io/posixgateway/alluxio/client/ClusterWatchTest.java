package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.shaded.client.io.grpc.Status;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterWatchTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static final Duration SILENCE = Duration.ofNanos(ClusterWatch.SILENCE_NANOS);

    private final ManualClock clock = new ManualClock();

    private interface Call {
        void run() throws StoreException;
    }

    /** Its errno; 0: it did not fail. */
    private static int errno(Call call) {
        try {
            call.run();
            return 0;
        } catch (StoreException e) {
            return e.errno();
        }
    }

    /** A call on a thread of its own, which {@code thread} interrupts. */
    private static final class Reader {
        private final FutureTask<Integer> task;
        private final Thread thread;

        Reader(ClusterWatch watch) {
            task = new FutureTask<>(() -> errno(watch::beforeRead));
            thread = new Thread(task, "reader");
            thread.setDaemon(true);
            thread.start();
        }

        int result() throws Exception {
            return task.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private void awaitsComparison(HeldMaster master) throws Exception {
        awaitQuietly(master.arrived);
        clock.awaitWaiting(1);
        clock.advance(Duration.ofSeconds(1));
    }

    /** What has the number of the block by now may be another file's. */
    @Test
    void beforeRead_duringAComparison_waitsForItsAnswer() throws Exception {
        HeldMaster master = new HeldMaster(number -> "two");
        Reader reader = new Reader(master.watch);
        awaitsComparison(master);
        master.opened.countDown();
        assertThat(reader.result()).isEqualTo(Errno.ESTALE);
    }

    @Test
    void beforeRead_duringAComparison_endsWhenItsProgramIsKilled() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        Reader reader = new Reader(master.watch);
        awaitsComparison(master);
        reader.thread.interrupt();
        assertThat(reader.result()).isEqualTo(Errno.EINTR);
        master.opened.countDown();
    }

    @Test
    void beforeRead_whoseComparisonNobodyAnswers_failsUntilTheMasterIsBack() {
        AtomicBoolean away = new AtomicBoolean();
        ClusterWatch watch = new ClusterWatch(
                () -> {
                    if (away.get()) {
                        throw StoreParts.unanswered("away");
                    }
                    return "one";
                },
                clock);
        watch.watch("one", changed -> {});
        assertThat(errno(watch::beforeRead)).isZero();
        away.set(true);
        clock.advance(SILENCE);
        assertThat(errno(watch::beforeRead))
                .as("no other Alluxio can have begun")
                .isZero();
        clock.advance(Duration.ofNanos(1));
        assertThat(errno(watch::beforeRead)).isEqualTo(Errno.EIO);
        away.set(false);
        assertThat(errno(watch::beforeRead)).isZero();
    }

    /** It may be another Alluxio's, which is said a moment later. */
    @Test
    void before_whoseMasterHasNoIdYet_asksAgain() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        ClusterWatch watch = new ClusterWatch(() -> asked.incrementAndGet() < 3 ? "" : "two", clock);
        watch.watch("one", changed -> {});
        FutureTask<Integer> call = new FutureTask<>(() -> errno(watch::before));
        new Thread(call, "call").start();
        for (int pause = 0; pause < 2; pause++) {
            clock.awaitWaiting(1);
            clock.advance(Duration.ofNanos(ClusterWatch.SETTLING_NANOS / 10));
        }
        assertThat(call.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Errno.ESTALE);
        assertThat(asked).hasValue(3);
    }

    @Test
    void beforeRead_whoseMasterNeverHasAnId_fails() throws Exception {
        ClusterWatch watch = new ClusterWatch(() -> "", clock);
        watch.watch("one", changed -> {});
        Reader reader = new Reader(watch);
        clock.awaitWaiting(2); // that it is asked again, and the reader
        clock.advance(Duration.ofNanos(ClusterWatch.SETTLING_NANOS));
        assertThat(reader.result()).isEqualTo(Errno.EIO);
        assertThat(watch.mayRead()).isFalse();
    }

    /** Where nobody listens at the master's address, no other Alluxio has begun. */
    @Test
    void blocks_areReadForAsLongAsTheMasterIsAbsent() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        master.watch.told("one");
        for (int i = 0; i < 10; i++) {
            clock.advance(Duration.ofSeconds(3));
            Reader reader = new Reader(master.watch);
            awaitQuietly(master.arrived);
            master.watch.absent();
            assertThat(reader.result()).isZero();
            assertThat(master.watch.mayRead()).isTrue();
        }
        master.opened.countDown();
    }

    /** One may have begun and ended meanwhile. */
    @Test
    void masterThatIsAbsentAfterASilence_provesNothing() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        master.watch.told("one");
        clock.advance(SILENCE.plusNanos(1));
        master.watch.absent();
        assertThat(master.watch.mayRead()).isFalse();
        master.opened.countDown();
    }

    /** A call that waits for the master's answer holds up the test until this is opened. */
    private final class HeldMaster {
        private final AtomicInteger asked = new AtomicInteger();
        private final CountDownLatch arrived = new CountDownLatch(1);
        private final CountDownLatch opened = new CountDownLatch(1);
        private final ClusterWatch watch;

        HeldMaster(Answer answer) {
            watch = new ClusterWatch(
                    () -> {
                        int number = asked.incrementAndGet();
                        arrived.countDown();
                        awaitQuietly(opened);
                        return answer.of(number);
                    },
                    clock);
            watch.watch("one", changed -> {});
        }

        /** Calls that come after a silence, all before the master answers. */
        List<FutureTask<Integer>> calls(int count) throws Exception {
            List<FutureTask<Integer>> tasks = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                FutureTask<Integer> task = new FutureTask<>(() -> errno(watch::before));
                Thread thread = new Thread(task, "call-" + i);
                thread.setDaemon(true);
                tasks.add(task);
                threads.add(thread);
                thread.start();
            }
            Waiting.until("all wait for the master", LIMIT, () -> threads.stream()
                    .allMatch(thread -> thread.getState() == Thread.State.WAITING));
            return tasks;
        }
    }

    private interface Answer {
        String of(int number) throws StoreException;
    }

    @Test
    void before_byManyCallsAfterASilence_asksOnce() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        List<FutureTask<Integer>> calls = master.calls(64);
        master.opened.countDown();
        for (FutureTask<Integer> call : calls) {
            assertThat(call.get()).isZero();
        }
        assertThat(master.asked).hasValue(1);
    }

    /** All of them asked what they ask for on behalf of files of before. */
    @Test
    void before_byManyCalls_failsForEachWhereAnotherAlluxioAnswers() throws Exception {
        HeldMaster master = new HeldMaster(number -> "two");
        List<FutureTask<Integer>> calls = master.calls(8);
        master.opened.countDown();
        for (FutureTask<Integer> call : calls) {
            assertThat(call.get()).isEqualTo(Errno.ESTALE);
        }
        assertThat(master.asked).hasValue(1);
    }

    /** The first call's program was killed: that is nothing to the others. */
    @Test
    void before_whoseFirstCallIsInterrupted_asksAgainForTheOthers() throws Exception {
        HeldMaster master = new HeldMaster(number -> {
            if (number == 1) {
                throw new StoreException(Errno.EINTR, "interrupted", null);
            }
            return "one";
        });
        List<FutureTask<Integer>> calls = master.calls(8);
        master.opened.countDown();
        List<Integer> errnos = new ArrayList<>();
        for (FutureTask<Integer> call : calls) {
            errnos.add(call.get());
        }
        assertThat(errnos).containsOnlyOnce(Errno.EINTR);
        assertThat(errnos.stream().filter(errno -> errno == 0)).hasSize(7);
        assertThat(master.asked).hasValue(2);
    }

    /** The master may have come back since that question was asked: it has all of its time for what comes now. */
    @Test
    void before_thatCameDuringAQuestionThatNobodyAnswers_asksAnew() throws Exception {
        HeldMaster master = new HeldMaster(number -> {
            if (number == 1) {
                throw StoreParts.unanswered("away");
            }
            return "one";
        });
        List<FutureTask<Integer>> calls = master.calls(8);
        master.opened.countDown();
        List<Integer> errnos = new ArrayList<>();
        for (FutureTask<Integer> call : calls) {
            errnos.add(call.get());
        }
        assertThat(errnos).containsOnlyOnce(Errno.EIO);
        assertThat(errnos.stream().filter(errno -> errno == 0)).hasSize(7);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void silence_isNoneWhileTheMasterAnswers() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        master.watch.told("one");
        clock.advance(Duration.ofMinutes(5));
        assertThat(master.watch.silentNanos(0, true)).isZero();
        assertThat(master.asked).hasValue(0);
        master.opened.countDown();
    }

    /** It may be back since then. */
    @Test
    void silence_isAskedForAgain_onceItIsNotBelievedAnyMore() throws Exception {
        AtomicBoolean away = new AtomicBoolean();
        AtomicInteger asked = new AtomicInteger();
        ClusterWatch watch = new ClusterWatch(
                () -> {
                    asked.incrementAndGet();
                    if (away.get()) {
                        throw StoreParts.unanswered("away");
                    }
                    return "one";
                },
                clock);
        watch.watch("one", changed -> {});
        watch.told("one");
        clock.advance(Duration.ofSeconds(7));
        away.set(true);
        assertThat(errno(watch::before)).isEqualTo(Errno.EIO);
        watch.failed(StoreParts.unanswered("away"));
        assertThat(asked).hasValue(1);

        assertThat(watch.silentNanos(1, true)).isEqualTo(Duration.ofSeconds(7).toNanos());
        assertThat(asked).hasValue(1);
        clock.advance(Duration.ofNanos(2));
        assertThat(watch.silentNanos(1, false)).as("that would wait").isZero();
        assertThat(watch.silentNanos(1, true)).isEqualTo(Duration.ofSeconds(7).toNanos() + 2);
        assertThat(asked).hasValue(2);
        away.set(false);
        clock.advance(Duration.ofNanos(2));
        assertThat(watch.silentNanos(1, true)).isZero();
        assertThat(asked).hasValue(3);
    }

    @Test
    void silence_isNotWhatAnInterruptedCallHeard() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        master.watch.told("one");
        clock.advance(Duration.ofSeconds(1));
        master.watch.failed(new StoreException(Errno.EINTR, "its program was killed", null));
        assertThat(master.watch.silentNanos(TimeUnit.MILLISECONDS.toNanos(999), false))
                .isZero();
        master.opened.countDown();
        assertThat(master.watch.silentNanos(0, true)).isZero();
        assertThat(master.asked).hasValue(1);
    }

    /** A worker that is silent, or what the master itself says, fails in the same way as a silent master. */
    @Test
    void silence_isNotWhatAFailureSays_whileTheMasterAnswers() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        master.opened.countDown();
        master.watch.told("one");
        for (int failures = 1; failures <= 2; failures++) {
            master.watch.failed(new StoreException(Errno.ETIMEDOUT, "a worker hangs", null));
            assertThat(master.watch.silentNanos(SILENCE.toNanos(), false)).isZero();
            assertNotSilent(master, failures);
        }
        master.watch.failed(StoreParts.unanswered("a worker is away"));
        assertNotSilent(master, 3);
    }

    /** Found out by asking once more; who looks while the thread that asked before is about to end is told so without. */
    private static void assertNotSilent(HeldMaster master, int asked) throws Exception {
        Waiting.until("the master is asked", LIMIT, () -> {
            assertThat(master.watch.silentNanos(SILENCE.toNanos(), true)).isZero();
            return master.asked.get() >= asked;
        });
        assertThat(master.asked).hasValue(asked);
    }

    @Test
    void silence_isNotWhatTheMasterItselfRefuses() throws Exception {
        HeldMaster master = new HeldMaster(number -> {
            throw new StoreException(Errno.EIO, "its journal is broken", Status.INTERNAL.asRuntimeException());
        });
        master.opened.countDown();
        master.watch.told("one");
        master.watch.failed(new StoreException(Errno.EIO, "its journal is broken", null));
        assertThat(master.watch.silentNanos(SILENCE.toNanos(), true)).isZero();
    }

    @Test
    void silence_ofAMasterThatHangs_isWaitedForHalfASecond() throws Exception {
        HeldMaster master = new HeldMaster(number -> "one");
        master.watch.told("one");
        master.watch.failed(StoreParts.unanswered("hangs"));
        clock.advance(Duration.ofSeconds(2));
        FutureTask<Long> task = new FutureTask<>(() -> master.watch.silentNanos(0, true));
        Thread thread = new Thread(task, "open");
        thread.setDaemon(true);
        thread.start();
        awaitQuietly(master.arrived);
        clock.awaitWaiting(1);
        assertThat(task).isNotDone();
        clock.advance(Duration.ofMillis(500));
        assertThat(task.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo(Duration.ofMillis(2500).toNanos());
        master.opened.countDown();
    }

    /** A master that loses its lead has no cluster id for a moment, and says so in the id's place. */
    @Test
    void master_withoutClusterId_isNoOtherAlluxio() {
        assertThat(ClusterWatch.idOf("INVALID_CLUSTER_ID")).isEmpty();
        assertThat(ClusterWatch.idOf("one")).isEqualTo("one");
    }
}

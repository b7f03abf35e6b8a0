package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterWatchTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ManualClock clock = new ManualClock();

    /** A question to a master that is away takes seconds; blocks are read meanwhile, once the first has ended. */
    @Test
    void blocks_mayBeReadWhileTheMasterIsAway() throws Exception {
        AtomicBoolean hangs = new AtomicBoolean();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        ClusterWatch watch = new ClusterWatch(
                () -> {
                    if (hangs.get()) {
                        asked.countDown();
                        awaitQuietly(end);
                    }
                    throw StoreParts.unanswered("away");
                },
                clock);
        watch.watch("one", changed -> {});
        assertThat(watch.mayRead()).isFalse();
        Waiting.until("the first question has ended", LIMIT, watch::mayRead);
        hangs.set(true);
        clock.advance(Duration.ofSeconds(2));
        watch.mayRead();
        awaitQuietly(asked);
        assertThat(watch.mayRead()).isTrue();
        end.countDown();
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
                FutureTask<Integer> task = new FutureTask<>(this::errnoBefore);
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

        private int errnoBefore() {
            try {
                watch.before();
                return 0;
            } catch (StoreException e) {
                return e.errno();
            }
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

    /** A master that loses its lead has no cluster id for a moment, and says so in the id's place. */
    @Test
    void master_withoutClusterId_isNoOtherAlluxio() {
        assertThat(ClusterWatch.idOf("INVALID_CLUSTER_ID")).isEmpty();
        assertThat(ClusterWatch.idOf("one")).isEqualTo("one");
    }
}

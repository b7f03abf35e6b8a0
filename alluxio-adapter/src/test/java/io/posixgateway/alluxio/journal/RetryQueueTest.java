package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RetryQueueTest {
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final Duration STEP = Duration.ofMillis(25);

    private final ManualClock clock = new ManualClock();
    private final RetryQueue queue = new RetryQueue(clock);
    private final AtomicInteger attempts = new AtomicInteger();

    @AfterEach
    void close() throws InterruptedException {
        assertThat(queue.close(LIMIT_NANOS)).isTrue();
    }

    private boolean fails() throws StoreException {
        attempts.incrementAndGet();
        throw new StoreException(Errno.EIO, "no answer", null);
    }

    /** Time passes until there were so many. */
    private void awaitAttempts(int number) throws InterruptedException {
        Eventually.holds(number + " attempts", () -> {
            if (attempts.get() < number && clock.waiting() > 0) {
                clock.advance(STEP);
            }
            return attempts.get() >= number;
        });
    }

    @Test
    void start_attemptsAtOnce_andOnlyOnceWhereItIsDone() throws InterruptedException {
        queue.start("task", () -> attempts.incrementAndGet() > 0);
        Eventually.holds("it is attempted", () -> attempts.get() == 1);
        assertThat(queue.close(LIMIT_NANOS)).isTrue();
        assertThat(attempts).hasValue(1);
    }

    @Test
    void retry_attemptsAfterAPause() throws InterruptedException {
        queue.retry("task", () -> attempts.incrementAndGet() > 0);
        clock.awaitWaiting(1);
        assertThat(attempts).hasValue(0);
        awaitAttempts(1);
    }

    @Test
    void taskThatFails_isRetriedWithoutEnd_afterPausesThatGrowToTwoSeconds() throws InterruptedException {
        ManualClock own = ManualClock.advancedByWaits();
        List<Long> millis = new CopyOnWriteArrayList<>();
        new RetryQueue(own).start("task", () -> {
            millis.add(TimeUnit.NANOSECONDS.toMillis(own.nanos()));
            return millis.size() == 2000 || fails();
        });
        Eventually.holds("it is attempted", () -> millis.size() == 2000);
        List<Long> pauses = IntStream.range(1, millis.size())
                .mapToObj(i -> millis.get(i) - millis.get(i - 1))
                .toList();
        assertThat(pauses.get(0)).isBetween(375L, 500L);
        assertThat(pauses.get(1)).isBetween(750L, 1000L);
        assertThat(pauses.subList(2, pauses.size())).allMatch(pause -> pause >= 1500 && pause <= 2000);
        assertThat(pauses.stream().distinct()).as("pauses differ").hasSizeGreaterThan(100);
    }

    @Test
    void taskThatBreaks_isRetried() throws InterruptedException {
        queue.start("task", () -> {
            if (attempts.incrementAndGet() < 3) {
                throw new IllegalStateException("a fault");
            }
            return true;
        });
        awaitAttempts(3);
    }

    @Test
    void taskThatIsAddedWhileItIsAttempted_isAttemptedOnceMore() throws InterruptedException {
        CountDownLatch added = new CountDownLatch(1);
        RetryQueue.Task task = () -> {
            attempts.incrementAndGet();
            return awaited(added);
        };
        queue.start("task", task);
        Eventually.holds("it is attempted", () -> attempts.get() == 1);
        queue.retry("task", task);
        added.countDown();
        awaitAttempts(2);
    }

    @Test
    void taskThatTakesLong_delaysNoOther() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        queue.start("long", () -> awaited(end));
        queue.start("task", () -> attempts.incrementAndGet() > 0);
        Eventually.holds("it is attempted", () -> attempts.get() == 1);
        end.countDown();
    }

    @Test
    void close_endsPausesAtOnce_andNothingIsAttemptedAfterwards() throws InterruptedException {
        IntStream.range(0, 3).forEach(i -> queue.start("task " + i, this::fails));
        clock.awaitWaiting(3);
        assertThat(queue.close(LIMIT_NANOS)).isTrue();
        queue.start("another", this::fails);
        clock.advance(Duration.ofMinutes(1));
        assertThat(clock.waiting()).isZero();
        assertThat(attempts).hasValue(3);
    }

    @Test
    void close_whileAnAttemptIsInFlight_waitsForItsEnd() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        queue.start("task", () -> {
            attempts.incrementAndGet();
            return awaited(end) && attempts.incrementAndGet() > 0;
        });
        Eventually.holds("it is attempted", () -> attempts.get() == 1);
        assertThat(queue.close(0)).isFalse();
        end.countDown();
        assertThat(queue.close(LIMIT_NANOS)).isTrue();
        assertThat(attempts).hasValue(2);
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

package io.posixgateway.fuse.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ManualClockTest {
    private static final long SECOND_NANOS = 1_000_000_000L;

    private final ManualClock clock = new ManualClock(Instant.EPOCH);

    /** What waits on a thread of its own. */
    private interface Waiting<T> {
        T await() throws InterruptedException;
    }

    private static <T> CompletableFuture<T> begun(Waiting<T> waiting) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(waiting.await());
            } catch (InterruptedException e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    @Test
    void advancing_movesBothTimes() {
        clock.advance(Duration.ofMillis(1500));
        assertThat(clock.nanos()).isEqualTo(1_500_000_000L);
        assertThat(clock.instant()).isEqualTo(Instant.ofEpochSecond(1, 500_000_000));
        assertThat(clock.epochMillis()).isEqualTo(1500);
    }

    /** Else who lets time pass whenever somebody waits would let it pass again before that thread ran. */
    @Test
    void waiting_doesNotCountAThreadWhoseTimeHasCome() throws Exception {
        Object monitor = new Object();
        CompletableFuture<Boolean> over = begun(() -> {
            synchronized (monitor) {
                clock.waitOn(monitor, SECOND_NANOS);
            }
            return true;
        });
        clock.awaitWaiting(1);
        synchronized (monitor) {
            clock.advanceNanos(SECOND_NANOS);
            assertThat(clock.waiting()).isZero();
        }
        assertThat(over.get(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aSleep_endsWhenTheClockIsAdvancedToItsEndAndNotBefore() throws Exception {
        CompletableFuture<Thread> sleeper = new CompletableFuture<>();
        CompletableFuture<Boolean> over = begun(() -> {
            sleeper.complete(Thread.currentThread());
            clock.sleep(2 * SECOND_NANOS);
            return true;
        });
        clock.awaitWaiting(1);
        clock.advanceNanos(2 * SECOND_NANOS - 1);
        Thread thread = sleeper.get();
        Eventually.holds("it sleeps, or is over", () -> thread.getState() == Thread.State.WAITING || !thread.isAlive());
        assertThat(over).isNotDone();
        assertThat(clock.waiting()).isEqualTo(1);
        clock.advanceNanos(1);
        assertThat(over.get(60, TimeUnit.SECONDS)).isTrue();
        assertThat(clock.waiting()).isZero();
    }

    @Test
    void aWaitOnAMonitor_endsByTimeOrNotification() throws Exception {
        Object monitor = new Object();
        Waiting<Long> waiting = () -> {
            synchronized (monitor) {
                clock.waitOn(monitor, SECOND_NANOS);
                return clock.nanos();
            }
        };
        CompletableFuture<Long> byTime = begun(waiting);
        clock.awaitWaiting(1);
        clock.advanceNanos(SECOND_NANOS);
        assertThat(byTime.get(60, TimeUnit.SECONDS)).isEqualTo(SECOND_NANOS);
        CompletableFuture<Long> byNotification = begun(waiting);
        clock.awaitWaiting(1);
        synchronized (monitor) {
            monitor.notifyAll();
        }
        assertThat(byNotification.get(60, TimeUnit.SECONDS)).isEqualTo(SECOND_NANOS);
    }

    @Test
    void aWaitForALatch_tellsWhichCameFirst() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        CompletableFuture<Boolean> late = begun(() -> clock.await(latch, SECOND_NANOS));
        clock.awaitWaiting(1);
        clock.advanceNanos(SECOND_NANOS);
        assertThat(late.get(60, TimeUnit.SECONDS)).isFalse();
        CompletableFuture<Boolean> inTime = begun(() -> clock.await(latch, SECOND_NANOS));
        latch.countDown();
        assertThat(inTime.get(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aWait_advancesAClockThatIsToBe() throws Exception {
        ManualClock own = ManualClock.advancedByWaits();
        own.sleep(SECOND_NANOS);
        own.pause(SECOND_NANOS);
        assertThat(own.await(new CountDownLatch(1), SECOND_NANOS)).isFalse();
        assertThat(own.nanos()).isEqualTo(3 * SECOND_NANOS);
        assertThat(own.await(new CountDownLatch(0), SECOND_NANOS)).isTrue();
        assertThat(own.nanos()).isEqualTo(3 * SECOND_NANOS);
    }
}

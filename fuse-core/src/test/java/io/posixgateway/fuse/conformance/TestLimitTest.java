package io.posixgateway.fuse.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.time.ManualClock;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class TestLimitTest {
    private static final Duration LIMIT = Duration.ofMinutes(15);

    private final ManualClock clock = new ManualClock();
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final CountDownLatch released = new CountDownLatch(1);

    /** A class that hangs until it is released, or interrupted if it heeds that. */
    private Thread hanging(boolean heedsInterrupts) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Thread runs = new Thread(() -> {
            PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
            try (TestLimit.Watch watch = new TestLimit.Watch("example.HangingTest", LIMIT, clock, out)) {
                watch.start(() -> {
                    ended.set(true);
                    released.countDown();
                });
                begun.countDown();
                hang(heedsInterrupts);
            }
        });
        runs.setDaemon(true);
        runs.start();
        begun.await();
        clock.awaitWaiting(1);
        return runs;
    }

    private void hang(boolean heedsInterrupts) {
        while (released.getCount() > 0) {
            try {
                released.await();
            } catch (InterruptedException e) {
                if (heedsInterrupts) {
                    return;
                }
            }
        }
    }

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void classThatHangs_isNamedAndInterruptedAtItsLimit() throws Exception {
        Thread runs = hanging(true);
        clock.advance(LIMIT.minusNanos(1));
        assertThat(runs.isAlive()).isTrue();
        assertThat(printed()).isEmpty();
        clock.advance(Duration.ofNanos(1));
        runs.join(Eventually.LIMIT.toMillis());
        assertThat(runs.isAlive()).isFalse();
        assertThat(printed())
                .contains("example.HangingTest hangs: not over after 15 minutes")
                .contains("hang(");
        assertThat(ended).isFalse();
    }

    @Test
    void classThatHeedsNoInterrupt_isEndedAMinuteLater() throws Exception {
        Thread runs = hanging(false);
        clock.advance(LIMIT);
        Eventually.holds("it waits once more", () -> clock.waits() == 2);
        assertThat(ended).isFalse();
        clock.advance(Duration.ofMinutes(1));
        runs.join(Eventually.LIMIT.toMillis());
        assertThat(ended).isTrue();
        assertThat(printed()).contains("example.HangingTest goes on all the same");
    }

    @Test
    void classThatIsOver_isLeftAlone() throws Exception {
        Thread runs = hanging(true);
        released.countDown();
        runs.join(Eventually.LIMIT.toMillis());
        Eventually.holds("nobody watches it", () -> clock.waiting() == 0);
        clock.advance(LIMIT);
        assertThat(printed()).isEmpty();
    }
}

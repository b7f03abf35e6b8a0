package io.posixgateway.fuse.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OffsetClockTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final OffsetClock clock = new OffsetClock();

    @Test
    void sleep_endsWhenTheClockIsAdvancedToItsEnd() throws Exception {
        long began = clock.nanos();
        FutureTask<Long> sleep = new FutureTask<>(() -> {
            clock.sleep(LONG.toNanos());
            return clock.nanos();
        });
        Thread sleeper = new Thread(sleep, "sleeper");
        sleeper.setDaemon(true);
        sleeper.start();
        Eventually.holds("it sleeps", () -> sleeper.getState() == Thread.State.TIMED_WAITING);
        clock.advance(LONG.dividedBy(2));
        Eventually.holds(
                "it sleeps on, or is over",
                () -> sleeper.getState() == Thread.State.TIMED_WAITING || !sleeper.isAlive());
        assertThat(sleep).isNotDone();
        clock.advance(LONG);
        assertThat(sleep.get(60, TimeUnit.SECONDS) - began).isGreaterThanOrEqualTo(LONG.toNanos());
    }
}

package io.posixgateway.fuse.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import java.time.Duration;
import java.time.Instant;
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

    @Test
    void clock_thatWasStopped_goesOnByAdvancesAlone() throws Exception {
        clock.stop();
        long nanos = clock.nanos();
        Instant instant = clock.instant();
        long machine = Clock.system().nanos();
        Eventually.holds("the machine's clock goes on", () -> Clock.system().nanos() > machine);
        assertThat(clock.nanos()).isEqualTo(nanos);
        assertThat(clock.instant()).isEqualTo(instant);
        clock.advance(LONG);
        assertThat(clock.nanos()).isEqualTo(nanos + LONG.toNanos());
        assertThat(clock.instant()).isEqualTo(instant.plus(LONG));
    }
}

package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RecoveryBarrierTest {
    private static final Duration SHORT = Duration.ofSeconds(8);
    private static final Duration LONG = Duration.ofMinutes(5);

    private final ManualClock clock = new ManualClock();
    /** For a call that nobody else would end. */
    private final ManualClock own = ManualClock.advancedByWaits();

    @Test
    void a_call_waits_for_a_recovery_that_is_merely_slow() throws Exception {
        RecoveryBarrier gate = new RecoveryBarrier(() -> false, SHORT, LONG, clock);
        FutureTask<Boolean> call = new FutureTask<>(() -> {
            gate.pass();
            return gate.isOpen();
        });
        new Thread(call).start();
        clock.awaitWaiting(1);
        clock.advance(LONG.minusMillis(1));
        clock.awaitWaiting(1);
        gate.open();
        assertThat(call.get(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void and_fails_before_long_where_alluxio_refuses() {
        RecoveryBarrier gate = new RecoveryBarrier(() -> true, SHORT, LONG, own);
        assertThatThrownBy(gate::pass).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
        assertThat(own.nanos()).isEqualTo(SHORT.toNanos());
    }

    @Test
    void it_does_not_wait_for_ever() {
        RecoveryBarrier gate = new RecoveryBarrier(() -> false, SHORT, LONG, own);
        assertThatThrownBy(gate::pass).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
        assertThat(own.nanos()).isEqualTo(LONG.toNanos());
    }

    @Test
    void an_interrupted_call_ends() {
        RecoveryBarrier gate = new RecoveryBarrier(() -> false, LONG, LONG, clock);
        Thread.currentThread().interrupt();
        assertThatThrownBy(gate::pass).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EINTR));
        assertThat(Thread.interrupted()).isTrue();
    }
}

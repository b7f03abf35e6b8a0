package io.posixgateway.alluxio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RecoveryGateTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofMinutes(5);

    @Test
    void a_call_waits_for_a_recovery_that_is_merely_slow() throws Exception {
        RecoveryGate gate = new RecoveryGate(() -> false, SHORT, LONG);
        CompletableFuture.delayedExecutor(3 * SHORT.toMillis(), TimeUnit.MILLISECONDS)
                .execute(gate::open);
        gate.pass();
        assertThat(gate.isOpen()).isTrue();
    }

    @Test
    void and_fails_before_long_where_alluxio_refuses() {
        RecoveryGate gate = new RecoveryGate(() -> true, SHORT, LONG);
        assertThatThrownBy(gate::pass).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    @Test
    void it_does_not_wait_for_ever() {
        RecoveryGate gate = new RecoveryGate(() -> false, SHORT, SHORT);
        assertThatThrownBy(gate::pass).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    @Test
    void an_interrupted_call_ends() {
        RecoveryGate gate = new RecoveryGate(() -> false, LONG, LONG);
        Thread.currentThread().interrupt();
        assertThatThrownBy(gate::pass).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EINTR));
        assertThat(Thread.interrupted()).isTrue();
    }
}

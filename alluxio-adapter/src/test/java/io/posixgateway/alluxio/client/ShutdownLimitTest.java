package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How long a volume that ends goes on asking an Alluxio that lives. */
class ShutdownLimitTest {
    private static final Duration STEP = Duration.ofSeconds(30);
    private static final int STEPS_OF_AN_HOUR = 120;

    private final ManualClock clock = new ManualClock();
    private final ShutdownLimit limit = new ShutdownLimit(clock);

    @BeforeEach
    void begin() {
        limit.begin();
    }

    @AfterEach
    void end() {
        limit.close();
    }

    /** Calls that take half a minute each, one after the other. */
    private void callForAnHour(boolean answered, boolean changed) throws Exception {
        RemoteCalls call = RemoteCalls.ofThread();
        for (int i = 0; i < STEPS_OF_AN_HOUR; i++) {
            clock.awaitWaiting(1);
            long waits = clock.waits();
            limit.began(call);
            clock.advance(STEP);
            limit.ended(call, answered, changed);
            Eventually.holds("it looked", () -> clock.waits() > waits);
        }
    }

    private void assertEnds(boolean answered, boolean changed) {
        assertThatThrownBy(() -> callForAnHour(answered, changed))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT));
    }

    @Test
    void anAlluxioThatAnswersNothing_isAskedNoMore() {
        assertEnds(false, false);
    }

    @Test
    void anAlluxioThatAnswers_whileNothingComesOfIt_isAskedNoMoreInTheEnd() {
        assertEnds(true, false);
    }

    @Test
    void anAlluxioThatIsSlow_isAskedAsLongAsItDoesSomething() throws Exception {
        callForAnHour(true, true);
        assertThat(clock.waiting()).isEqualTo(1);
    }

    /** Its part without a limit ends a moment before its answer counts. */
    @Test
    void aLongCallThatJustReturned_isNoSilence() throws Exception {
        RemoteCalls call = RemoteCalls.ofThread();
        limit.began(call);
        call.beginUnlimited();
        look(Duration.ofMinutes(4));
        call.endUnlimited();
        look(Duration.ofSeconds(1));
        limit.ended(call, true, true);
        limit.began(call);
        look(STEP);
        limit.ended(call, true, true);
        assertThat(clock.waiting()).isEqualTo(1);
    }

    private void look(Duration time) throws Exception {
        clock.awaitWaiting(1);
        long waits = clock.waits();
        clock.advance(time);
        Eventually.holds("it looked", () -> clock.waits() > waits);
    }
}

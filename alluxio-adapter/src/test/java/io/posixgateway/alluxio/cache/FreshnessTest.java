package io.posixgateway.alluxio.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.cache.Freshness.Consistency;
import io.posixgateway.fuse.time.ManualClock;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** For how long, to the nanosecond, what was seen is believed. */
class FreshnessTest {
    private static final long TTL_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long OPEN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ManualClock clock = new ManualClock();

    private Freshness of(Consistency consistency) {
        return new Freshness(consistency, TTL_NANOS, OPEN_NANOS, OPEN_NANOS, clock);
    }

    private void at(long nanos) {
        clock.advanceNanos(nanos - clock.nanos());
    }

    @Test
    void whatWasSeen_isBelievedForItsTimeToLive() {
        Freshness freshness = of(Consistency.CLOSE_TO_OPEN);
        at(TTL_NANOS - 1);
        assertThat(freshness.fresh(0)).isTrue();
        assertThat(freshness.leftNanos(0)).isEqualTo(1);
        at(TTL_NANOS);
        assertThat(freshness.fresh(0)).isFalse();
    }

    @Test
    void anOpen_believesAMomentOnlyUnlessTheTimeToLiveHoldsForAll() {
        Freshness closeToOpen = of(Consistency.CLOSE_TO_OPEN);
        Freshness ttl = of(Consistency.TTL);
        at(OPEN_NANOS - 1);
        assertThat(closeToOpen.freshAtOpen(0)).isTrue();
        at(OPEN_NANOS);
        assertThat(closeToOpen.freshAtOpen(0)).isFalse();
        assertThat(closeToOpen.fresh(0)).isTrue();
        at(TTL_NANOS - 1);
        assertThat(ttl.freshAtOpen(0)).isTrue();
        at(TTL_NANOS);
        assertThat(ttl.freshAtOpen(0)).isFalse();
    }

    @Test
    void whatIsInUse_isToBeLookedAtAnewBeforeAnOpenWouldWaitForIt() {
        Freshness freshness = of(Consistency.CLOSE_TO_OPEN);
        at(OPEN_NANOS / 2 - 1);
        assertThat(freshness.youngAtOpen(0)).isTrue();
        at(OPEN_NANOS / 2);
        assertThat(freshness.youngAtOpen(0)).isFalse();
        at(TTL_NANOS - OPEN_NANOS - OPEN_NANOS / 2);
        assertThat(freshness.endsSoon(0)).isFalse();
        at(TTL_NANOS - OPEN_NANOS - OPEN_NANOS / 2 + 1);
        assertThat(freshness.endsSoon(0)).isTrue();
    }

    @Test
    void whatNeverChanges_isBelievedForEver() {
        Freshness freshness = of(Consistency.IMMUTABLE);
        at(TimeUnit.DAYS.toNanos(364));
        assertThat(freshness.fresh(0)).isTrue();
        assertThat(freshness.freshAtOpen(0)).isTrue();
        assertThat(freshness.immutable()).isTrue();
    }
}

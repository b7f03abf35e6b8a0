package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.meta.CachePolicy.Consistency;
import io.posixgateway.fuse.time.ManualClock;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** For how long, to the nanosecond, what was seen is believed. */
class CachePolicyTest {
    private static final long TTL_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long OPEN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ManualClock clock = new ManualClock();

    private CachePolicy of(Consistency consistency) {
        return new CachePolicy(consistency, TTL_NANOS, OPEN_NANOS, OPEN_NANOS, clock);
    }

    private void at(long nanos) {
        clock.advanceNanos(nanos - clock.nanos());
    }

    @Test
    void whatWasSeen_isBelievedForItsTimeToLive() {
        CachePolicy cachePolicy = of(Consistency.CLOSE_TO_OPEN);
        at(TTL_NANOS - 1);
        assertThat(cachePolicy.fresh(0)).isTrue();
        assertThat(cachePolicy.leftNanos(0)).isEqualTo(1);
        at(TTL_NANOS);
        assertThat(cachePolicy.fresh(0)).isFalse();
    }

    @Test
    void anOpen_believesAMomentOnlyUnlessTheTimeToLiveHoldsForAll() {
        CachePolicy closeToOpen = of(Consistency.CLOSE_TO_OPEN);
        CachePolicy ttl = of(Consistency.TTL);
        at(OPEN_NANOS - 1);
        assertThat(closeToOpen.validAtOpen(0)).isTrue();
        at(OPEN_NANOS);
        assertThat(closeToOpen.validAtOpen(0)).isFalse();
        assertThat(closeToOpen.fresh(0)).isTrue();
        at(TTL_NANOS - 1);
        assertThat(ttl.validAtOpen(0)).isTrue();
        at(TTL_NANOS);
        assertThat(ttl.validAtOpen(0)).isFalse();
    }

    @Test
    void whatIsInUse_isToBeLookedAtAnewBeforeAnOpenWouldWaitForIt() {
        CachePolicy cachePolicy = of(Consistency.CLOSE_TO_OPEN);
        at(OPEN_NANOS / 2 - 1);
        assertThat(cachePolicy.isValidAtOpen(0)).isTrue();
        at(OPEN_NANOS / 2);
        assertThat(cachePolicy.isValidAtOpen(0)).isFalse();
        at(TTL_NANOS - OPEN_NANOS - OPEN_NANOS / 2);
        assertThat(cachePolicy.expiresSoon(0)).isFalse();
        at(TTL_NANOS - OPEN_NANOS - OPEN_NANOS / 2 + 1);
        assertThat(cachePolicy.expiresSoon(0)).isTrue();
    }

    @Test
    void whatNeverChanges_isBelievedForEver() {
        CachePolicy cachePolicy = of(Consistency.IMMUTABLE);
        at(TimeUnit.DAYS.toNanos(364));
        assertThat(cachePolicy.fresh(0)).isTrue();
        assertThat(cachePolicy.validAtOpen(0)).isTrue();
        assertThat(cachePolicy.immutable()).isTrue();
    }
}

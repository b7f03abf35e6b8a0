package io.posixgateway.alluxio.bypass;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.time.ManualClock;
import org.junit.jupiter.api.Test;

class PeerRateLimitTest {
    private final ManualClock clock = new ManualClock();
    private final PeerRateLimit limit = new PeerRateLimit(100, clock);

    private int allowed(int questions, long pid) {
        int allowed = 0;
        for (int i = 0; i < questions; i++) {
            allowed += limit.allows(0, pid) ? 1 : 0;
        }
        return allowed;
    }

    @Test
    void whoAsksTooMuchIsRefusedUntilTimeHasPassedAndOthersAreNot() {
        assertThat(allowed(1000, 1)).isBetween(100, 101);
        assertThat(allowed(50, 2)).isEqualTo(50);
        clock.advanceNanos(500_000_000);
        assertThat(allowed(1000, 1)).isBetween(49, 51);
        clock.advanceNanos(3_600_000_000_000L);
        assertThat(allowed(1000, 1)).isBetween(100, 101);
    }
}

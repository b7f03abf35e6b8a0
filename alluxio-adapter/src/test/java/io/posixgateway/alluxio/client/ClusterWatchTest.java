package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterWatchTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final ManualClock clock = new ManualClock();

    /** A question to a master that is away takes seconds; blocks are read meanwhile, once the first has ended. */
    @Test
    void blocks_mayBeReadWhileTheMasterIsAway() throws Exception {
        AtomicBoolean hangs = new AtomicBoolean();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        ClusterWatch watch = new ClusterWatch(
                () -> {
                    if (hangs.get()) {
                        asked.countDown();
                        awaitQuietly(end);
                    }
                    throw StoreParts.unanswered("away");
                },
                clock);
        watch.watch("one", changed -> {});
        assertThat(watch.mayRead()).isFalse();
        Waiting.until("the first question has ended", LIMIT, watch::mayRead);
        hangs.set(true);
        clock.advance(Duration.ofSeconds(2));
        watch.mayRead();
        awaitQuietly(asked);
        assertThat(watch.mayRead()).isTrue();
        end.countDown();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A master that loses its lead has no cluster id for a moment, and says so in the id's place. */
    @Test
    void master_withoutClusterId_isNoOtherAlluxio() {
        assertThat(ClusterWatch.idOf("INVALID_CLUSTER_ID")).isEmpty();
        assertThat(ClusterWatch.idOf("one")).isEqualTo("one");
    }
}

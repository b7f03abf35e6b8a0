package io.posixgateway.alluxio.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.inode.CacheBudget;
import io.posixgateway.alluxio.service.MemoryGroup.Reading;
import io.posixgateway.alluxio.service.MemoryWatch.State;
import org.junit.jupiter.api.Test;

class MemoryWatchTest {
    private static final long LIMIT = 1000L << 20;
    private static final long CACHE_BYTES = 256L << 20;

    private final CacheBudget cache = new CacheBudget(CACHE_BYTES, Runnable::run);
    private Reading group = Reading.NONE;
    private Reading heap = Reading.NONE;
    private int givenBack;
    private final MemoryWatch watch = new MemoryWatch(() -> group, () -> heap, cache, () -> givenBack++);

    private static Reading percent(int used) {
        return new Reading(LIMIT / 100 * used, LIMIT, 0);
    }

    private void look(int times) {
        for (int i = 0; i < times; i++) {
            watch.look();
        }
    }

    @Test
    void look_nearTheLimit_givesCachesBackFirstAndTakesVolumes() {
        group = percent(70);
        look(3);
        assertThat(watch.state()).isEqualTo(State.CALM);
        assertThat(cache.limitBytes()).isEqualTo(CACHE_BYTES);
        group = percent(86);
        look(1);
        assertThat(watch.state()).isEqualTo(State.NEAR);
        assertThat(cache.limitBytes()).isLessThan(CACHE_BYTES);
        assertThat(givenBack).isEqualTo(1);
        assertThat(watch.refuse()).isNull();
    }

    @Test
    void look_whenCachesWereGivenBackAndItIsStillNear_refusesVolumesUntilItIsNot() {
        heap = percent(86);
        look(1);
        assertThat(watch.refuse()).isNull();
        look(200);
        assertThat(cache.isSpent()).isTrue();
        assertThat(watch.refuse())
                .contains("860 of 1000 MiB")
                .contains("POSIX_GATEWAY_HEAP")
                .contains("node.gateway.resources.limits.memory");
        assertThat(watch.counts().refused()).isEqualTo(1);
        heap = percent(82);
        look(1);
        assertThat(watch.state()).isEqualTo(State.NEAR);
        assertThat(watch.refuse()).isNull();
        assertThat(cache.isSpent()).as("it does not grow yet").isTrue();
        heap = percent(60);
        look(20);
        assertThat(watch.state()).isEqualTo(State.CALM);
        assertThat(cache.limitBytes()).isEqualTo(CACHE_BYTES);
    }

    @Test
    void look_veryNearTheLimit_refusesAtOnce() {
        group = percent(94);
        look(1);
        assertThat(watch.refuse()).contains("940 of 1000 MiB").contains("control group");
    }

    /** It may take the collector seconds to give anything back. */
    @Test
    void look_afterCachesWereGivenBack_waitsForWhatThatDoes() {
        group = percent(86);
        look(10);
        assertThat(givenBack).isEqualTo(1);
        look(2);
        assertThat(givenBack).isEqualTo(2);
    }

    @Test
    void look_whenAllTasksWaitForMemory_givesCachesBackHoweverMuchIsLeft() {
        group = new Reading(LIMIT / 2, LIMIT, 25);
        look(1);
        assertThat(watch.state()).isEqualTo(State.NEAR);
        assertThat(givenBack).isEqualTo(1);
    }
}

package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.gateway.MemoryGroup.Reading;
import io.posixgateway.alluxio.gateway.MemoryWatch.State;
import io.posixgateway.alluxio.meta.CacheBudget;
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
    void look_nearAlthoughAllCachesWereGivenBack_takesVolumes() {
        heap = percent(89);
        look(200);
        assertThat(cache.isSpent()).isTrue();
        assertThat(watch.state()).isEqualTo(State.NEAR);
        assertThat(watch.refuse()).isNull();
        heap = percent(60);
        look(20);
        assertThat(watch.state()).isEqualTo(State.CALM);
        assertThat(cache.limitBytes()).isEqualTo(CACHE_BYTES);
    }

    @Test
    void look_shortOfMemory_refusesVolumesUntilItIsNot() {
        heap = percent(90);
        look(1);
        assertThat(givenBack).as("caches go first").isEqualTo(1);
        assertThat(watch.refuse())
                .contains("900 of 1000 MiB")
                .contains("POSIX_GATEWAY_HEAP")
                .contains("node.gateway.resources.limits.memory");
        assertThat(watch.counts().refused()).isEqualTo(1);
        heap = percent(89);
        look(1);
        assertThat(watch.state()).as("it is not refused and taken by turns").isEqualTo(State.SHORT);
        heap = percent(87);
        look(1);
        assertThat(watch.state()).isEqualTo(State.NEAR);
        assertThat(watch.refuse()).isNull();
        heap = percent(82);
        look(300);
        assertThat(watch.state()).isEqualTo(State.NEAR);
        assertThat(cache.limitBytes()).as("it does not grow yet").isLessThan(CACHE_BYTES);
    }

    @Test
    void look_veryNearTheLimitOfTheGroup_refusesAtOnce() {
        group = percent(94);
        look(1);
        assertThat(watch.refuse()).contains("940 of 1000 MiB").contains("control group");
    }

    /** Each try has the collector work; a process that just needs so much is left in peace. */
    @Test
    void look_nearForLongWithNothingLeftToGiveBack_triesLessAndLessOften() {
        heap = percent(87);
        look(1);
        while (!cache.isSpent()) {
            look(1);
        }
        int before = givenBack;
        look(3600);
        assertThat(givenBack - before).isBetween(5, 12);
        heap = percent(91);
        before = givenBack;
        look(12);
        assertThat(givenBack - before).as("once it gets short").isEqualTo(1);
        heap = percent(50);
        look(20);
        heap = percent(87);
        before = givenBack;
        look(12);
        assertThat(givenBack - before).as("once it was calm").isBetween(1, 2);
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

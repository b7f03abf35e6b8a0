package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A keeper that crashed is followed by one that holds nothing. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeeperWatchTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofSeconds(2);
    private static final Duration AGAIN = Duration.ofMillis(50);

    private final ManualClock clock = new ManualClock();
    private final Set<String> held = ConcurrentHashMap.newKeySet();
    private final AtomicInteger looks = new AtomicInteger();
    private volatile boolean away;
    private volatile CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean refuses;

    private final class Keeper implements KeeperWatch.Keeper {
        @Override
        public KeeperWatch.Connection connect(long nanos) {
            CountDownLatch end = ended;
            boolean none = away;
            return new KeeperWatch.Connection() {
                @Override
                public boolean awaitEnd() {
                    try {
                        return none || clock.await(end, nanos);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        return true;
                    }
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public Set<String> held() throws KeeperException {
            looks.incrementAndGet();
            if (away) {
                throw new KeeperException(KeeperException.UNAVAILABLE, "away");
            }
            return held;
        }

        @Override
        public List<KeeperWatch.Served> served() {
            return List.of(session("x"), session("y"));
        }
    }

    private KeeperWatch.Served session(String name) {
        return new KeeperWatch.Served() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public boolean give() throws KeeperException {
                if (refuses) {
                    throw new KeeperException(KeeperException.INVALID, "too old");
                }
                return held.add(name);
            }
        };
    }

    /** Until the next look is over. */
    private void look() throws Exception {
        untilItWaitsAgain(() -> clock.advance(LOOK));
    }

    private void untilItWaitsAgain(Runnable change) throws Exception {
        long before = clock.waits();
        change.run();
        Waiting.until("the next look", LIMIT, () -> clock.waits() > before);
    }

    @Test
    void sessions_are_given_to_a_keeper_that_does_not_hold_them() throws Exception {
        held.addAll(Set.of("x", "y"));
        try (KeeperWatch watch = KeeperWatch.start(new Keeper(), clock)) {
            clock.awaitWaiting(1);
            assertThat(watch.unkept()).isZero();
            away = true;
            held.clear();
            look();
            assertThat(watch.unkept()).isEqualTo(2);
            away = false;
            refuses = true;
            look();
            assertThat(watch.unkept()).isEqualTo(2);
            refuses = false;
            look();
            Waiting.until("both are held", LIMIT, () -> held.equals(Set.of("x", "y")));
            assertThat(watch.unkept()).isZero();
        }
    }

    /** A gateway that is killed a second after its keeper ends no mount. */
    @Test
    void the_next_keeper_is_given_the_sessions_as_soon_as_the_last_one_has_ended() throws Exception {
        held.addAll(Set.of("x", "y"));
        try (KeeperWatch watch = KeeperWatch.start(new Keeper(), clock)) {
            clock.awaitWaiting(1);
            away = true;
            held.clear();
            untilItWaitsAgain(ended::countDown);
            untilItWaitsAgain(() -> clock.advance(AGAIN));
            assertThat(watch.unkept()).isEqualTo(2);
            ended = new CountDownLatch(1);
            away = false;
            untilItWaitsAgain(() -> clock.advance(AGAIN));
            assertThat(held).containsExactlyInAnyOrder("x", "y");
        }
    }
}

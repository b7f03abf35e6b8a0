package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.metrics.SessionMetrics;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HandoverPoolTest {
    private static final int THREADS = 4;

    /** Longer than a loaded machine keeps a thread from running. */
    private static final long STUCK_NANOS = 300_000_000;

    private final HandoverPool pool = new HandoverPool(THREADS, new SessionMetrics(), Long.MAX_VALUE / 2);
    private final Set<Thread> seen = ConcurrentHashMap.newKeySet();

    private void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatWaitsGetsAThreadEachAsLongAsThereMayBeMoreAndTheRestComesLater() {
        CountDownLatch running = new CountDownLatch(THREADS);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        for (int i = 0; i < 3 * THREADS; i++) {
            assertThat(pool.execute(() -> {
                        seen.add(Thread.currentThread());
                        running.countDown();
                        await(go);
                        done.incrementAndGet();
                    }))
                    .isTrue();
        }
        await(running);
        assertThat(done).hasValue(0);
        go.countDown();
        assertThat(pool.finish(30)).isTrue();
        assertThat(done).hasValue(3 * THREADS);
        assertThat(seen).hasSize(THREADS);
        assertThat(pool.execute(() -> {})).isFalse();
    }

    @Test
    void oneAfterAnotherNeedsOneThread() throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            CountDownLatch done = new CountDownLatch(1);
            pool.execute(() -> {
                seen.add(Thread.currentThread());
                done.countDown();
            });
            await(done);
            Thread first = seen.iterator().next();
            while (first.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
        }
        assertThat(pool.finish(30)).isTrue();
        assertThat(seen).hasSize(1);
    }

    @Test
    void whatIsStuckIsReplacedAsLongAsItLasts() throws InterruptedException {
        HandoverPool relieved = new HandoverPool(THREADS, new SessionMetrics(), STUCK_NANOS);
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < 2 * THREADS; i++) {
            relieved.execute(() -> await(go));
        }
        CountDownLatch others = new CountDownLatch(3 * THREADS);
        for (int i = 0; i < 3 * THREADS; i++) {
            relieved.execute(others::countDown);
        }
        await(others);
        assertThat(relieved.most()).isBetween(2 * THREADS, 4 * THREADS);
        go.countDown();
        while (relieved.most() > THREADS) {
            Thread.sleep(1);
        }
        assertThat(relieved.finish(30)).isTrue();
    }

    @Test
    void thereIsABoundOfWhatIsReplaced() throws InterruptedException {
        HandoverPool relieved = new HandoverPool(1, new SessionMetrics(), 1_000_000);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        for (int i = 0; i < 20; i++) {
            relieved.execute(() -> {
                running.incrementAndGet();
                await(go);
            });
        }
        while (running.get() < 8) {
            Thread.sleep(1);
        }
        Thread.sleep(50);
        assertThat(running).hasValue(8);
        go.countDown();
        assertThat(relieved.finish(30)).isTrue();
        assertThat(running).hasValue(20);
    }
}

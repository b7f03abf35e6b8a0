package io.posixgateway.fuse.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.time.ManualClock;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class BlockingPoolTest {
    private static final int THREADS = 4;

    private final ManualClock clock = new ManualClock();
    private final Queue<Runnable> planned = new ConcurrentLinkedQueue<>();
    private final BlockingPool pool = new BlockingPool(THREADS, new SessionMetrics(clock), this::plan);
    private final Set<Thread> seen = ConcurrentHashMap.newKeySet();

    private void plan(Runnable work, long delayNanos) {
        planned.add(work);
    }

    /** So much later, what was planned until then is done. */
    private void after(long nanos) {
        clock.advanceNanos(nanos);
        for (int count = planned.size(); count > 0; count--) {
            planned.remove().run();
        }
    }

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
            Eventually.holds("it is idle", () -> first.getState() == Thread.State.TIMED_WAITING);
        }
        assertThat(pool.finish(30)).isTrue();
        assertThat(seen).hasSize(1);
    }

    @Test
    void whatIsStuckIsReplacedAsLongAsItLasts() throws InterruptedException {
        CountDownLatch stuck = new CountDownLatch(THREADS);
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < THREADS; i++) {
            pool.execute(() -> {
                stuck.countDown();
                await(go);
            });
        }
        await(stuck);
        CountDownLatch others = new CountDownLatch(3 * THREADS);
        for (int i = 0; i < 3 * THREADS; i++) {
            pool.execute(others::countDown);
        }
        after(BlockingPool.STUCK_NANOS - 1);
        assertThat(pool.most()).isEqualTo(THREADS);
        after(3);
        await(others);
        assertThat(pool.most()).isEqualTo(2 * THREADS);
        go.countDown();
        Eventually.holds("nothing is stuck", () -> {
            after(0);
            return pool.most() == THREADS;
        });
        assertThat(pool.finish(30)).isTrue();
    }

    @Test
    void thereIsABoundOfWhatIsReplaced() throws InterruptedException {
        BlockingPool one = new BlockingPool(1, new SessionMetrics(clock), this::plan);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        for (int i = 0; i < 20; i++) {
            one.execute(() -> {
                running.incrementAndGet();
                await(go);
            });
        }
        for (int threads = 1; threads <= BlockingPool.MAX_TIMES; threads++) {
            int expected = threads;
            Eventually.holds(expected + " threads are at work", () -> running.get() == expected);
            after(2 * BlockingPool.STUCK_NANOS);
        }
        assertThat(one.most()).isEqualTo(BlockingPool.MAX_TIMES);
        go.countDown();
        assertThat(one.finish(30)).isTrue();
        assertThat(running).hasValue(20);
        assertThat(one.made()).isEqualTo(BlockingPool.MAX_TIMES);
    }

    /** A server that hangs, with many sessions, is not to cost a thread for each request that waits. */
    @Test
    void whatIsReplacedInAllPoolsHasABound() throws InterruptedException {
        ExtraThreads shared = new ExtraThreads(4 * ExtraThreads.FIRST);
        CountDownLatch go = new CountDownLatch(1);
        BlockingPool greedy = new BlockingPool(THREADS, new SessionMetrics(clock), this::plan, shared);
        BlockingPool other = new BlockingPool(THREADS, new SessionMetrics(clock), this::plan, shared);
        fillUp(greedy, THREADS + 3 * ExtraThreads.FIRST, go);
        fillUp(other, THREADS + ExtraThreads.FIRST, go);
        assertThat(greedy.most())
                .as("the last quarter is for those that have none")
                .isEqualTo(28);
        go.countDown();
        assertThat(greedy.finish(30)).isTrue();
        assertThat(other.finish(30)).isTrue();
        after(2 * BlockingPool.STUCK_NANOS);
        assertThat(shared.change(0, 1000)).as("all was given back").isEqualTo(3 * ExtraThreads.FIRST);
    }

    /** More waits than it may have threads. */
    private void fillUp(BlockingPool filled, int expected, CountDownLatch go) throws InterruptedException {
        AtomicInteger running = new AtomicInteger();
        for (int i = 0; i < 2 * expected; i++) {
            filled.execute(() -> {
                running.incrementAndGet();
                await(go);
            });
        }
        Eventually.holds(expected + " threads are at work", () -> {
            after(2 * BlockingPool.STUCK_NANOS);
            return running.get() == expected;
        });
        after(2 * BlockingPool.STUCK_NANOS);
        assertThat(running).hasValue(expected);
    }

    /** As at a limit of processes: the request can be answered, and who ends a process that is out of memory is told. */
    /** Else its request would be answered twice: by who hears that it was refused, and by the pool. */
    @Test
    void whatIsQueuedIsTakenThoughNothingCanLookAfterIt() {
        AtomicInteger looks = new AtomicInteger();
        BlockingPool alone = new BlockingPool(1, new SessionMetrics(clock), (work, delayNanos) -> {
            looks.incrementAndGet();
            throw new IllegalStateException("thrown on purpose by the timer");
        });
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        assertThat(alone.execute(() -> await(go))).isTrue();
        for (int i = 1; i <= 2; i++) {
            assertThat(alone.execute(done::incrementAndGet)).isTrue();
            assertThat(looks).as("the next one tries it again").hasValue(i);
        }
        go.countDown();
        assertThat(alone.finish(30)).isTrue();
        assertThat(done).hasValue(2);
    }

    @Test
    void whatGetsNoThreadIsRefusedAndTold() throws InterruptedException {
        AtomicReference<Throwable> told = new AtomicReference<>();
        AtomicReference<Boolean> taken = new AtomicReference<>();
        BlockingPool poor = new BlockingPool(THREADS, new SessionMetrics(clock), this::plan) {
            @Override
            Thread newThread(Runnable work) {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
        Thread asking = new Thread(() -> taken.set(poor.execute(() -> {})));
        asking.setUncaughtExceptionHandler((thread, failure) -> told.set(failure));
        asking.start();
        asking.join();
        assertThat(taken).hasValue(false);
        assertThat(told.get()).isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void whatFailsLaterIsTold() throws InterruptedException {
        AtomicReference<Throwable> told = new AtomicReference<>();
        BlockingPool.later()
                .run(
                        () -> {
                            Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> told.set(failure));
                            throw new OutOfMemoryError("Direct buffer memory");
                        },
                        0);
        Eventually.holds("it is told", () -> told.get() instanceof OutOfMemoryError);
    }
}

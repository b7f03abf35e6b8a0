package io.posixgateway.fuse.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures that nobody expects end neither a thread nor what follows. */
class SupervisedTest {
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();

    private static void fail(Class<? extends Throwable> kind) {
        try {
            throw kind.getConstructor().newInstance();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalArgumentException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class, LinkageError.class})
    void periodicWork_thatFails_isDoneAgainUntilItsThreadIsInterrupted(Class<? extends Throwable> kind)
            throws Exception {
        AtomicInteger runs = new AtomicInteger();
        Thread thread = new Thread(Supervised.periodically(clock, PAUSE.toNanos(), "Work", () -> {
            runs.incrementAndGet();
            fail(kind);
        }));
        thread.start();
        Eventually.holds("it is done again", () -> {
            clock.advance(PAUSE);
            return runs.get() > 2;
        });
        thread.interrupt();
        thread.join();
    }

    /** As where nobody catches it: the process may have to end. */
    @Test
    void work_thatFailsForWantOfMemory_tellsTheThreadsHandler() throws Exception {
        AtomicReference<Throwable> heard = new AtomicReference<>();
        CountDownLatch gone = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            Supervised.run("Work", () -> fail(OutOfMemoryError.class));
            gone.countDown();
        });
        thread.setUncaughtExceptionHandler((one, failure) -> heard.set(failure));
        thread.start();
        gone.await();
        assertThat(heard.get()).isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void workThatFails_orHangs_keepsNoOtherFromBeingDone() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger done = new AtomicInteger();
        Runnable hangs = () -> {
            try {
                never.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        AtomicReference<Boolean> all = new AtomicReference<>();
        Thread waiting = Supervised.start(
                "waiting",
                "Waiting",
                () -> all.set(Supervised.together(
                        "work",
                        List.of(hangs, () -> fail(LinkageError.class), done::incrementAndGet),
                        clock,
                        PAUSE.toNanos())));
        Eventually.holds("the third one is done", () -> done.get() == 1);
        Eventually.holds("it is waited no longer", () -> {
            clock.advance(PAUSE);
            return all.get() != null;
        });
        assertThat(all.get()).isFalse();
        assertThat(waiting.isDaemon()).isTrue();
        never.countDown();
        List<Runnable> both = List.of(hangs, () -> fail(LinkageError.class));
        assertThat(Supervised.together("work", both, Clock.system(), Long.MAX_VALUE))
                .isTrue();
    }
}

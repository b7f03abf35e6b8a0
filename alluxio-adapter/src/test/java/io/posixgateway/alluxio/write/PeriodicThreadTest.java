package io.posixgateway.alluxio.write;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PeriodicThreadTest {
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final AtomicInteger runs = new AtomicInteger();

    private void failOnce() {
        if (runs.incrementAndGet() == 1) {
            throw new LinkageError("nobody expects this");
        }
    }

    @Test
    void work_thatFailsWithAnError_isRunAgain() throws Exception {
        PeriodicThread thread =
                new PeriodicThread(clock, "periodic", PAUSE.toNanos(), () -> true, this::failOnce, () -> {});
        thread.start();
        Eventually.holds("it is run again", () -> {
            clock.advance(PAUSE);
            return runs.get() > 1;
        });
        Thread running = thread.close();
        if (running != null) {
            running.join();
        }
    }
}

package io.posixgateway.alluxio.serve;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.gateway.MemoryGroup;
import io.posixgateway.alluxio.gateway.MemoryWatch;
import io.posixgateway.alluxio.gateway.ServedVolume;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.time.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Without it nothing interrupts a call of a hung Alluxio, and nothing keeps the process away from the end of its memory. */
class WatchdogTest {
    private final ManualClock clock = new ManualClock();
    private final AtomicInteger looksAtMemory = new AtomicInteger();
    private final AtomicInteger looksAtVolumes = new AtomicInteger();

    private MemoryGroup.Reading memory() {
        looksAtMemory.incrementAndGet();
        throw new StackOverflowError("nobody expects this");
    }

    private List<ServedVolume> volumes() {
        looksAtVolumes.incrementAndGet();
        throw new LinkageError("nobody expects this");
    }

    @Test
    void looks_thatFailWithAnError_areRepeated() throws Exception {
        MemoryWatch memory = new MemoryWatch(
                this::memory,
                () -> MemoryGroup.Reading.NONE,
                AlluxioMount.Shared.ofOne(clock).cache(),
                () -> {});
        try (Watchdog watchdog = new Watchdog(this::volumes, memory, clock)) {
            watchdog.start();
            Eventually.holds("both look again", () -> {
                clock.advance(Duration.ofSeconds(1));
                return looksAtMemory.get() > 1 && looksAtVolumes.get() > 1;
            });
        }
    }
}

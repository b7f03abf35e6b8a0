package io.posixgateway.alluxio.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.time.ManualClock;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who leads; that a killed process does so no more, whatever its threads wait for, is pgw_life_lock_test's. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeaderLockTest {
    private final ManualClock clock = new ManualClock();
    private final Path path;

    LeaderLockTest(@TempDir Path folder) {
        this.path = folder.resolve("spool/.lead");
    }

    private static void take(LeaderLock lock) {
        try {
            lock.take();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void take_whileAnotherLeads_waitsForItsEnd() throws Exception {
        try (LeaderLock leads = LeaderLock.of(path, clock);
                LeaderLock waits = LeaderLock.of(path, clock)) {
            assertThat(leads.tryTake()).isTrue();
            assertThat(leads.tryTake()).isTrue();
            assertThat(waits.tryTake()).isFalse();
            CompletableFuture<Void> taken = CompletableFuture.runAsync(() -> take(waits));
            Eventually.holds("it waits", () -> clock.waiting() > 0);
            clock.advance(Duration.ofSeconds(1));
            Eventually.holds("it waits again", () -> clock.waiting() > 0);
            assertThat(taken).isNotDone();
            leads.close();
            Eventually.holds("it leads", () -> {
                clock.advance(Duration.ofSeconds(1));
                return taken.isDone();
            });
            taken.get();
        }
    }

    @Test
    void take_afterClose_fails() throws Exception {
        try (LeaderLock leads = LeaderLock.of(path, clock);
                LeaderLock waits = LeaderLock.of(path, clock)) {
            assertThat(leads.tryTake()).isTrue();
            waits.close();
            assertThatThrownBy(waits::take).isInstanceOf(ClosedChannelException.class);
        }
    }
}

package io.posixgateway.alluxio.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who leads; that a killed process does so no more, whatever its threads wait for, is pgw_life_lock_test's. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeaderLockTest {
    private final ManualClock clock = new ManualClock();
    private final LeaderLock leads;
    private final LeaderLock waits;

    LeaderLockTest(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("spool/.lead");
        this.leads = LeaderLock.of(path, clock);
        this.waits = LeaderLock.of(path, clock);
    }

    @AfterEach
    void end() {
        leads.close();
        waits.close();
    }

    private static void take(LeaderLock lock) {
        try {
            lock.take();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void take_whileAnotherLeads_waitsForItsEnd() throws Exception {
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

    @Test
    void take_afterClose_fails() throws Exception {
        assertThat(leads.tryTake()).isTrue();
        waits.close();
        assertThatThrownBy(waits::take).isInstanceOf(ClosedChannelException.class);
    }
}

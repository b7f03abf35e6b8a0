package io.posixgateway.alluxio.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.time.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
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
    private final Path path;

    LeaderLockTest(@TempDir Path folder) throws IOException {
        this.path = folder.resolve("spool/.lead");
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

    /** Such as for want of descriptors: a standby that ends then would be missed later. */
    @Test
    void take_whileTheFileCannotBeOpened_triesAgain() throws Exception {
        Files.delete(path);
        CompletableFuture<Void> taken = CompletableFuture.runAsync(() -> take(waits));
        for (int i = 0; i < 3; i++) {
            Eventually.holds("it tries again", () -> clock.waiting() > 0 || taken.isDone());
            assertThat(taken).isNotDone();
            clock.advance(Duration.ofSeconds(10));
        }
        Files.createFile(path);
        Eventually.holds("it leads", () -> {
            if (clock.waiting() > 0) {
                clock.advance(Duration.ofSeconds(1));
            }
            return taken.isDone();
        });
        taken.get();
    }

    @Test
    void take_whileTheFileCannotBeOpenedForLong_fails() throws Exception {
        Files.delete(path);
        CompletableFuture<Void> taken = CompletableFuture.runAsync(() -> take(waits));
        Eventually.holds("it gives up", () -> {
            clock.advance(Duration.ofSeconds(10));
            return taken.isDone();
        });
        assertThat(taken).isCompletedExceptionally();
    }

    @Test
    void take_afterClose_fails() throws Exception {
        assertThat(leads.tryTake()).isTrue();
        waits.close();
        assertThatThrownBy(waits::take).isInstanceOf(ClosedChannelException.class);
    }
}

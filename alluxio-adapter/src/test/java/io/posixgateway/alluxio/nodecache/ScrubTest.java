package io.posixgateway.alluxio.nodecache;

import static io.posixgateway.alluxio.nodecache.FillingProcess.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.fuse.conformance.Eventually;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Pieces that nobody reads, on a disk that changes them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScrubTest {
    private static final CacheKey FILE = new CacheKey(new Tenant(5), 1, 10_000, 1_000);
    private static final CacheKey OTHER = new CacheKey(new Tenant(5), 2, 10_000, 1_000);

    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final ManualClock clock = new ManualClock();
    private final CacheFolders folders = new CacheFolders(clock);

    private CacheFolders.Shared opened() throws IOException {
        return opened(new LocalDisk(above.resolve("cache")));
    }

    private CacheFolders.Shared opened(FolderDisk disk) throws IOException {
        return folders.open(above.resolve("cache"), 1 << 20, false, disk);
    }

    private static void keep(CacheFolders.Shared shared, CacheKey file) {
        shared.cache().keep(file, 0, List.of(ByteBuffer.wrap(content(file, 0))));
    }

    private void damageAll() throws IOException {
        try (Stream<Path> files = Files.walk(above.resolve("cache/pieces"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                bytes[0] ^= 1;
                Files.write(file, bytes);
            }
        }
    }

    @Test
    void piecesOfAnEarlierProcess_areComparedAtOnce() throws Exception {
        try (CacheFolders.Shared before = opened()) {
            keep(before, FILE);
        }
        damageAll();
        try (CacheFolders.Shared next = opened()) {
            Eventually.holds("the damaged one is dropped", () -> next.cache().dropped() == 1);
            assertThat(next.cache().has(FILE, 0)).isFalse();
        }
    }

    @Test
    void wholePiecesOfAnEarlierProcess_mayBePassedThroughBeforeAnybodyReadsThem() throws Exception {
        try (CacheFolders.Shared before = opened()) {
            keep(before, FILE);
        }
        try (CacheFolders.Shared next = opened()) {
            Eventually.holds("it is verified", () -> next.cache().hasVerified(FILE, 0));
        }
    }

    @Test
    void allPieces_areComparedEachDay() throws Exception {
        try (CacheFolders.Shared shared = opened()) {
            clock.awaitWaiting(1);
            keep(shared, FILE);
            keep(shared, OTHER);
            clock.advance(Duration.ofHours(23));
            assertThat(shared.cache().scrubbed()).isZero();
            clock.advance(Duration.ofHours(1));
            Eventually.holds("both were compared", () -> shared.cache().scrubbed() == 2);
            clock.awaitWaiting(1);
            damageAll();
            clock.advance(Duration.ofHours(24));
            Eventually.holds("both are dropped", () -> shared.cache().dropped() == 2);
        }
    }

    /** Of what a disk does not read in an outage, little is damaged. */
    @Test
    void diskThatFailsForAWhile_losesOnePiece() throws Exception {
        FaultyDisk disk = new FaultyDisk(new LocalDisk(above.resolve("cache")));
        try (CacheFolders.Shared shared = opened(disk)) {
            clock.awaitWaiting(1);
            keep(shared, FILE);
            keep(shared, OTHER);
            disk.readsFail = true;
            clock.advance(Duration.ofHours(24));
            Eventually.holds("the first one is dropped", () -> shared.cache().dropped() == 1);
            clock.awaitWaiting(1);
            disk.readsFail = false;
            clock.advance(Duration.ofSeconds(30));
            Eventually.holds("the other one is compared", () -> shared.cache().scrubbed() == 1);
            assertThat(shared.cache().dropped()).isEqualTo(1);
        }
    }

    @Test
    void pieceWhoseComparisonThrows_endsNothing() throws Exception {
        FaultyDisk disk = new FaultyDisk(new LocalDisk(above.resolve("cache")));
        try (CacheFolders.Shared shared = opened(disk)) {
            clock.awaitWaiting(1);
            keep(shared, FILE);
            disk.failure = () -> {
                throw new IllegalStateException("unforeseen");
            };
            disk.readsFail = true;
            clock.advance(Duration.ofHours(24));
            clock.awaitWaiting(1);
            disk.readsFail = false;
            clock.advance(Duration.ofHours(24));
            Eventually.holds("it is compared", () -> shared.cache().scrubbed() == 1);
        }
    }

    @Test
    void scrub_endsWithTheFolder() throws Exception {
        opened().close();
        Eventually.holds("nobody waits", () -> clock.waiting() == 0);
    }
}

package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.harness.Walk;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker that is short of room. */
class WorkerFullIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long WORKER_BYTES = 64L << 20;
    private static final byte[] PART = new byte[8 << 20];
    private static final int PARTS = 6;

    /** After so long the worker hears of what was read. */
    private static final Duration BETWEEN_REPORTS = Duration.ofSeconds(5);

    private static EmbeddedAlluxio alluxio;

    private final OffsetClock clock = new OffsetClock();
    private final Path spool;

    WorkerFullIT(@TempDir Path spool) {
        this.spool = spool;
    }

    @BeforeAll
    static void start() throws IOException {
        alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults().withWorkers(1, WORKER_BYTES));
    }

    @AfterAll
    static void stop() {
        if (alluxio != null) {
            alluxio.close();
        }
    }

    private AlluxioFileSystem open(String name, String value) throws StoreException {
        Map<String, String> options = Map.of(name, value, "spool", spool.toString());
        return AlluxioMount.open(
                AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"),
                AdapterOptions.of(AdapterOptions.TABLE.read(options)),
                clock);
    }

    @Test
    void workersThatAreFullAreSaid() throws Exception {
        byte[] old = new byte[1_000_000];
        new Random(1).nextBytes(old);
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(open("write_type", "MUST_CACHE"), TransportChoice.AUTO)) {
            Eventually.holds("a worker has room", () -> mounted.root().toFile().getTotalSpace() > 0);
            Path file = Files.write(mounted.root().resolve("file"), old);
            Path large = mounted.root().resolve("large");
            assertThatThrownBy(() -> Files.write(large, new byte[(int) WORKER_BYTES + 1]))
                    .hasMessageContaining("No space left");
            assertThatThrownBy(() -> Files.write(file, new byte[(int) WORKER_BYTES + 1]))
                    .hasMessageContaining("No space left");
        }
    }

    @Test
    void whatDoesNotFitLeavesTheOldContent() throws Exception {
        byte[] old = new byte[1_000_000];
        new Random(2).nextBytes(old);
        try (MountedFileSystem persisting =
                        MountedFileSystem.mount(open("write_type", "CACHE_THROUGH"), TransportChoice.AUTO);
                MountedFileSystem mounted =
                        MountedFileSystem.mount(open("write_type", "MUST_CACHE"), TransportChoice.AUTO)) {
            Eventually.holds("a worker has room", () -> mounted.root().toFile().getTotalSpace() > 0);
            Files.write(persisting.root().resolve("kept"), old);
            Path file = mounted.root().resolve("kept");
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> Files.write(file, new byte[(int) WORKER_BYTES + 1]))
                        .hasMessageContaining("No space left");
                assertThat(file).hasBinaryContent(old);
                assertThat(persisting.root().resolve("kept")).hasBinaryContent(old);
            }
        }
    }

    /** It does not see that its block files are read. */
    @Test
    void theWorkerKeepsWhatIsReadAsFiles() throws Exception {
        AlluxioFileSystem files = open("passthrough", "off");
        try (MountedFileSystem mounted = MountedFileSystem.mount(files, TransportChoice.AUTO)) {
            String first = write(mounted.root(), 0);
            String second = write(mounted.root(), 1);
            for (int i = 2; i < PARTS; i++) {
                write(mounted.root(), i);
            }
            long before = files.details().blocks().told();
            assertThat(mounted.root().resolve("f0")).hasBinaryContent(PART);
            Waiting.until("the worker hears of it", PATIENCE, () -> {
                clock.advance(BETWEEN_REPORTS);
                return files.details().blocks().told() > before;
            });
            for (int i = PARTS; blocks().contains(second); i++) {
                assertThat(i).as("more than the worker has room for").isLessThan(4 * PARTS);
                write(mounted.root(), i);
            }
            assertThat(blocks()).contains(first);
        }
    }

    /** The name of the block file that this made; there may be none while the worker clears away what other tests left. */
    private static String write(Path root, int number) throws Exception {
        Set<String> made = new HashSet<>();
        Waiting.until("the worker keeps what is written", PATIENCE, () -> {
            Set<String> before = blocks();
            Files.write(root.resolve("f" + number), PART);
            made.addAll(blocks());
            made.removeAll(before);
            return !made.isEmpty();
        });
        return made.iterator().next();
    }

    private static Set<String> blocks() {
        return Walk.files(alluxio.ufs().resolveSibling("blocks")).stream()
                .map(path -> path.getFileName().toString())
                .collect(Collectors.toSet());
    }
}

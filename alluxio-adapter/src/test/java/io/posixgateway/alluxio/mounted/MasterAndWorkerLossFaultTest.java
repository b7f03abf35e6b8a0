package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.client.ShortTimeouts;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.conformance.QuietTime;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Alluxio's servers are killed under a mount and come back: what needs them fails with EIO in bounded time and is logged,
 * what is read is never wrong, and all works again without remounting, through old handles and new ones.
 */
class MasterAndWorkerLossFaultTest {
    /** Several times what the client's own limits allow. */
    private static final Duration BOUND = Duration.ofSeconds(60);

    private static final Duration PATIENCE = Duration.ofSeconds(100);
    private static final int PIECE_BYTES = 128 << 10;
    private static final int PIECES = 256;
    private static final int PAGE_BYTES = 4096;
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime());

    private final EmbeddedAlluxio alluxio;
    private final TestDirectory own;
    private final Path spool;
    private final ShortTimeouts timeouts = new ShortTimeouts();

    MasterAndWorkerLossFaultTest(@TempDir Path spool) throws Exception {
        this.spool = spool;
        alluxio = Clusters.killable();
        own = Clusters.directory(alluxio);
    }

    @AfterEach
    void usualTimeouts() {
        timeouts.close();
    }

    private void bringBack(ServerProcess server) throws IOException {
        server.start();
        alluxio.awaitReady();
    }

    /** Every byte comes from a worker, and what is known of a file is asked for again after a second. */
    private MountedFileSystem mount() throws Exception {
        return mount("CACHE_THROUGH");
    }

    private MountedFileSystem mount(String writeType) throws Exception {
        Map<String, String> options = Map.of(
                "metadata_ttl", "1s",
                "short_circuit", "off",
                "read_ahead", "2M",
                "write_type", writeType,
                "spool", spool.toString());
        return MountedFileSystem.mount(
                AlluxioMount.open(
                        AlluxioOptions.ofUri(own.uri()), AdapterOptions.of(AdapterOptions.TABLE.read(options))),
                TransportChoice.LIBFUSE);
    }

    @Test
    void readersOutliveTheWorker() throws Exception {
        outlive(alluxio.workers().get(0), List.of("sequential", "random", "opening"));
    }

    @Test
    void readersAndWritersOutliveTheMaster() throws Exception {
        outlive(alluxio.master(), List.of("opening"));
    }

    @Test
    void aFileThatWasInTheLostWorkerOnlyIsCalledLostUntilTheWorkerIsBack() throws Exception {
        ServerProcess worker = alluxio.workers().get(0);
        byte[] content = new byte[PIECE_BYTES];
        new Random(SEED).nextBytes(content);
        try (MountedFileSystem mounted = mount("MUST_CACHE");
                LogLines log = new LogLines()) {
            Path file = Files.write(mounted.root().resolve("in-the-worker"), content);
            try {
                worker.kill();
                Clusters.awaitLoss(alluxio, 0);
                Waiting.until("the log says LOST", PATIENCE, () -> {
                    assertThat(reads(file, content)).isFalse();
                    return log.anyWith("in-the-worker LOST");
                });
                QuietTime time = QuietTime.sinceNow();
                assertThat(reads(file, content)).isFalse();
                assertThat(time.quiet()).isLessThan(Duration.ofSeconds(5));
            } finally {
                bringBack(worker);
            }
            Waiting.until("the worker's blocks are read", PATIENCE, () -> reads(file, content));
        }
    }

    private static boolean reads(Path file, byte[] content) {
        try (FileChannel channel = openUncached(file)) {
            readPiece(channel, content, 0);
            return true;
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("Input/output error");
            return false;
        }
    }

    private void outlive(ServerProcess server, List<String> needIt) throws Exception {
        byte[] content = new byte[PIECES * PIECE_BYTES];
        new Random(SEED).nextBytes(content);
        own.store("of-" + server.name(), content);
        try (MountedFileSystem mounted = mount();
                LogLines log = new LogLines();
                FileChannel kept = openUncached(mounted.root().resolve("of-" + server.name()))) {
            Map<String, SteadyReader> readers =
                    startReaders(mounted.root().resolve("of-" + server.name()), content, kept);
            try {
                awaitMore(readers, "read rightly at first");

                server.kill();
                for (String name : needIt) {
                    SteadyReader reader = Objects.requireNonNull(readers.get(name));
                    Waiting.until(name + " reader gets EIO", PATIENCE, () -> reader.failed() > 0);
                }
                Waiting.until("it is logged", PATIENCE, () -> log.anyWith("failed with EIO"));
                Path lost = mounted.root().resolve("lost-" + server.name());
                if (server == alluxio.master()) {
                    assertThatThrownBy(() -> Files.writeString(lost, "x"))
                            .isInstanceOf(IOException.class)
                            .hasMessageContaining("Input/output error");
                }

                bringBack(server);
                String name = "lost-" + server.name();
                Waiting.until("the name can be taken again", PATIENCE, () -> writes(lost) || isSaved(name));
                assertThat(own.stored(name)).asString().isIn("x", "y");
                awaitMore(readers, "read rightly again");
            } finally {
                readers.values().forEach(SteadyReader::close);
            }
            for (SteadyReader reader : readers.values()) {
                reader.endHonestly(BOUND);
            }
            for (int piece = 0; piece < PIECES; piece++) {
                readPiece(kept, content, piece);
            }
            assertThat(mounted.root().resolve("of-" + server.name())).hasBinaryContent(content);
        }
    }

    private static Map<String, SteadyReader> startReaders(Path file, byte[] content, FileChannel kept) {
        AtomicInteger next = new AtomicInteger();
        Random random = new Random(SEED);
        Random other = new Random(SEED + 1);
        return Map.of(
                "sequential",
                new SteadyReader("sequential reader", () -> readPiece(kept, content, next.getAndIncrement() % PIECES)),
                "random",
                new SteadyReader("random reader", () -> readPiece(kept, content, random.nextInt(PIECES))),
                "opening",
                new SteadyReader("opening reader", () -> {
                    try (FileChannel own = openUncached(file)) {
                        readPiece(own, content, other.nextInt(PIECES));
                    }
                }));
    }

    /** Past the kernel's page cache, which would not need a server. */
    private static FileChannel openUncached(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
    }

    private static void readPiece(FileChannel channel, byte[] content, int piece) throws IOException {
        ByteBuffer room = ByteBuffer.allocateDirect(PIECE_BYTES + PAGE_BYTES)
                .alignedSlice(PAGE_BYTES)
                .limit(PIECE_BYTES);
        int at = piece * PIECE_BYTES;
        int count = channel.read(room, at);
        assertThat(count).as("bytes at %d, seed %d", at, SEED).isPositive();
        assertThat(room.flip().equals(ByteBuffer.wrap(content, at, count)))
                .as("bytes at %d are those written, seed %d", at, SEED)
                .isTrue();
    }

    private static void awaitMore(Map<String, SteadyReader> readers, String what) throws Exception {
        List<Integer> before = new ArrayList<>();
        for (SteadyReader reader : readers.values()) {
            before.add(reader.good());
        }
        int i = 0;
        for (SteadyReader reader : readers.values()) {
            int seen = before.get(i++);
            Waiting.until(what, PATIENCE, () -> reader.good() > seen + 2);
        }
    }

    /** Where the close that told the failure was the last one, committing is tried once more after it. */
    private boolean isSaved(String name) throws IOException {
        byte[] saved = own.stored(name);
        return saved != null && saved.length > 0;
    }

    private static boolean writes(Path file) {
        try {
            Files.writeString(file, "y", StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }
}

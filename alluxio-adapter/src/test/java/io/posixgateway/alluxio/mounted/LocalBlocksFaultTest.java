package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.client.ShortTimeouts;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.conformance.QuietTime;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The only worker is killed while its block files are read, by the gateway or by the kernel itself. They stay where they are:
 * what is open is read to its end, and what is opened afterwards is read from them, too, as a mount that has read from them
 * knows where they are. Another mount cannot ask, and answers EIO until the worker is back.
 */
class LocalBlocksFaultTest {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    /** Of one read, in {@link QuietTime}. Nobody is asked. */
    private static final Duration LONGEST_READ = Duration.ofSeconds(60);

    /** As docs/semantics.md has it of the only worker. */
    private static final Duration LONGEST_FAILURE = Duration.ofSeconds(60);

    private static final int PIECE_BYTES = 128 << 10;
    private static final int PAGE_BYTES = 4096;
    /** In one block, as the kernel takes it. */
    private static final int SMALL_PIECES = 32;
    /** In two blocks of 16 MiB. */
    private static final int LARGE_PIECES = 160;

    private final Path spool;
    private final EmbeddedAlluxio alluxio;
    private final TestDirectory own;

    LocalBlocksFaultTest(@TempDir Path spool) throws Exception {
        this.spool = spool;
        alluxio = Clusters.killable();
        own = Clusters.directory(alluxio);
    }

    private ServerProcess worker() {
        return alluxio.workers().get(0);
    }

    private AlluxioFileSystem open(Map<String, String> options) throws Exception {
        Map<String, String> all = new HashMap<>(options);
        all.put("spool", spool.toString());
        return AlluxioMount.open(AlluxioOptions.ofUri(own.uri()), AdapterOptions.of(AdapterOptions.TABLE.read(all)));
    }

    /** By a mount of its own, so that whoever reads them knows nothing of it. */
    private void write(String prefix, int pieces) throws Exception {
        try (MountedFileSystem mounted = MountedFileSystem.mount(open(Map.of()), TransportChoice.AUTO)) {
            for (String name : List.of("open", "reopened", "killed", "lost")) {
                Files.write(mounted.root().resolve(prefix + name), content(pieces));
            }
        }
    }

    @Test
    void whatIsReadFromBlockFilesOutlivesTheWorker() throws Exception {
        write("local-", LARGE_PIECES);
        AlluxioFileSystem fs = open(Map.of("passthrough", "off"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            // Past the kernel's page cache, which would not need a block file.
            ReadFiles files = new ReadFiles(mounted.root(), "local-", LARGE_PIECES, ExtendedOpenOption.DIRECT);
            files.outliveTheWorker();
            assertThat(fs.counts().localReadBytes()).isGreaterThan(4L * LARGE_PIECES * PIECE_BYTES);
            assertThat(fs.counts().remoteReadBytes()).isZero();
        }
    }

    @Test
    void whatTheKernelReadsByItselfOutlivesTheWorker() throws Exception {
        write("passed-", SMALL_PIECES);
        AlluxioFileSystem fs = open(Map.of("passthrough", "on", "consistency", "immutable"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            boolean passes = mounted.session().kernel().features().passthrough();
            if (!passes) {
                System.out.println(
                        "SKIPPED: no passthrough: " + mounted.session().line());
            }
            assumeTrue(passes, "no passthrough: " + mounted.session().line());
            new ReadFiles(mounted.root(), "passed-", SMALL_PIECES).outliveTheWorker();
            assertThat(mounted.session().metrics().requests(Opcode.READ)).isZero();
            assertThat(fs.counts().passthroughOpens()).isGreaterThan(4);
        }
    }

    @Test
    void whoHasNotReadFromTheWorkerBeforeItWasKilledIsToldSoAndReadsWhenItIsBack() throws Exception {
        write("unknown-", SMALL_PIECES);
        worker().kill();
        ShortTimeouts timeouts = new ShortTimeouts();
        try (timeouts;
                MountedFileSystem mounted = MountedFileSystem.mount(open(Map.of()), TransportChoice.AUTO)) {
            Path file = mounted.root().resolve("unknown-open");
            QuietTime time = QuietTime.sinceNow();
            assertThatThrownBy(() -> Files.readAllBytes(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Input/output error");
            assertThat(time.quiet()).isLessThan(LONGEST_FAILURE);
            worker().start();
            alluxio.awaitReady();
            Waiting.until("it is read", PATIENCE, () -> isRead(file));
            assertThat(file).hasBinaryContent(content(SMALL_PIECES));
        }
    }

    private static boolean isRead(Path file) {
        try {
            return Files.readAllBytes(file).length > 0;
        } catch (IOException notYet) {
            return false;
        }
    }

    private static byte[] content(int pieces) {
        byte[] content = new byte[pieces * PIECE_BYTES];
        new Random(pieces).nextBytes(content);
        return content;
    }

    /** The files of one test: one that stays open, one that is opened again and again, and two that are opened late. */
    private final class ReadFiles {
        private final Path root;
        private final String prefix;
        private final int pieces;
        private final byte[] content;
        private final Set<OpenOption> options;

        ReadFiles(Path root, String prefix, int pieces, OpenOption... how) {
            this.root = root;
            this.prefix = prefix;
            this.pieces = pieces;
            this.content = content(pieces);
            this.options = new HashSet<>(Set.of(how));
            this.options.add(StandardOpenOption.READ);
        }

        void outliveTheWorker() throws Exception {
            AtomicInteger next = new AtomicInteger();
            AtomicInteger reopened = new AtomicInteger();
            try (FileChannel open = open("open");
                    FileChannel begun = open("open");
                    SteadyReader steady = new SteadyReader("steady reader", () -> read(open, next.getAndIncrement()));
                    SteadyReader opening = new SteadyReader(
                            "opening reader", () -> readOnce("reopened", reopened.getAndIncrement()))) {
                readAll(begun, 0, pieces / 2);
                List<SteadyReader> readers = List.of(steady, opening);
                awaitWholePass(readers);
                worker().kill();
                readAll(begun, pieces / 2, pieces);
                readWhole("killed");
                awaitWholePass(readers);
                Clusters.awaitLoss(alluxio, 0);
                Waiting.until(
                        "the master has given it up",
                        PATIENCE,
                        () -> root.toFile().getTotalSpace() == 0);
                readWhole("lost");
                awaitWholePass(readers);
                for (SteadyReader reader : readers) {
                    reader.endHonestly(LONGEST_READ);
                    assertThat(reader.failed()).isZero();
                }
            }
        }

        /** Each has read every piece once more. */
        private void awaitWholePass(List<SteadyReader> readers) throws Exception {
            for (SteadyReader reader : readers) {
                int before = reader.good();
                Waiting.until("it is read on", PATIENCE, () -> reader.good() > before + pieces);
            }
        }

        private FileChannel open(String name) throws IOException {
            return FileChannel.open(root.resolve(prefix + name), options);
        }

        private void readOnce(String name, int piece) throws IOException {
            try (FileChannel own = open(name)) {
                read(own, piece);
            }
        }

        private void readWhole(String name) throws IOException {
            try (FileChannel own = open(name)) {
                readAll(own, 0, pieces);
            }
        }

        private void readAll(FileChannel file, int from, int to) throws IOException {
            for (int piece = from; piece < to; piece++) {
                read(file, piece);
            }
        }

        /** Of more pieces than there are, from the beginning again. */
        private void read(FileChannel file, int piece) throws IOException {
            int at = piece % pieces * PIECE_BYTES;
            ByteBuffer room = ByteBuffer.allocateDirect(PIECE_BYTES + PAGE_BYTES)
                    .alignedSlice(PAGE_BYTES)
                    .limit(PIECE_BYTES);
            assertThat(file.read(room, at)).as("bytes at %d", at).isEqualTo(PIECE_BYTES);
            assertThat(room.flip().equals(ByteBuffer.wrap(content, at, PIECE_BYTES)))
                    .as("bytes at %d are those written", at)
                    .isTrue();
        }
    }
}

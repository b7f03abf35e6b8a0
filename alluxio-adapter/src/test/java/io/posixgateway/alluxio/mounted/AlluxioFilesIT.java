package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.conformance.Trees;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A tree, many files, a big file, many readers, through real mounts of Alluxio over libfuse, every byte compared. */
class AlluxioFilesIT {
    private static final int SMALL_FILES = Integer.getInteger("pgw.small.files", 1_500);
    private static final int WRITERS = 8;
    private static final int BLOCK_FILES = 150;
    /** Connections and the like that come and go. */
    private static final int OTHER_DESCRIPTORS = 50;

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int COPY_SECONDS = 240;
    private static final int PIECE_BYTES = 1 << 20;
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime());

    private static byte[] content(long number, int bytes) {
        byte[] content = new byte[bytes];
        new Random(SEED + number).nextBytes(content);
        return content;
    }

    /** The tree has no hard links, which Alluxio lacks. */
    @Test
    void aTreeCopiedInAndOutAgainIsTheSame(@TempDir Path local) throws Exception {
        Path tree = local.resolve("tree");
        Trees.make(tree, SEED);
        List<String> wanted = Trees.describe(tree);
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, Map.of()))) {
            Path copy = mounted.root().resolve("tree");
            Command.run(COPY_SECONDS, "cp", "-a", tree.toString(), copy.toString());
            assertThat(Trees.describe(copy)).isEqualTo(wanted);
        }
        Path back = local.resolve("back");
        try (MountedFileSystem anew = mount(SharedAlluxio.open(folder, Map.of()))) {
            Command.run(COPY_SECONDS, "cp", "-a", anew.root().resolve("tree").toString(), back.toString());
        }
        assertThat(Trees.describe(back)).isEqualTo(wanted);
    }

    /** Mounts over libfuse, and does not believe it without the session's own word. */
    private static MountedFileSystem mount(AlluxioFileSystem fileSystem) throws IOException {
        MountedFileSystem mounted = MountedFileSystem.mount(fileSystem, TransportChoice.LIBFUSE);
        try {
            assertThat(mounted.session().line()).startsWith("transport libfuse ");
            return mounted;
        } catch (AssertionError e) {
            mounted.close();
            throw e;
        }
    }

    @Test
    void manySmallFilesAreWrittenListedAndRead() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("metadata_ttl", "1m", "block_files", Integer.toString(BLOCK_FILES));
        AlluxioFileSystem fs = SharedAlluxio.open(folder, options);
        try (MountedFileSystem mounted = mount(fs)) {
            inParallel(WRITERS, writer -> {
                for (int i = writer; i < SMALL_FILES; i += WRITERS) {
                    Files.write(mounted.root().resolve("f" + i), content(i, 100 + i % 5000));
                }
                return writer;
            });
            try (Stream<Path> listed = Files.list(mounted.root())) {
                assertThat(listed.map(path -> path.getFileName().toString()).distinct())
                        .hasSize(SMALL_FILES);
            }
            inParallel(WRITERS, reader -> {
                for (int i = reader; i < SMALL_FILES; i += WRITERS * 5) {
                    Path file = mounted.root().resolve("f" + i);
                    assertThat(Files.readAllBytes(file)).isEqualTo(content(i, 100 + i % 5000));
                    assertThat(SharedAlluxio.ufs(folder).resolve("f" + i)).hasSize(100 + i % 5000);
                }
                return reader;
            });
            allAreOpenAtTheSameTime(mounted.root(), fs);
        }
    }

    /** Nothing of them stays but block files for whoever reads them next. */
    private static void allAreOpenAtTheSameTime(Path root, AlluxioFileSystem fs) throws Exception {
        Waiting.until("none is open", PATIENCE, () -> fs.counts().openFiles() == 0);
        long before = descriptors();
        List<FileChannel> open = new ArrayList<>();
        try {
            for (int i = 0; i < SMALL_FILES; i++) {
                open.add(FileChannel.open(root.resolve("f" + i)));
            }
            assertThat(fs.counts().openFiles()).isEqualTo(SMALL_FILES);
            inParallel(WRITERS, reader -> {
                for (int i = reader; i < SMALL_FILES; i += WRITERS) {
                    byte[] expected = content(i, 100 + i % 5000);
                    ByteBuffer whole = ByteBuffer.allocate(expected.length + 1);
                    assertThat(open.get(i).read(whole)).isEqualTo(expected.length);
                    assertThat(whole.flip()).isEqualTo(ByteBuffer.wrap(expected));
                }
                return reader;
            });
            assertThat(descriptors()).isLessThanOrEqualTo(before + SMALL_FILES + BLOCK_FILES + OTHER_DESCRIPTORS);
        } finally {
            for (FileChannel channel : open) {
                channel.close();
            }
        }
        Waiting.until("none is open any more", PATIENCE, () -> fs.counts().openFiles() == 0);
        assertThat(descriptors()).isLessThanOrEqualTo(before + BLOCK_FILES + OTHER_DESCRIPTORS);
    }

    /** Open in this process: those of the gateway, and those of the test. */
    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "off"})
    void aBigFileIsReadByManyFromBlockFilesAndThroughStreams(String shortCircuit) throws Exception {
        String folder = SharedAlluxio.folder();
        int pieces = 160;
        long written = writeBig(folder, pieces);
        // Another mount, whose kernel has no pages of it.
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("short_circuit", shortCircuit));
        try (MountedFileSystem mounted = mount(fs)) {
            Path big = mounted.root().resolve("big");
            assertThat(checksum(big)).isEqualTo(written);
            try (FileChannel channel = FileChannel.open(big)) {
                inParallel(32, reader -> {
                    Random random = new Random(SEED + reader);
                    for (int k = 0; k < 5; k++) {
                        int piece = random.nextInt(pieces);
                        ByteBuffer part = ByteBuffer.allocate(4096);
                        channel.read(part, (long) piece * PIECE_BYTES + 1000);
                        assertThat(part.flip())
                                .isEqualTo(ByteBuffer.wrap(content(piece, PIECE_BYTES), 1000, part.limit()));
                    }
                    return reader;
                });
            }
            AlluxioFileSystem.Counts counts = fs.counts();
            boolean local = shortCircuit.equals("on");
            assertThat(local ? counts.remoteReadBytes() : counts.localReadBytes())
                    .isZero();
            assertThat(local ? counts.localReadBytes() : counts.remoteReadBytes())
                    .isPositive();
        }
    }

    /** Its checksum. */
    private static long writeBig(String folder, int pieces) throws Exception {
        CRC32C written = new CRC32C();
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, Map.of()))) {
            Path big = mounted.root().resolve("big");
            try (FileChannel channel = FileChannel.open(big, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                for (int i = 0; i < pieces; i++) {
                    byte[] piece = content(i, PIECE_BYTES);
                    written.update(piece);
                    channel.write(ByteBuffer.wrap(piece));
                }
            }
            assertThat(Files.size(big)).isEqualTo((long) pieces * PIECE_BYTES);
            assertThat(checksum(SharedAlluxio.ufs(folder).resolve("big"))).isEqualTo(written.getValue());
        }
        return written.getValue();
    }

    private static long checksum(Path file) throws Exception {
        CRC32C checksum = new CRC32C();
        byte[] buffer = new byte[PIECE_BYTES];
        try (InputStream in = Files.newInputStream(file)) {
            int count = in.read(buffer);
            while (count > 0) {
                checksum.update(buffer, 0, count);
                count = in.read(buffer);
            }
        }
        return checksum.getValue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"with space", "new\nline", "emoji \uD83D\uDE00", "colon:name", "100%", "#x", "[a]*"})
    void namesOfAllKindsAreKept(String name) throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, Map.of()))) {
            Files.writeString(mounted.root().resolve(name), "x");
            Files.move(mounted.root().resolve(name), mounted.root().resolve(name + "2"));
            assertThat(SharedAlluxio.ufs(folder).resolve(name + "2")).hasContent("x");
            try (Stream<Path> names = Files.list(mounted.root())) {
                assertThat(names.map(path -> path.getFileName().toString())).containsExactly(name + "2");
            }
            Files.delete(mounted.root().resolve(name + "2"));
        }
    }

    @ParameterizedTest
    @CsvSource({"back\\slash, %pgw%back%5Cslash", "question?, %pgw%question%3F", "%pgw%x%3F, %pgw%%25pgw%25x%253F"})
    void namesThatAlluxioWouldChangeAreStoredEscaped(String name, String stored) throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(folder, Map.of()))) {
            Path bad = Files.createDirectory(mounted.root().resolve(name));
            Files.writeString(bad.resolve(name), "x");
            Files.move(bad.resolve(name), bad.resolve(name + "2"));
            assertThat(SharedAlluxio.ufs(folder).resolve(stored).resolve(stored + "2"))
                    .hasContent("x");
            try (Stream<Path> names = Files.list(bad)) {
                assertThat(names.map(path -> path.getFileName().toString())).containsExactly(name + "2");
            }
            Files.delete(bad.resolve(name + "2"));
            Files.delete(bad);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"back\\slash", "question?"})
    void namesThatAlluxioWouldChangeAreRefused_ifTheyAreToBe(String name) throws Exception {
        try (MountedFileSystem mounted = mount(SharedAlluxio.open(SharedAlluxio.folder(), Map.of("names", "strict")))) {
            Path good = Files.writeString(mounted.root().resolve("good"), "x");
            Path bad = mounted.root().resolve(name);
            assertThatThrownBy(() -> Files.writeString(bad, "x")).hasMessageContaining("Invalid argument");
            assertThatThrownBy(() -> Files.createDirectory(bad)).hasMessageContaining("Invalid argument");
            assertThatThrownBy(() -> Files.move(good, bad)).hasMessageContaining("Invalid argument");
            assertThat(good).hasContent("x");
        }
    }

    /** Work of one of several. */
    private interface Work {
        int run(int number) throws Exception;
    }

    private static void inParallel(int threads, Work work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Integer>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int number = i;
                Callable<Integer> task = () -> work.run(number);
                running.add(pool.submit(task));
            }
            for (Future<Integer> one : running) {
                one.get(4, TimeUnit.MINUTES);
            }
        } finally {
            pool.shutdownNow();
        }
    }
}

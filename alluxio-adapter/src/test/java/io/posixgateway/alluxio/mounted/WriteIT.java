package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written through a mount is in Alluxio's under file system when close returned, and nothing is lost on the way. */
class WriteIT {
    private final long seed = Long.getLong("pgw.seed", System.nanoTime());
    private MountedFileSystem mounted;
    private Path root;
    private String folder;
    private TestDirectory own;

    @BeforeEach
    void mount() throws Exception {
        folder = SharedAlluxio.folder();
        own = new TestDirectory(SharedAlluxio.running(), folder);
        mounted = MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO);
        root = mounted.root();
    }

    @AfterEach
    void unmount() throws Exception {
        mounted.close();
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @Test
    void randomWritesTruncationsAndAppendsEndUpInTheUnderFileSystem() throws Exception {
        byte[] model = bytes(3_000_000);
        Path file = Files.write(root.resolve("f"), model);
        assertThat(own.stored("f")).isEqualTo(model);
        try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.seek(1_000_000);
            open.write(new byte[5000]);
            Arrays.fill(model, 1_000_000, 1_005_000, (byte) 0);
            open.setLength(2_000_000);
            open.seek(10);
            assertThat(open.read()).isEqualTo(model[10] & 0xFF);
        }
        model = Arrays.copyOf(model, 2_000_000);
        Files.write(file, new byte[] {1, 2, 3}, StandardOpenOption.APPEND);
        model = Arrays.copyOf(model, 2_000_003);
        model[2_000_000] = 1;
        model[2_000_001] = 2;
        model[2_000_002] = 3;
        assertThat(own.stored("f")).isEqualTo(model);
        assertThat(file).hasBinaryContent(model);
        Files.write(file, new byte[] {9});
        assertThat(own.stored("f")).isEqualTo(new byte[] {9});
        awaitEmptySpool();
    }

    /** The last release comes after close returned. */
    private static void awaitEmptySpool() throws Exception {
        Eventually.holds("the spool is empty", SharedAlluxio::isSpoolEmpty);
    }

    @Test
    void aReplacedCheckpointIsNeverMissingNorTorn() throws Exception {
        Path checkpoint =
                Files.write(root.resolve("checkpoint"), "0".repeat(100_000).getBytes(UTF_8));
        AtomicBoolean stop = new AtomicBoolean();
        try (MountedFileSystem other =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            Path seen = other.root().resolve("checkpoint");
            CompletableFuture<Integer> reader = CompletableFuture.supplyAsync(() -> readUntil(stop, seen));
            for (int i = 1; i <= 15; i++) {
                Path temporary = root.resolve("checkpoint.tmp");
                try (FileChannel channel =
                        FileChannel.open(temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                    channel.write(ByteBuffer.wrap(
                            Integer.toString(i % 10).repeat(100_000).getBytes(UTF_8)));
                    channel.force(true);
                }
                Files.move(temporary, checkpoint, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
            stop.set(true);
            assertThat(reader.get(60, TimeUnit.SECONDS)).isPositive();
        }
        assertThat(own.stored("checkpoint")).asString().isEqualTo("5".repeat(100_000));
    }

    private static final java.nio.charset.Charset UTF_8 = java.nio.charset.StandardCharsets.UTF_8;

    /** Reads it again and again; each time it must be whole, and of one version. */
    private static int readUntil(AtomicBoolean stop, Path file) {
        int reads = 0;
        while (!stop.get()) {
            String content;
            try {
                content = Files.readString(file);
            } catch (java.io.IOException e) {
                throw new AssertionError("read " + reads + " found no file", e);
            }
            if (content.length() != 100_000 || content.chars().distinct().count() != 1) {
                throw new AssertionError("read " + reads + " is torn: " + content.length() + " characters");
            }
            reads++;
        }
        return reads;
    }

    @Test
    void aFileThatOthersMadeSinceItsNameWasMissedIsOpened() throws Exception {
        try (MountedFileSystem other =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            Path missed = root.resolve("made");
            assertThat(missed).doesNotExist();
            Files.write(other.root().resolve("made"), new byte[] {1});
            assertThatThrownBy(() -> Files.write(missed, new byte[] {2}, StandardOpenOption.CREATE_NEW))
                    .isInstanceOf(java.nio.file.FileAlreadyExistsException.class);
            assertThat(root.resolve("second")).doesNotExist();
            Files.write(other.root().resolve("second"), new byte[] {1});
            Files.write(root.resolve("second"), new byte[] {2}, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            assertThat(own.stored("second")).isEqualTo(new byte[] {1, 2});
        }
    }

    @Test
    void aDiskThatIsFullIsSaidAndTheOldContentStays(@TempDir Path spool) throws Exception {
        assumeTrue(SharedAlluxio.running().isOnFolder(), "the disk is that of a local under file system");
        Path behind = Files.createDirectories(SharedAlluxio.ufs(folder)).resolve("full");
        Files.createDirectory(behind);
        mountSmall(behind);
        AlluxioFileSystem alluxio = SharedAlluxio.open(folder, Map.of("spool", spool.toString()));
        try (MountedFileSystem small = MountedFileSystem.mount(alluxio, TransportChoice.AUTO);
                LogLines log = new LogLines()) {
            Path full = small.root().resolve("full");
            byte[] old = bytes(100_000);
            Path file = Files.write(full.resolve("f"), old);
            assertThatThrownBy(() -> Files.write(file, bytes(3_000_000))).hasMessageContaining("No space left");
            assertThat(behind.resolve("f")).hasBinaryContent(old);
            Eventually.holds("it is released", () -> alluxio.counts().changedFiles() == 0);
            Path kept = kept(spool).get(0);
            assertThat(kept).hasBinaryContent(bytes(3_000_000));
            assertThat(log.anyWith("Upload failed; the content stays in " + kept))
                    .isTrue();
            assertThat(alluxio.counts().spoolBytes()).isEqualTo(3_000_000);
            assertThatThrownBy(() -> Files.write(full.resolve("new"), bytes(3_000_000)))
                    .hasMessageContaining("No space left");
            try (FileChannel random = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                random.write(ByteBuffer.wrap(bytes(3_000_000)), 50_000);
                assertThatThrownBy(() -> random.force(true)).hasMessageContaining("No space left");
                assertThat(behind.resolve("f")).hasBinaryContent(old);
                random.truncate(old.length);
                random.write(ByteBuffer.wrap(old), 0);
            }
            assertThat(behind.resolve("f")).hasBinaryContent(old);
            Files.write(file, bytes(200_000));
            assertThat(behind.resolve("f")).hasBinaryContent(bytes(200_000));
        } finally {
            // The worker may still have a file of it open.
            Eventually.holds("it is unmounted", () -> isUnmounted(behind));
        }
    }

    private static List<Path> kept(Path spool) throws IOException {
        try (Stream<Path> files = Files.list(spool)) {
            return files.filter(file -> file.getFileName().toString().startsWith("spool-"))
                    .toList();
        }
    }

    private static int run(String... words) throws Exception {
        return new ProcessBuilder(words).start().waitFor();
    }

    private static boolean isUnmounted(Path target) {
        try {
            return run("umount", target.toString()) == 0;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A disk of a mebibyte. */
    private static void mountSmall(Path at) throws Exception {
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=1m", "none", at.toString()) == 0, "may not mount");
    }
}

package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.AlluxioFileSystem;
import io.posixgateway.alluxio.AlluxioMount;
import io.posixgateway.alluxio.client.FileSink;
import io.posixgateway.alluxio.client.Store;
import io.posixgateway.alluxio.recovery.HiddenFiles;
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
import java.util.UUID;
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
    private Path ufs;

    @BeforeEach
    void mount() throws Exception {
        String folder = SharedAlluxio.folder();
        ufs = SharedAlluxio.ufs(folder);
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
        assertThat(ufs.resolve("f")).hasBinaryContent(model);
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
        assertThat(ufs.resolve("f")).hasBinaryContent(model);
        assertThat(file).hasBinaryContent(model);
        Files.write(file, new byte[] {9});
        assertThat(ufs.resolve("f")).hasBinaryContent(new byte[] {9});
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
        String folder = "/" + ufs.getFileName();
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
        assertThat(ufs.resolve("checkpoint")).hasContent("5".repeat(100_000));
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
    void anOpenFileThatIsReplacedOrDeletedIsReadToItsEnd() throws Exception {
        byte[] old = bytes(200_000);
        Path replaced = Files.write(root.resolve("replaced"), old);
        Path deleted = Files.write(root.resolve("deleted"), old);
        Path fresh = Files.write(root.resolve("fresh"), bytes(10));
        try (FileChannel first = FileChannel.open(replaced);
                FileChannel second = FileChannel.open(deleted)) {
            Files.move(fresh, replaced, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            Files.delete(deleted);
            for (FileChannel channel : new FileChannel[] {first, second}) {
                ByteBuffer content = ByteBuffer.allocate(old.length);
                while (content.hasRemaining() && channel.read(content) >= 0) {
                    Thread.onSpinWait();
                }
                assertThat(content.array()).isEqualTo(old);
            }
            assertThat(Files.size(replaced)).isEqualTo(10);
            try (Stream<Path> names = Files.list(root)) {
                assertThat(names.map(path -> path.getFileName().toString())).containsExactly("replaced");
            }
        }
    }

    @Test
    void whatIsRenamedWhileBeingWrittenKeepsWhatIsWrittenAfterwards() throws Exception {
        try (FileChannel channel =
                FileChannel.open(root.resolve("a"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {1}));
            Files.move(root.resolve("a"), root.resolve("b"));
            channel.write(ByteBuffer.wrap(new byte[] {2}));
        }
        assertThat(ufs.resolve("b")).hasBinaryContent(new byte[] {1, 2});
        assertThat(ufs.resolve("a")).doesNotExist();
    }

    @Test
    void aFileThatOthersMadeSinceItsNameWasMissedIsOpened() throws Exception {
        String folder = "/" + ufs.getFileName();
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
            assertThat(ufs.resolve("second")).hasBinaryContent(new byte[] {1, 2});
        }
    }

    @Test
    void aDiskThatIsFullIsSaidAndTheOldContentStays(@TempDir Path spool) throws Exception {
        String folder = SharedAlluxio.folder();
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
            assertThat(log.anyWith("Publishing failed, the content stays in " + kept))
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

    @Test
    void whatCouldNotBePublishedTakesRoomInTheSpoolUntilItIsTakenAway(@TempDir Path spool) throws Exception {
        String folder = SharedAlluxio.folder();
        Path behind = Files.createDirectories(SharedAlluxio.ufs(folder).resolve("full"));
        mountSmall(behind);
        AlluxioFileSystem alluxio = SharedAlluxio.open(folder, Map.of("spool", spool.toString(), "spool_size", "4M"));
        try (MountedFileSystem small = MountedFileSystem.mount(alluxio, TransportChoice.AUTO);
                LogLines log = new LogLines()) {
            Path file = small.root().resolve("full").resolve("f");
            assertThatThrownBy(() -> Files.write(file, bytes(3_000_000))).hasMessageContaining("No space left");
            Eventually.holds("it is released", () -> alluxio.counts().changedFiles() == 0);
            Path kept = kept(spool).get(0);
            Path other = small.root().resolve("other");
            assertThatThrownBy(() -> Files.write(other, bytes(2_000_000))).hasMessageContaining("No space left");
            assertThat(log.anyWith(
                            "3000000 bytes of that are content that could not be published and was kept, such as ["
                                    + kept + "]: move or delete"))
                    .isTrue();
            Files.delete(kept);
            Files.write(other, bytes(2_000_000));
            assertThat(SharedAlluxio.ufs(folder).resolve("other")).hasBinaryContent(bytes(2_000_000));
            Eventually.holds("nothing takes room", () -> alluxio.counts().spoolBytes() == 0);
        } finally {
            Eventually.holds("it is unmounted", () -> isUnmounted(behind));
        }
    }

    @Test
    void whatADeadProcessHidIsRemoved(@TempDir Path spool) throws Exception {
        String folder = "/" + ufs.getFileName();
        try (Store store = AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()))) {
            for (String name : List.of("/.pgw~listed", "/.pgw~other")) {
                FileSink sink = store.create(folder + name, 0600, Map.of(), UUID.randomUUID());
                sink.complete();
            }
            HiddenFiles dead = new HiddenFiles(spool, store.cluster());
            dead.add(new HiddenFiles.Hidden(folder + "/.pgw~listed", 0, 0));
            dead.close();
        }
        Path list = onlyFile(spool);
        Files.move(list, list.resolveSibling(list.getFileName().toString().replaceAll("[^-]*-\\d+$", "dead-1")));
        try (MountedFileSystem other = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("spool", spool.toString())), TransportChoice.AUTO)) {
            Eventually.holds("it is removed", () -> Files.notExists(ufs.resolve(".pgw~listed")));
            assertThat(other.root()).isEmptyDirectory();
            assertThat(ufs.resolve(".pgw~other")).exists();
        }
        try (Stream<Path> left = Files.list(spool)) {
            assertThat(left).isEmpty();
        }
    }

    private static Path onlyFile(Path folder) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().orElseThrow();
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

    @Test
    void aSpoolThatIsFullIsSaidAndTheOldContentStays() throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem small =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of("spool_size", "1M")), TransportChoice.AUTO)) {
            Path file = Files.write(small.root().resolve("f"), bytes(1000));
            assertThatThrownBy(() -> Files.write(file, bytes(3_000_000), StandardOpenOption.APPEND))
                    .hasMessageContaining("No space left");
            Files.write(small.root().resolve("g"), bytes(1000));
            assertThat(SharedAlluxio.ufs(folder).resolve("g")).hasBinaryContent(bytes(1000));
            beginsWith(SharedAlluxio.ufs(folder).resolve("f"), bytes(1000));
            beginsWith(file, bytes(1000));
        }
    }

    /** Nobody has the file open, so nobody's close would end it. */
    @Test
    void whatCannotBeLengthenedByItsNameTakesNoRoomAfterwards() throws Exception {
        String folder = SharedAlluxio.folder();
        AlluxioFileSystem alluxio = SharedAlluxio.open(folder, Map.of("spool_size", "1M"));
        try (MountedFileSystem small = MountedFileSystem.mount(alluxio, TransportChoice.AUTO)) {
            Path file = Files.write(small.root().resolve("f"), bytes(100_000));
            for (String length : List.of("10_000_000", "2**63-1")) {
                assertThat(run("python3", "-c", "import os; os.truncate('" + file + "', " + length + ")"))
                        .isNotZero();
                assertThat(alluxio.counts().changedFiles()).isZero();
                assertThat(alluxio.counts().spoolBytes()).isZero();
            }
            assertThat(file).hasBinaryContent(bytes(100_000));
        }
    }

    /** POSIX speaks of the file, not of the descriptor. */
    @Test
    void whatWasWrittenIsSafeAfterAnFsyncOfWhomeverReadsIt() throws Exception {
        Path file = Files.write(root.resolve("f"), bytes(1000));
        try (FileChannel writer = FileChannel.open(file, StandardOpenOption.WRITE);
                FileChannel reader = FileChannel.open(file, StandardOpenOption.READ)) {
            writer.write(ByteBuffer.wrap(bytes(5000)));
            assertThat(ufs.resolve("f")).hasBinaryContent(bytes(1000));
            reader.force(true);
            assertThat(ufs.resolve("f")).hasBinaryContent(bytes(5000));
        }
    }

    /** Its readers go on, and nothing is left of what was prepared for them. */
    @Test
    void whatCouldNotBeReplacedIsNotKeptForItsReaders() throws Exception {
        String folder = SharedAlluxio.folder();
        Path behind = Files.createDirectories(SharedAlluxio.ufs(folder).resolve("full"));
        mountSmall(behind);
        AlluxioFileSystem alluxio = SharedAlluxio.open(folder, Map.of("passthrough", "off"));
        try (MountedFileSystem small = MountedFileSystem.mount(alluxio, TransportChoice.AUTO)) {
            Path file = Files.write(small.root().resolve("full/f"), bytes(1000));
            Path large = small.root().resolve("full/large");
            try (FileChannel reader = FileChannel.open(file, StandardOpenOption.READ);
                    FileChannel writer = FileChannel.open(large, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                writer.write(ByteBuffer.wrap(bytes(3_000_000)));
                assertThatThrownBy(() -> Files.move(large, file, StandardCopyOption.ATOMIC_MOVE))
                        .hasMessageContaining("No space left");
                assertThat(alluxio.counts().changedFiles()).isEqualTo(1);
                writer.truncate(0);
                ByteBuffer seen = ByteBuffer.allocate(2000);
                assertThat(reader.read(seen)).isEqualTo(1000);
                assertThat(seen.flip()).isEqualTo(ByteBuffer.wrap(bytes(1000)));
            }
        } finally {
            Eventually.holds("it is unmounted", () -> isUnmounted(behind));
        }
    }

    /** A disk of a mebibyte. */
    private static void mountSmall(Path at) throws Exception {
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=1m", "none", at.toString()) == 0, "may not mount");
    }

    /** What was appended before there was no room was acknowledged, and may be there. */
    private static void beginsWith(Path file, byte[] old) throws IOException {
        assertThat(Arrays.copyOf(Files.readAllBytes(file), old.length)).isEqualTo(old);
    }

    @Test
    void aSpoolDiskThatIsFullIsSaidAndTheOldContentStays(@TempDir Path spool) throws Exception {
        String folder = SharedAlluxio.folder();
        mountSmall(spool);
        try (MountedFileSystem small = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("spool", spool.toString())), TransportChoice.AUTO)) {
            byte[] old = bytes(100_000);
            Path file = Files.write(small.root().resolve("f"), old);
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                ByteBuffer left = ByteBuffer.wrap(bytes(3_000_000));
                assertThatThrownBy(() -> {
                            while (left.hasRemaining()) {
                                channel.write(left, 200_000 + left.position());
                            }
                        })
                        .hasMessageContaining("No space left");
                assertThat(left.position()).isGreaterThan(0);
                assertThat(Files.size(file)).isEqualTo(200_000 + left.position());
            }
            beginsWith(SharedAlluxio.ufs(folder).resolve("f"), old);
            beginsWith(file, old);
        } finally {
            Eventually.holds("it is unmounted", () -> isUnmounted(spool));
        }
    }

    /** Whether it is in the spool already or has to be copied there first. */
    @Test
    void aFileThatTheSpoolDiskHasNoRoomToLengthenStaysAsItWas(@TempDir Path spool) throws Exception {
        String folder = SharedAlluxio.folder();
        mountSmall(spool);
        try (MountedFileSystem small = MountedFileSystem.mount(
                SharedAlluxio.open(folder, Map.of("spool", spool.toString())), TransportChoice.AUTO)) {
            byte[] old = bytes(100_000);
            Path copied = Files.write(small.root().resolve("copied"), old);
            Path spooled = Files.write(small.root().resolve("spooled"), old);
            try (RandomAccessFile open = new RandomAccessFile(spooled.toFile(), "rw");
                    RandomAccessFile other = new RandomAccessFile(copied.toFile(), "rw")) {
                open.write(old[0]);
                Path others = spool.resolve("others");
                assertThatThrownBy(() -> Files.write(others, new byte[2 << 20])).hasMessageContaining("No space left");
                for (RandomAccessFile file : new RandomAccessFile[] {open, other}) {
                    assertThatThrownBy(() -> file.setLength(500_000)).hasMessageContaining("No space left");
                    assertThat(file.length()).isEqualTo(old.length);
                    file.seek(0);
                    byte[] seen = new byte[old.length];
                    file.readFully(seen);
                    assertThat(seen).isEqualTo(old);
                }
            }
            for (String name : List.of("copied", "spooled")) {
                assertThat(small.root().resolve(name)).hasBinaryContent(old);
                assertThat(SharedAlluxio.ufs(folder).resolve(name)).hasBinaryContent(old);
            }
        } finally {
            Eventually.holds("it is unmounted", () -> isUnmounted(spool));
        }
    }
}

package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Mounts with {@code no_open}: the kernel opens files by itself. */
class NoOpenIT {
    private static final int FILES = 200;
    /** So many pages or names of them the kernel may have reclaimed meanwhile, as it likes; without its cache it asks for all. */
    private static final int RECLAIMED = FILES / 10;

    private static final int LONG_BYTES = 40 << 20;
    private static final int READERS = 6;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final List<Opcode> OF_OPEN_FILES = List.of(
            Opcode.OPEN, Opcode.READ, Opcode.FLUSH, Opcode.RELEASE, Opcode.FSYNC, Opcode.GETATTR, Opcode.LOOKUP);

    private final String folder;
    private final Path below;

    NoOpenIT() throws Exception {
        folder = SharedAlluxio.folder();
        below = SharedAlluxio.ufs(folder);
    }

    private AlluxioFileSystem opened(String shortCircuit) throws Exception {
        return SharedAlluxio.open(
                folder, Map.of("consistency", "immutable", "no_open", "on", "short_circuit", shortCircuit));
    }

    private static MountedFileSystem mount(AlluxioFileSystem fs, TransportChoice transport) throws IOException {
        return MountedFileSystem.mount(fs, MountedFileSystem.options(transport, true));
    }

    private static byte[] content(int seed, int bytes) {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        return content;
    }

    private static byte[] small(int number) {
        return content(number, 100 + number * 997 % 30_000);
    }

    private void makeSmallFiles() throws IOException {
        for (int i = 0; i < FILES; i++) {
            Files.write(below.resolve("f" + i), small(i));
        }
    }

    private static void readSmallFiles(Path root) throws IOException {
        for (int i = 0; i < FILES; i++) {
            assertThat(Files.readAllBytes(root.resolve("f" + i))).isEqualTo(small(i));
        }
    }

    private static long requests(MountedFileSystem mounted) {
        return OF_OPEN_FILES.stream()
                .mapToLong(mounted.session().metrics()::requests)
                .sum();
    }

    private static void awaitNothingOpen(AlluxioFileSystem fs) throws Exception {
        Waiting.until("nothing is kept for reading", PATIENCE, () -> fs.counts().openFiles() == 0);
    }

    @ParameterizedTest
    @EnumSource(TransportChoice.class)
    void whatTheKernelHasPagesOfIsReadWithoutARequest(TransportChoice transport) throws Exception {
        makeSmallFiles();
        AlluxioFileSystem fs = opened("on");
        try (MountedFileSystem mounted = mount(fs, transport)) {
            readSmallFiles(mounted.root());
            assertThat(mounted.session().metrics().requests(Opcode.OPEN)).isEqualTo(1);
            assertThat(mounted.session().metrics().requests(Opcode.FLUSH)).isEqualTo(1);
            assertThat(mounted.session().metrics().requests(Opcode.RELEASE)).isZero();
            awaitNothingOpen(fs);
            long before = requests(mounted);
            for (int epoch = 0; epoch < 3; epoch++) {
                readSmallFiles(mounted.root());
            }
            assertThat(requests(mounted)).isLessThanOrEqualTo(before + RECLAIMED);
        }
    }

    /** In sequence, at random, mapped, and past the page cache; with few streams or block files for all. */
    @ParameterizedTest
    @ValueSource(strings = {"on", "off"})
    void manyReadALongFileInEveryWay(String shortCircuit) throws Exception {
        byte[] content = content(1, LONG_BYTES);
        Files.write(below.resolve("long"), content);
        AlluxioFileSystem fs = opened(shortCircuit);
        ExecutorService threads = Executors.newFixedThreadPool(READERS);
        try (MountedFileSystem mounted = mount(fs, TransportChoice.AUTO)) {
            Path file = mounted.root().resolve("long");
            assertThat(fs.inspect("/long").way().name()).isNotEqualTo("passthrough");
            List<Callable<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                int number = i;
                all.add(() -> readsAtRandom(file, number, content));
                all.add(() -> Arrays.equals(Files.readAllBytes(file), content));
            }
            all.add(() -> readsDirectly(file, content));
            all.add(() -> isMapped(file, content));
            for (Future<Boolean> one : threads.invokeAll(all)) {
                assertThat(one.get()).isTrue();
            }
            awaitNothingOpen(fs);
            // And again, once nothing of it is left here.
            fs.invalidate("/");
            assertThat(readsDirectly(file, content)).isTrue();
        } finally {
            threads.shutdownNow();
        }
    }

    private static boolean readsAtRandom(Path file, int seed, byte[] content) throws IOException {
        Random random = new Random(seed);
        try (FileChannel open = FileChannel.open(file)) {
            for (int i = 0; i < 300; i++) {
                int at = random.nextInt(LONG_BYTES);
                ByteBuffer piece = ByteBuffer.allocate(Math.min(1 + random.nextInt(9000), LONG_BYTES - at));
                while (piece.hasRemaining()) {
                    if (open.read(piece, at + piece.position()) <= 0) {
                        return false;
                    }
                }
                if (!Arrays.equals(piece.array(), Arrays.copyOfRange(content, at, at + piece.capacity()))) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean readsDirectly(Path file, byte[] content) throws IOException {
        int step = 1 << 20;
        try (FileChannel open = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            for (int at = 0; at < LONG_BYTES; at += step) {
                ByteBuffer piece = ByteBuffer.allocateDirect(step + 4096).alignedSlice(4096);
                piece.limit(step);
                while (piece.hasRemaining()) {
                    if (open.read(piece, at + piece.position()) <= 0) {
                        return false;
                    }
                }
                if (!piece.flip().equals(ByteBuffer.wrap(content, at, step))) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean isMapped(Path file, byte[] content) throws IOException {
        try (FileChannel open = FileChannel.open(file)) {
            return open.map(FileChannel.MapMode.READ_ONLY, 0, LONG_BYTES).equals(ByteBuffer.wrap(content));
        }
    }

    @Test
    void whatWasInvalidatedIsReadAnew() throws Exception {
        Files.writeString(below.resolve("f"), "as it was");
        AlluxioFileSystem fs = opened("on");
        try (MountedFileSystem mounted = mount(fs, TransportChoice.AUTO)) {
            Path file = mounted.root().resolve("f");
            assertThat(file).hasContent("as it was");
            try (MountedFileSystem other =
                    MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
                Files.writeString(other.root().resolve("f"), "as it is by now");
            }
            assertThat(file).hasContent("as it was");
            fs.invalidate("/");
            assertThat(file).hasContent("as it is by now");
        }
    }

    @Test
    void whatWouldChangeAFileIsRefused() throws Exception {
        Files.writeString(below.resolve("f"), "as it was");
        try (MountedFileSystem mounted = mount(opened("on"), TransportChoice.AUTO)) {
            Path file = mounted.root().resolve("f");
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> Files.writeString(file, "new"))
                        .isInstanceOf(FileSystemException.class)
                        .hasMessageContaining("Read-only file system");
                assertThat(file).hasContent("as it was");
            }
            assertThatThrownBy(() -> Files.writeString(mounted.root().resolve("other"), "new"))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessageContaining("Read-only file system");
            try (FileChannel open = FileChannel.open(file)) {
                open.force(true);
            }
        }
    }

    /** It has no length yet, as a rule; what matters is that nobody waits for it, and that it is there in the end. */
    @Test
    void aFileThatIsStillWrittenIsNotOneOfADataset() throws Exception {
        AlluxioFileSystem fs = opened("on");
        try (MountedFileSystem mounted = mount(fs, TransportChoice.AUTO);
                MountedFileSystem other = MountedFileSystem.mount(
                        SharedAlluxio.open(folder, Map.of("stream_from", "1M")), TransportChoice.AUTO)) {
            byte[] content = content(7, 3 << 20);
            Path file = mounted.root().resolve("new");
            try (FileChannel open = FileChannel.open(
                    other.root().resolve("new"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                open.write(ByteBuffer.wrap(content));
                byte[] soFar = read(file); // all of it once a program that this JVM starts has closed its descriptor
                assertThat(soFar).isEqualTo(Arrays.copyOf(content, soFar.length));
            }
            fs.invalidate("/");
            assertThat(file).hasBinaryContent(content);
        }
    }

    /** Nothing where the file is busy. */
    private static byte[] read(Path file) throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (FileSystemException e) {
            assertThat(e).hasMessageContaining("busy");
            return new byte[0];
        }
    }
}

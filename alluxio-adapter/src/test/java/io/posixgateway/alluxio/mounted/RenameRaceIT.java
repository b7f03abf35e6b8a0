package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files are renamed and replaced while others read them, on the real Alluxio: what it does then is not known from within. Each
 * moment that is known is in {@code FileReplacementTest}.
 */
class RenameRaceIT {
    private static final int BYTES = 24 << 20;
    private static final int FAR = BYTES / 2;
    private static final int FILES = 8;
    private static final long REPLACING_NANOS = 3_000_000_000L;

    /** No worker has the file, so all that is read of it comes from the under file system, where it is found by its path. */
    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT1H"})
    void aFileThatMovedIsNotReadFromWhatTookItsPlace(String age) throws Exception {
        String folder = SharedAlluxio.folder();
        Path below =
                Files.createDirectory(SharedAlluxio.ufs(folder).resolve("d")).resolve("f");
        fill(below, 'a');
        Files.setLastModifiedTime(below, FileTime.from(java.time.Instant.now().minus(java.time.Duration.parse(age))));
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            Path root = mounted.root();
            try (FileChannel open = FileChannel.open(root.resolve("d/f"))) {
                assertThat(byteAt(open, 0)).isEqualTo('a');
                Files.move(root.resolve("d"), root.resolve("e"));
                Files.move(root.resolve("e/f"), root.resolve("e/g"));
                Files.createDirectory(root.resolve("d"));
                for (String name : List.of("d/f", "e/f")) {
                    fill(root.resolve(name), 'b');
                }
                assertThat(byteAt(open, FAR)).isEqualTo('a');
            }
            assertThat(Files.size(root.resolve("e/g"))).isEqualTo(BYTES);
        }
        try (MountedFileSystem another =
                MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            readsAsBefore(another.root().resolve("e/g"));
            if (!age.equals("PT0S")) {
                // What a worker keeps of a file that is not young is that file, too.
                try (Store store = AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()))) {
                    Eventually.holds("a worker has the file", () -> {
                        readsAsBefore(another.root().resolve("e/g"));
                        return store.details(folder + "/e/g").inAlluxioPercent() == 100;
                    });
                }
            }
            readsAsBefore(another.root().resolve("e/g"));
        }
    }

    private static void readsAsBefore(Path file) throws IOException {
        for (int at = 0; at < BYTES; at += BYTES / 8) {
            try (FileChannel open = FileChannel.open(file)) {
                assertThat(byteAt(open, at)).as("at %d", at).isEqualTo('a');
            }
        }
    }

    private static void fill(Path file, char content) throws IOException {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, (byte) content);
        Files.write(file, bytes);
    }

    private static char byteAt(FileChannel open, long at) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        assertThat(open.read(one, at)).isEqualTo(1);
        return (char) one.get(0);
    }

    private static int lookAtEach(Path root, long end) throws IOException {
        int count = 0;
        while (System.nanoTime() < end || count == 0) {
            try {
                assertThat(Files.size(root.resolve("f" + count % FILES))).isNotNegative();
            } catch (NoSuchFileException e) {
                throw new AssertionError("look " + count + " found no file", e);
            } catch (FileSystemException e) {
                assertThat(e.getReason()).isEqualTo("Stale file handle");
            }
            count++;
        }
        return count;
    }

    /**
     * Whoever could open a file reads all of it, and can write it, though its name goes to another at that moment. And another
     * mount, which asks Alluxio for each name, finds the file before or the one after.
     */
    @Test
    void whatWasOpenedIsThereWhoeverTakesItsNameAndEachNameIsFoundAtEveryLook() throws Exception {
        String folder = SharedAlluxio.folder();
        ExecutorService threads = Executors.newFixedThreadPool(5);
        try (MountedFileSystem mounted =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO);
                MountedFileSystem asking = MountedFileSystem.mount(
                        SharedAlluxio.open(folder, Map.of("metadata_ttl", "0", "open_trust", "0")),
                        TransportChoice.AUTO)) {
            Path root = mounted.root();
            makeFiles(root);
            long end = System.nanoTime() + REPLACING_NANOS;
            List<Future<Integer>> running = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                int seed = i;
                running.add(threads.submit(() -> replace(root, new Random(seed), new AtomicLong(end))));
                running.add(threads.submit(() -> read(root, end)));
            }
            running.add(threads.submit(() -> lookAtEach(asking.root(), end)));
            for (Future<Integer> one : running) {
                assertThat(one.get()).isPositive();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void makeFiles(Path root) throws IOException {
        for (int i = 0; i < FILES; i++) {
            Files.write(root.resolve("f" + i), new byte[10]);
        }
    }

    private static int replace(Path root, Random random, AtomicLong end) throws IOException {
        int count = 0;
        Path beside = root.resolve("beside" + random.nextInt());
        while (System.nanoTime() < end.get() || count == 0) {
            Path file = root.resolve("f" + random.nextInt(FILES));
            if (random.nextBoolean()) {
                byte[] content = new byte[1 + random.nextInt(10_000)];
                Arrays.fill(content, (byte) count);
                Files.write(beside, content);
                Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } else {
                try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    open.write(ByteBuffer.allocate(1), 0);
                } catch (FileSystemException e) {
                    assertThat(e.getReason()).isEqualTo("Stale file handle");
                }
            }
            count++;
        }
        return count;
    }

    /** A file is of one content throughout but for its first byte, which others change. */
    private static int read(Path root, long end) throws IOException {
        int count = 0;
        int stale = 0;
        while (System.nanoTime() < end || count == 0) {
            try (InputStream open = open(root.resolve("f" + count % FILES))) {
                stale += open == null ? 1 : 0;
                byte[] content = open == null ? new byte[10] : open.readAllBytes();
                assertThat(content).isNotEmpty();
                for (int i = 2; i < content.length; i++) {
                    assertThat(content[i]).isEqualTo(content[1]);
                }
            }
            count++;
        }
        assertThat(stale).as("of %d", count).isLessThanOrEqualTo(1 + count / 100);
        return count;
    }

    /** Null: the kernel found a name, and looked once more, and each time another file took the name before it was opened. */
    private static @Nullable InputStream open(Path file) throws IOException {
        try {
            return Files.newInputStream(file);
        } catch (FileSystemException e) {
            assertThat(e.getReason()).isEqualTo("Stale file handle");
            return null;
        }
    }
}

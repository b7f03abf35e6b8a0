package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * What the kernel does with what it is told of caches: how long it believes, what it drops, what it asks for. What it is told
 * is tested without it, in {@code io.posixgateway.alluxio.cache}.
 */
class CachesIT {
    private static final Request INLINE = new PlainRequest(false);
    private static final Duration LIMIT = Duration.ofMinutes(1);

    /** With so many files of five bytes. */
    private static String folderOf(int files) throws Exception {
        String folder = SharedAlluxio.folder();
        for (int i = 0; i < files; i++) {
            Files.writeString(SharedAlluxio.ufs(folder).resolve("f" + i), "hello");
        }
        return folder;
    }

    /** Else memory would be bounded by nothing but the kernel's. */
    @Test
    void theKernelLetsGoOfFilesThatAreTooManyToBeKept() throws Exception {
        int files = 2600;
        String folder = folderOf(files);
        Map<String, String> options = Map.of("consistency", "ttl", "metadata_ttl", "1h", "cache_entries", "1000");
        AlluxioFileSystem fs = SharedAlluxio.open(folder, options);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO);
                RandomAccessFile open =
                        new RandomAccessFile(mounted.root().resolve("f0").toFile(), "r")) {
            lookAt(mounted.root(), files);
            Path more = Files.createDirectory(mounted.root().resolve("more"));
            Waiting.until("the kernel let go of many", LIMIT, () -> {
                Files.createTempFile(more, "f", ""); // it is asked to when somebody comes
                return fs.counts().inodes() < 2300;
            });
            assertThat(mounted.root().toFile().list()).hasSize(files + 1);
            assertThat(open.readLine()).isEqualTo("hello");
            for (int i = 0; i < files; i += 100) {
                assertThat(mounted.root().resolve("f" + i)).hasContent("hello");
            }
        }
    }

    /** However many. */
    @Test
    void whateverIsInvalidatedIsNoLongerBelievedByTheKernel() throws Exception {
        int files = 600; // so that it takes several messages
        String folder = folderOf(files);
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("consistency", "ttl", "metadata_ttl", "1h"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            SessionMetrics metrics = mounted.session().metrics();
            assertThat(mounted.root().toFile().list()).hasSize(files);
            lookAt(mounted.root(), files);
            long before = metrics.requests(Opcode.LOOKUP);
            lookAt(mounted.root(), files);
            assertThat(metrics.requests(Opcode.LOOKUP) - before).isLessThan(files / 10);

            assertThat(fs.invalidate("/")).isEqualTo(files + 1);

            before = metrics.requests(Opcode.LOOKUP);
            lookAt(mounted.root(), files);
            assertThat(metrics.requests(Opcode.LOOKUP) - before).isGreaterThanOrEqualTo(files);
        }
    }

    /** A kernel that believed longer would show what was for ever. */
    @Test
    void theKernelAsksAgainWhenTheTimeToLiveIsOver() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("consistency", "ttl", "metadata_ttl", "200ms");
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Path here = Files.writeString(one.root().resolve("f"), "before");
            Files.writeString(one.root().resolve("gone"), "before");
            Path there = two.root().resolve("f");
            assertThat(there).hasContent("before");
            assertThat(two.root().resolve("gone")).exists();
            assertThat(two.root().resolve("new")).doesNotExist();
            Files.writeString(here, "behind"); // as long
            Files.setPosixFilePermissions(here, PosixFilePermissions.fromString("rw-r-----"));
            Files.delete(one.root().resolve("gone"));
            Files.createFile(one.root().resolve("new"));
            Waiting.until(
                    "pages are dropped", LIMIT, () -> Files.readString(there).equals("behind"));
            Waiting.until("attributes are asked for", LIMIT, () -> PosixFilePermissions.toString(
                            Files.getPosixFilePermissions(there))
                    .equals("rw-r-----"));
            Waiting.until(
                    "a name is asked for",
                    LIMIT,
                    () -> Files.notExists(two.root().resolve("gone")));
            Waiting.until(
                    "a missing name is asked for",
                    LIMIT,
                    () -> Files.exists(two.root().resolve("new")));
        }
    }

    private static void lookAt(Path root, int files) throws IOException {
        for (int i = 0; i < files; i++) {
            assertThat(Files.size(root.resolve("f" + i))).isEqualTo(5);
        }
    }

    @Test
    void namesThatAreMissingAreInvalidatedToo() throws Exception {
        String folder = SharedAlluxio.folder();
        Files.createDirectories(SharedAlluxio.ufs(folder).resolve("d"));
        Map<String, String> options = Map.of("consistency", "ttl", "metadata_ttl", "1h", "negative_ttl", "1h");
        AlluxioFileSystem fs = SharedAlluxio.open(folder, options);
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            Path made = one.root().resolve("d");
            Path seen = two.root().resolve("d");
            assertThat(seen.resolve("asked")).doesNotExist();
            assertThat(seen.toFile().list()).isEmpty();
            assertThat(seen.resolve("known")).doesNotExist(); // without asking Alluxio
            assertThat(seen.resolve("single")).doesNotExist();
            for (String name : new String[] {"asked", "known", "single"}) {
                Files.writeString(made.resolve(name), name);
                assertThat(seen.resolve(name)).doesNotExist();
            }
            assertThat(fs.invalidate("/d/single")).isEqualTo(1);
            assertThat(seen.resolve("single")).hasContent("single");

            assertThat(fs.invalidate("/d")).isGreaterThan(2);
            assertThat(seen.resolve("asked")).hasContent("asked");
            assertThat(seen.resolve("known")).hasContent("known");
            assertThat(seen.toFile().list()).containsExactlyInAnyOrder("asked", "known", "single");
        }
    }

    /**
     * With everything known, an epoch costs the kernel one OPEN and one RELEASE for each file, and no more unless it dropped pages
     * or names for reasons of its own.
     */
    @Test
    void aLaterEpochIsOpensAndReleasesOnly() throws Exception {
        int files = 50;
        int epochs = 6;
        String folder = SharedAlluxio.folder();
        for (int i = 0; i < files; i++) {
            Files.writeString(SharedAlluxio.ufs(folder).resolve("f" + i), "hello " + i);
        }
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("metadata_ttl", "1h", "open_trust", "1h"));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO)) {
            SessionMetrics metrics = mounted.session().metrics();
            long again = files;
            for (int done = 0; done < epochs && again > 0; done++) {
                Map<Opcode, Long> before = requests(metrics);
                long released = (done + 1L) * files;
                epoch(mounted.root(), files);
                Waiting.until("all are closed", LIMIT, () -> metrics.requests(Opcode.RELEASE) == released);
                Map<Opcode, Long> cost = requests(metrics);
                before.forEach((opcode, count) -> cost.merge(opcode, -count, Long::sum));
                again = cost.getOrDefault(Opcode.READ, 0L) + cost.getOrDefault(Opcode.LOOKUP, 0L);
                if (done > 0) {
                    isOpensAndReleases(cost, files);
                }
            }
            assertThat(again).isZero();
            for (int i = 0; i < files; i++) {
                assertThat(flagsOfAnOpen(fs, "f" + i) & OpenReply.KEEP_CACHE).isNotZero();
            }
        }
    }

    private static void isOpensAndReleases(Map<Opcode, Long> cost, int files) {
        Set<Opcode> free = Set.of(Opcode.READ, Opcode.LOOKUP, Opcode.FORGET, Opcode.BATCH_FORGET);
        cost.forEach((opcode, count) -> {
            boolean counted = opcode == Opcode.OPEN || opcode == Opcode.RELEASE;
            if (!free.contains(opcode)) {
                assertThat(count).as(opcode.name()).isEqualTo(counted ? files : 0);
            }
        });
    }

    private static int flagsOfAnOpen(AlluxioFileSystem fs, String name) {
        Entry entry = new Entry();
        assertThat(fs.lookup(INLINE, FileSystem.ROOT, Name.of(name), entry)).isZero();
        OpenReply open = new OpenReply();
        assertThat(fs.open(INLINE, entry.node, 0, open)).isZero();
        assertThat(fs.release(INLINE, entry.node, open.handle)).isZero();
        return open.flags;
    }

    private static Map<Opcode, Long> requests(SessionMetrics metrics) {
        Map<Opcode, Long> counts = new EnumMap<>(Opcode.class);
        for (Opcode opcode : Opcode.values()) {
            counts.put(opcode, metrics.requests(opcode));
        }
        return counts;
    }

    private static void epoch(Path root, int files) throws Exception {
        for (int i = 0; i < files; i++) {
            assertThat(new String(bytes(root.resolve("f" + i)), StandardCharsets.UTF_8))
                    .isEqualTo("hello " + i);
        }
    }

    /** Opens, reads and closes: no more system calls than that. */
    private static byte[] bytes(Path file) throws IOException {
        try (FileChannel open = FileChannel.open(file)) {
            ByteBuffer content = ByteBuffer.allocate(100);
            open.read(content);
            return Arrays.copyOf(content.array(), content.position());
        }
    }

    @Test
    void aFileThatOthersRenameIsReadThroughItsStream() throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem one = MountedFileSystem.mount(
                        SharedAlluxio.open(folder, Map.of("short_circuit", "off")), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.AUTO)) {
            Files.writeString(two.root().resolve("f"), "hello");
            try (FileChannel open = FileChannel.open(one.root().resolve("f"))) {
                Files.move(two.root().resolve("f"), two.root().resolve("g"));
                ByteBuffer content = ByteBuffer.allocate(100);
                open.read(content);
                assertThat(content.flip()).isEqualTo(ByteBuffer.wrap("hello".getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    /** Whoever looks again is told the same. */
    @Test
    void aFileThatOthersRemovedIsMissingAtEveryOpen() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("metadata_ttl", "1h", "open_trust", "0");
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Files.writeString(one.root().resolve("f"), "hello");
            Path seen = two.root().resolve("f");
            assertThat(seen).hasContent("hello");
            Files.delete(one.root().resolve("f"));
            for (int look = 1; look <= 2; look++) {
                assertThatThrownBy(() -> FileChannel.open(seen))
                        .as("look %d", look)
                        .isInstanceOf(NoSuchFileException.class);
            }
            assertThat(seen).doesNotExist();
        }
    }

    @Test
    void openSeesWhatAnotherMountClosedBefore() throws Exception {
        String folder = SharedAlluxio.folder();
        Map<String, String> options = Map.of("metadata_ttl", "1h", "open_trust", "0");
        try (MountedFileSystem one =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
                MountedFileSystem two =
                        MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO)) {
            Files.writeString(one.root().resolve("f"), "old");
            assertThat(two.root().resolve("f")).hasContent("old");
            for (int i = 0; i < 5; i++) {
                Files.writeString(one.root().resolve("f"), "new " + i);
                assertThat(two.root().resolve("f")).hasContent("new " + i);
            }
        }
    }
}

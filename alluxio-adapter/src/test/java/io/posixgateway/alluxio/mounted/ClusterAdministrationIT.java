package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What administrators of Alluxio change under a mount: mount points, what is cached, and workers. Alluxio's shell takes seconds for each:
 * for the long form alone.
 */
@EnabledIfSystemProperty(
        named = "pgw.clusters.long",
        matches = "true",
        disabledReason = "of the long form: make long TEST=clusters")
class ClusterAdministrationIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** Several times the time to live of metadata, which Alluxio's shell outlasts. */
    private static final Duration SEEN = Duration.ofSeconds(5);

    private static final int BLOCK_BYTES = 4 << 20;
    private static final int PAGE_BYTES = 4096;
    private static final String USER = "daemon";

    private static EmbeddedAlluxio alluxio;

    @TempDir
    private Path folder = Path.of("");

    private TestDirectory own;
    private Store other;
    private MountedFileSystem mounted;

    @BeforeAll
    static void start() throws IOException {
        alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults()
                .withProperties(Map.of(
                        "alluxio.master.security.impersonation." + System.getProperty("user.name") + ".users", "*")));
    }

    @AfterAll
    static void end() {
        if (alluxio != null) {
            alluxio.close();
        }
    }

    @BeforeEach
    void mount() throws Exception {
        own = Clusters.directory(alluxio);
        other = AlluxioMount.connect(AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"), options());
        mounted = mount(own);
    }

    @AfterEach
    void unmount() throws Exception {
        if (mounted != null) {
            mounted.close();
        }
        if (other != null) {
            other.close();
        }
    }

    private AdapterOptions options() {
        return AdapterOptions.of(AdapterOptions.TABLE.read(
                Map.of("metadata_ttl", "1s", "spool", folder.resolve("spool").toString())));
    }

    private MountedFileSystem mount(TestDirectory directory) throws Exception {
        return mount(AlluxioOptions.ofUri(directory.uri()));
    }

    private MountedFileSystem mount(AlluxioOptions where) throws Exception {
        return MountedFileSystem.mount(AlluxioMount.open(where, options()), TransportChoice.AUTO);
    }

    private Path root() {
        return mounted.root();
    }

    private static void shell(EmbeddedAlluxio cluster, String... command) throws IOException {
        EmbeddedAlluxio.ShellResult result = cluster.shell(command);
        assertThat(result.exit())
                .as(String.join(" ", command) + ": " + result.output() + result.errors())
                .isZero();
    }

    private String in(String name) {
        return own.path() + "/" + name;
    }

    private static Set<String> names(Path directory) throws IOException {
        try (Stream<Path> names = Files.list(directory)) {
            return new TreeSet<>(
                    names.map(name -> String.valueOf(name.getFileName())).toList());
        }
    }

    private static byte[] content(int seed, int bytes) {
        byte[] content = new byte[bytes];
        new Random(seed).nextBytes(content);
        return content;
    }

    /** Past the kernel's page cache. */
    private static void readAll(Path file, byte[] content) throws IOException {
        ByteBuffer room = ByteBuffer.allocateDirect(content.length + PAGE_BYTES)
                .alignedSlice(PAGE_BYTES)
                .limit(content.length);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
            while (room.hasRemaining() && channel.read(room, room.position()) > 0) {
                // There is more.
            }
        }
        assertThat(room.flip().equals(ByteBuffer.wrap(content)))
                .as("bytes of " + file)
                .isTrue();
    }

    @Test
    void mountPoints_addedAndRemovedInAlluxio_areSeenWithinTheTtl(@TempDir Path first, @TempDir Path second)
            throws Exception {
        Files.writeString(first.resolve("a"), "of the first");
        Files.writeString(second.resolve("b"), "of the second");
        Path point = root().resolve("point");
        assertThat(names(root())).isEmpty();
        assertThat(point).doesNotExist();
        shell(alluxio, "mount", in("point"), first.toString());
        Waiting.until(
                "the mount point is there",
                SEEN,
                () -> Files.exists(point) && !names(root()).isEmpty());
        assertThat(point.resolve("a")).hasContent("of the first");
        assertThat(point.resolve("inner")).doesNotExist();

        shell(alluxio, "mount", in("point/inner"), second.toString());
        Path inner = point.resolve("inner");
        Waiting.until("the nested one is there", SEEN, () -> Files.exists(inner));
        assertThat(inner.resolve("b")).hasContent("of the second");
        assertThat(names(point)).containsExactly("a", "inner");
        Path moved = Files.writeString(inner.resolve("c"), "written");
        assertThat(second.resolve("c")).hasContent("written");
        assertThatThrownBy(() -> Files.move(moved, point.resolve("c"), StandardCopyOption.ATOMIC_MOVE))
                .isInstanceOf(AtomicMoveNotSupportedException.class);

        shell(alluxio, "unmount", in("point/inner"));
        Waiting.until("the nested one is gone", SEEN, () -> names(point).equals(Set.of("a")) && Files.notExists(inner));
        assertThat(point.resolve("a")).hasContent("of the first");
        shell(alluxio, "unmount", in("point"));
        Waiting.until("it is gone", SEEN, () -> names(root()).isEmpty() && Files.notExists(point));
        assertThat(names(first)).containsExactly("a");
        assertThat(names(second)).containsExactly("b", "c");
    }

    private static void refusesReadOnly(Work change) {
        assertThatThrownBy(change::run).isInstanceOf(IOException.class).hasMessageContaining("Read-only file system");
    }

    @Test
    void mountPoint_readOnlyInAlluxio_refusesChangesWithErofs(@TempDir Path readOnly) throws Exception {
        Files.writeString(readOnly.resolve("a"), "content");
        Files.createDirectory(readOnly.resolve("directory"));
        Path point = root().resolve("point");
        Path own = Files.writeString(root().resolve("own"), "writable");
        shell(alluxio, "mount", "--readonly", in("point"), readOnly.toString());
        Path file = point.resolve("a");
        Waiting.until("the mount point is there", SEEN, () -> Files.exists(file));
        try {
            refusesReadOnly(() -> Files.createFile(point.resolve("new")));
            refusesReadOnly(() -> Files.createDirectory(point.resolve("folder")));
            refusesReadOnly(() -> Files.createSymbolicLink(point.resolve("link"), file));
            refusesReadOnly(() -> Files.writeString(file, "other"));
            refusesReadOnly(() -> Files.writeString(file, "more", StandardOpenOption.APPEND));
            refusesReadOnly(() -> Files.move(file, point.resolve("b"), StandardCopyOption.ATOMIC_MOVE));
            refusesReadOnly(() -> Files.delete(file));
            refusesReadOnly(() -> Files.delete(point.resolve("directory")));
            refusesReadOnly(() -> Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------")));
            assertThat(file).hasContent("content");
            assertThat(names(point)).containsExactly("a", "directory");
            assertThat(own).hasContent("writable");
        } finally {
            shell(alluxio, "unmount", in("point"));
        }
        assertThat(names(readOnly)).containsExactly("a", "directory");
    }

    @Test
    void reads_whileFileIsFreedInAlluxio_succeed() throws Exception {
        byte[] content = content(2, 3 * BLOCK_BYTES);
        Path file = Files.write(root().resolve("file"), content);
        try (SteadyReader reader = new SteadyReader("reader", () -> readAll(file, content))) {
            for (int i = 0; i < 3; i++) {
                int before = reader.good();
                Waiting.until("it is read", LIMIT, () -> reader.good() > before + 1);
                shell(alluxio, "free", in("file"));
            }
            reader.endHonestly(LIMIT);
            assertThat(reader.failed()).as("failed reads").isZero();
        }
    }

    @Test
    void files_ofTheUserOfAVolume_belongToThatUser() throws Exception {
        try (MountedFileSystem theirs = mount(new AlluxioOptions(alluxio.masters(), own.path(), USER, Map.of()))) {
            Path file = Files.writeString(theirs.root().resolve("file"), "old");
            Files.writeString(file, "new");
            Files.writeString(file, ", appended", StandardOpenOption.APPEND);
            Path replaced = Files.writeString(theirs.root().resolve("replaced"), "old");
            Files.move(
                    Files.writeString(theirs.root().resolve("temporary"), "new"),
                    replaced,
                    StandardCopyOption.ATOMIC_MOVE);
            Files.createDirectory(theirs.root().resolve("directory"));
            assertThat(file).hasContent("new, appended");
            for (String name : names(theirs.root())) {
                assertThat(other.status(in(name)).owner()).as(name).isEqualTo(USER);
            }
        }
    }

    @Test
    void files_ofAnImpersonatedUser_belongToThatUser() throws Exception {
        Map<String, String> impersonating = Map.of("alluxio.security.login.impersonation.username", USER);
        try (MountedFileSystem theirs = mount(new AlluxioOptions(alluxio.masters(), own.path(), "", impersonating))) {
            Files.writeString(theirs.root().resolve("file"), "content");
            assertThat(theirs.root().resolve("file")).hasContent("content");
            assertThat(other.status(in("file")).owner()).isEqualTo(USER);
        }
        assertThatThrownBy(() -> mount(new AlluxioOptions(alluxio.masters(), own.path(), "stranger", impersonating)))
                .hasMessageContaining("not configured to allow any impersonation")
                .hasMessageContaining("alluxio.master.security.impersonation.<user>.users")
                .hasMessageNotContaining("grant access");
    }

    @Test
    void files_whoseWorkerIsReplacedUnderAnotherAddress_areReadAndWritten() throws Exception {
        EmbeddedAlluxio two = Clusters.twoWorkers();
        TestDirectory directory = Clusters.directory(two);
        ServerProcess former = two.workers().get(0);
        ServerProcess next = two.workers().get(1);
        next.kill();
        Clusters.awaitLoss(two, 1);
        byte[] content = content(3, BLOCK_BYTES);
        try (MountedFileSystem theirs = mount(directory)) {
            Path file = Files.write(theirs.root().resolve("file"), content);
            readAll(file, content);
            former.kill();
            next.start();
            Clusters.awaitLoss(two, 1);
            Waiting.until("it is read", LIMIT, () -> isDone(() -> readAll(file, content)));
            Waiting.until("it is written", LIMIT, () -> isDone(() -> Files.write(file, content(4, BLOCK_BYTES))));
            readAll(file, content(4, BLOCK_BYTES));
            Files.write(theirs.root().resolve("more"), content);
            readAll(theirs.root().resolve("more"), content);
        } finally {
            Clusters.heal(two);
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static boolean isDone(Work work) {
        try {
            work.run();
            return true;
        } catch (IOException notYet) {
            return false;
        }
    }
}

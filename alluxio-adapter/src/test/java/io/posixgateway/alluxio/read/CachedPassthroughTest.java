package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.mounted.PlainRequest;
import io.posixgateway.alluxio.nodecache.CacheFigures;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.OpenReply;
import io.posixgateway.fuse.wire.Layouts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of the data cache that the kernel reads by itself, where no block file is on this host. */
class CachedPassthroughTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final AlluxioMount.Shared process = AlluxioMount.Shared.ofOne(cluster.clock());

    private MemoryMount.Builder mount() {
        return MemoryMount.of(cluster.connect())
                .beside(process)
                .with("passthrough", "on")
                .with("open_trust", "0")
                .with("cache_dir", above.resolve("cache").toString())
                .passingThrough();
    }

    @BeforeEach
    void write() {
        written("old");
    }

    private void written(String text) {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            other.write("/f", text);
        }
    }

    private static boolean isPassedThrough(OpenFile file) {
        return (file.opened().flags() & Layouts.FOPEN_PASSTHROUGH) != 0;
    }

    private static CacheFigures figures(MemoryMount mount) {
        return Objects.requireNonNull(mount.fileSystem().details().cache());
    }

    /** Reads the file, and waits until the cache has so many in all. */
    private static void cached(MemoryMount mount, int files) throws Exception {
        assertThat(mount.read("/f")).isNotEmpty();
        Waiting.until("the file is kept", PATIENCE, () -> figures(mount).pieces() == files);
    }

    @Test
    void open_ofFileInTheCache_isPassedThrough_byOneBackingFileForAll() throws Exception {
        try (MemoryMount mount = mount().readOnly().open()) {
            cached(mount, 1);
            try (OpenFile one = mount.open("/f");
                    OpenFile other = mount.open("/f")) {
                assertThat(isPassedThrough(one)).isTrue();
                assertThat(isPassedThrough(other)).isTrue();
                assertThat(mount.kernel().openBackingFiles()).isEqualTo(1);
            }
            assertThat(mount.kernel().openBackingFiles()).isZero();
            assertThat(figures(mount).pinned()).isZero();
            assertThat(mount.fileSystem().counts().passthroughOpens()).isEqualTo(2);
        }
    }

    @Test
    void open_thatIsPassedThrough_holdsNoDescriptor() throws Exception {
        try (MemoryMount mount = mount().readOnly().open()) {
            cached(mount, 1);
            try (OpenFile file = mount.open("/f")) {
                assertThat(isPassedThrough(file)).isTrue();
                assertThat(figures(mount).pinned()).isEqualTo(1);
                Path pieces = above.toRealPath().resolve("cache/pieces");
                Waiting.until("it is closed", PATIENCE, () -> openBelow(pieces) == 0);
            }
        }
    }

    @Test
    void open_thatMayNotWait_isLeftToOneThatMay_becauseTheDiskMayHang() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster.connect())
                .with("passthrough", "on")
                .with("open_trust", "1h")
                .with("metadata_ttl", "1h")
                .with("cache_dir", above.resolve("cache").toString())
                .passingThrough()
                .readOnly()
                .open()) {
            cached(mount, 1);
            long node = mount.lookup("/f").id();
            assertThat(mount.fileSystem().open(new PlainRequest(false), node, 0, new OpenReply()))
                    .isEqualTo(FileSystem.WOULD_WAIT);
            try (OpenFile open = mount.open("/f")) {
                assertThat(isPassedThrough(open)).isTrue();
                assertThat(mount.fileSystem().open(new PlainRequest(false), node, 0, new OpenReply()))
                        .as("no file is to be opened")
                        .isZero();
            }
        }
    }

    private static long openBelow(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(each -> linkOf(each).startsWith(folder)).count();
        }
    }

    private static Path linkOf(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException closed) {
            return descriptor;
        }
    }

    /** The kernel allows no open of one kind beside one of the other. */
    @Test
    void open_besideOneThatBeganBeforeTheFileWasThere_isNot() throws Exception {
        try (MemoryMount mount = mount().readOnly().open()) {
            try (OpenFile first = mount.open("/f")) {
                assertThat(isPassedThrough(first)).isFalse();
                cached(mount, 1);
                try (OpenFile second = mount.open("/f")) {
                    assertThat(isPassedThrough(second)).isFalse();
                    assertThat(second.readText()).isEqualTo("old");
                }
            }
            try (OpenFile third = mount.open("/f")) {
                assertThat(isPassedThrough(third)).isTrue();
            }
        }
    }

    @Test
    void open_afterOtherMountReplacedFile_isOfTheNewOne() throws Exception {
        try (MemoryMount mount = mount().readOnly().open()) {
            cached(mount, 1);
            try (OpenFile old = mount.open("/f")) {
                assertThat(isPassedThrough(old)).isTrue();
                written("new");
                assertThatThrownBy(() -> mount.requests().open(old.opened().node(), 0))
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ESTALE));
                try (OpenFile anew = mount.open("/f")) {
                    assertThat(isPassedThrough(anew)).isFalse();
                    assertThat(anew.opened().node().id())
                            .isNotEqualTo(old.opened().node().id());
                    assertThat(anew.readText()).isEqualTo("new");
                }
            }
            cached(mount, 2);
            try (OpenFile anew = mount.open("/f")) {
                assertThat(isPassedThrough(anew)).isTrue();
            }
        }
    }

    @Test
    void open_ofFileWhosePieceIsFoundDamaged_isReadFromAlluxio() throws Exception {
        try (MemoryMount mount = mount().readOnly().open()) {
            cached(mount, 1);
            try (OpenFile before = mount.open("/f")) {
                assertThat(isPassedThrough(before)).isTrue();
                damageAll();
                cluster.clock().advance(Duration.ofHours(24));
                Waiting.until("it is dropped", PATIENCE, () -> figures(mount).dropped() == 1);
                assertThatThrownBy(() -> mount.requests().open(before.opened().node(), 0))
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ESTALE));
                try (OpenFile after = mount.open("/f")) {
                    assertThat(isPassedThrough(after)).isFalse();
                    assertThat(after.readText()).isEqualTo("old");
                }
            }
        }
    }

    private void damageAll() throws IOException {
        try (Stream<Path> files = Files.walk(above.resolve("cache/pieces"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.writeString(file, "bad");
            }
        }
    }

    @Test
    void open_onMountThatWrites_isNotPassedThrough() throws Exception {
        try (MemoryMount mount = mount().open()) {
            cached(mount, 1);
            try (OpenFile reader = mount.open("/f")) {
                assertThat(isPassedThrough(reader)).isFalse();
                assertThat(reader.readText()).isEqualTo("old");
            }
            assertThat(figures(mount).hits()).isPositive();
        }
    }

    @Test
    void mountThatEndsBeforeItsHandles_holdsNothingInTheFolderThatOthersShare() throws Exception {
        try (MemoryMount mount = mount().readOnly().open()) {
            MemoryMount ended = mount().readOnly().open();
            cached(ended, 1);
            assertThat(isPassedThrough(ended.open("/f"))).isTrue();
            assertThat(ended.open("/f").readText()).isEqualTo("old");
            ended.close();
            assertThat(figures(mount).pinned()).isZero();
        }
    }
}

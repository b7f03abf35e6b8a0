package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.bypass.BypassResult;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import io.posixgateway.fuse.wire.Layouts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which files are read from block files without us: none of a mount through which they are changed. */
class PassthroughTest {
    /** So many there is room for. */
    private static final int NOTES = 16_384;

    @TempDir
    private Path blocks = Path.of("");

    private MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    @BeforeEach
    void begin() {
        cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 1, 64 << 20, blocks);
    }

    private MemoryMount.Builder mount() {
        return MemoryMount.of(cluster.connect())
                .with("passthrough", "on")
                .with("bypass", "on")
                .with("open_trust", "0")
                .passingThrough();
    }

    private void written(String text) {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            other.write("/f", text);
        }
    }

    private static boolean isPassedThrough(OpenFile file) {
        return (file.opened().flags() & Layouts.FOPEN_PASSTHROUGH) != 0;
    }

    private static BypassResult bypass(MemoryMount mount, FuseNode node) {
        return mount.fileSystem().blockSet(node.id()).bypassResult();
    }

    private static void fails(int errno, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    @Test
    void open_onMountThatWrites_isNotPassedThroughSoThatReadersSeeWriters() {
        written("old");
        try (MemoryMount mount = mount().open();
                OpenFile reader = mount.open("/f")) {
            FuseNode before = mount.lookup("/f");
            assertThat(isPassedThrough(reader)).isFalse();
            assertThat(bypass(mount, before)).isEqualTo(BypassResult.WRITABLE);
            try (OpenFile writer = mount.openToWrite("/f")) {
                writer.write("new");
                assertThat(reader.readText()).isEqualTo("new");
                mount.truncate("/f", 2);
                assertThat(reader.readText()).isEqualTo("ne");
            }
            assertThat(reader.readText()).isEqualTo("ne");
            assertThat(mount.lookup("/f").id()).as("its number").isEqualTo(before.id());
        }
    }

    @Test
    void open_onMountThatIsReadOnly_isPassedThrough() {
        written("old");
        try (MemoryMount mount = mount().readOnly().open();
                OpenFile one = mount.open("/f");
                OpenFile other = mount.open("/f")) {
            assertThat(isPassedThrough(one)).isTrue();
            assertThat(isPassedThrough(other)).isTrue();
            assertThat(bypass(mount, mount.lookup("/f"))).isEqualTo(BypassResult.GIVEN);
        }
    }

    @Test
    void open_onReadOnlyMountAfterOtherMountReplacedFile_seesTheNewOneBesideTheOldOne() {
        written("old");
        try (MemoryMount mount = mount().readOnly().open();
                OpenFile old = mount.open("/f")) {
            written("new");
            fails(Errno.ESTALE, () -> mount.requests().open(old.opened().node(), 0));
            try (OpenFile anew = mount.open("/f")) {
                assertThat(isPassedThrough(anew)).isTrue();
                assertThat(anew.opened().node().id())
                        .isNotEqualTo(old.opened().node().id());
                assertThat(anew.readText()).isEqualTo("new");
            }
        }
    }

    /** As versions did that passed files through on every mount. */
    @Test
    void open_afterProcessThatPassedTheFileThrough_getsAnotherNode(@TempDir Path one, @TempDir Path other) {
        written("old");
        try (MemoryMount earlier = mount().with("consistency", "immutable").openPersistent(one, null)) {
            OpenFile reader = earlier.open("/f");
            assertThat(isPassedThrough(reader)).isTrue();
            FuseNode node = reader.opened().node();
            earlier.kill();
            try (MemoryMount mount = mount().openPersistent(other, earlier)) {
                fails(Errno.ESTALE, () -> mount.requests().open(node, Stat.O_RDONLY));
                fails(Errno.ESTALE, () -> mount.requests().open(node, Stat.O_WRONLY));
                mount.write("/f", "new");
                try (OpenFile anew = mount.open("/f")) {
                    assertThat(isPassedThrough(anew)).isFalse();
                    assertThat(anew.readText()).isEqualTo("new");
                }
            }
        }
    }

    /** With nodes that its kernel read by itself, and has not forgotten. */
    private static void fillNotes(Path volume) {
        ByteBuffer notes = ByteBuffer.allocate((NOTES + 1) * Long.BYTES);
        for (int i = 0; i < NOTES; i++) {
            notes.putLong(1_000_000_000L + i);
        }
        try {
            Files.write(volume.resolve("passthrough"), notes.array());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Nobody would give it back once this process has ended, and an evicted block would take room until the end of the mount. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void open_whereNothingMoreCanBeNotedForTheNextProcess_leavesNothingInTheKernel(
            boolean full, @TempDir Path one, @TempDir Path other) {
        try (MemoryMount earlier = mount().with("consistency", "immutable").openPersistent(one, null)) {
            earlier.kill();
            MemoryMount.Builder next = mount().with("consistency", "immutable").afterLeaving(() -> {
                if (full) {
                    fillNotes(other);
                }
            });
            try (MemoryMount mount = next.openPersistent(other, earlier)) {
                mount.write("/f", "text");
                try (OpenFile file = mount.open("/f")) {
                    assertThat(isPassedThrough(file)).isEqualTo(!full);
                    assertThat(mount.kernel().openBackingFiles()).isEqualTo(full ? 0 : 1);
                }
            }
        }
    }

    @Test
    void open_ofImmutableFile_isPassedThroughAndWritersGetAnotherNode() {
        written("old");
        try (MemoryMount mount = mount().with("consistency", "immutable").open();
                OpenFile reader = mount.open("/f")) {
            assertThat(isPassedThrough(reader)).isTrue();
            fails(Errno.ESTALE, () -> mount.requests().open(reader.opened().node(), Stat.O_WRONLY));
            mount.write("/f", "new");
            assertThat(mount.read("/f")).isEqualTo("new");
        }
    }
}

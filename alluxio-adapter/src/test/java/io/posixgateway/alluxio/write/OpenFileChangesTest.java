package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.journal.SillyRenames;
import io.posixgateway.alluxio.journal.VolumeJournal;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is done to a file, or to its name, while somebody has it open. */
class OpenFileChangesTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount mount;

    @BeforeEach
    void mount() {
        cluster.clock().advanceBySleeps();
        mount = MemoryMount.of(cluster);
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    private void assertHolds(String path, String content) {
        assertThat(cluster.ufs().read(path)).asString().isEqualTo(content);
        assertThat(mount.read(path)).isEqualTo(content);
    }

    /** What was copied by then is a part of the file, and is not to be taken for all of it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void write_whoseCopyFailsUnexpectedly_leavesTheFileWhole(boolean isError) {
        String content = "0123456789".repeat(300_000);
        mount.write("/file", content);
        try (OpenFile file = mount.openToWrite("/file")) {
            mount.faults().on(StoreCall.READ).nth(2).before(() -> {
                if (isError) {
                    throw new LinkageError("nobody expects this");
                }
                throw new IllegalStateException("nobody expects this");
            });
            assertThatThrownBy(() -> file.write("ab")).isInstanceOf(FuseFailure.class);
            assertThat(file.lengthBytes()).isEqualTo(content.length());
            assertThat(file.readText()).isEqualTo(content);
            file.write("AB");
        }
        assertHolds("/file", "AB" + content.substring(2));
        assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
    }

    /** Alluxio knows nothing of the new file then, and gave its name to another one. */
    @Test
    void create_atTheNameOfANewFileWhoseUploadFailed_isRefused() {
        try (OpenFile file = mount.create("/file").write("text")) {
            mount.faults().on(StoreCall.COMPLETE).fail(Errno.EIO);
            assertThatThrownBy(file::fsync).isInstanceOf(FuseFailure.class);
            assertThatThrownBy(() -> mount.create("/file"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
            assertThatThrownBy(() -> mount.mkdir("/file"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
        }
        assertHolds("/file", "text");
    }

    /** Alluxio has it no more. */
    @Test
    void removexattr_ofFileThatWasDeletedWhileItIsWritten_works() {
        try (OpenFile file = mount.create("/f")) {
            long node = file.opened().node().id();
            file.write("content");
            mount.requests().setxattr(node, "user.a", "1");
            mount.requests().setxattr(node, "user.b", "2");
            mount.unlink("/f");
            mount.requests().removexattr(node, "user.a");
            assertThatThrownBy(() -> mount.requests().getxattr(node, "user.a"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODATA));
            assertThat(mount.requests().getxattr(node, "user.b")).isEqualTo("2");
        }
    }

    @Test
    void read_afterFileWasReplacedOrDeleted_returnsTheOldContentToItsEnd() throws InterruptedException {
        mount.write("/replaced", "old content");
        mount.write("/deleted", "old content");
        mount.write("/fresh", "fresh");
        try (OpenFile first = mount.open("/replaced");
                OpenFile second = mount.open("/deleted")) {
            mount.rename("/fresh", "/replaced");
            mount.unlink("/deleted");
            assertThat(first.readText()).isEqualTo("old content");
            assertThat(second.readText()).isEqualTo("old content");
            assertThat(mount.stat("/replaced").lengthBytes()).isEqualTo("fresh".length());
            assertThat(mount.list("/")).containsExactly("replaced");
        }
        Eventually.holds(
                "what was hidden is removed", () -> cluster.ufs().list("/").equals(List.of("replaced")));
        assertHolds("/replaced", "fresh");
    }

    @Test
    void write_afterRenameOfTheOpenFile_goesToTheNewName() {
        try (OpenFile file = mount.create("/a")) {
            file.write(0, new byte[] {'1'});
            mount.rename("/a", "/b");
            file.write(1, new byte[] {'2'});
        }
        assertHolds("/b", "12");
        assertThat(mount.list("/")).containsExactly("b");
        assertThat(cluster.ufs().list("/")).containsExactly("b");
    }

    @Test
    void create_ofNameThatAnotherMountMadeSinceItWasMissed_failsWithEexist() {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            assertThat(mount.exists("/made")).isFalse();
            other.write("/made", "1");
            assertThatThrownBy(() -> mount.create("/made"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
            assertHolds("/made", "1");
        }
    }

    @Test
    void close_afterUnlinkOfTheOpenFile_commitsNothing() throws InterruptedException {
        mount.write("/old", "old content");
        try (OpenFile fresh = mount.create("/new");
                OpenFile old = mount.openToWrite("/old")) {
            fresh.write("new");
            old.write("OLD");
            mount.unlink("/new");
            mount.unlink("/old");
            fresh.write(3, new byte[] {'!'});
            old.write(3, new byte[] {'!'});
            fresh.fsync();
            old.fsync();
            assertThat(fresh.readText()).isEqualTo("new!");
            assertThat(old.readText()).isEqualTo("OLD!content");
            assertThat(mount.list("/")).isEmpty();
        }
        assertThat(mount.list("/")).isEmpty();
        Eventually.holds("it is removed", () -> cluster.ufs().list("/").isEmpty());
        Eventually.holds("no spool is left", () -> mount.fileSystem().counts().spoolBytes() == 0);
    }

    /** POSIX speaks of the file, not of the descriptor. */
    @Test
    void fsync_byReader_commitsWhatAnotherWrote() {
        mount.write("/f", "old");
        try (OpenFile writer = mount.openToWrite("/f");
                OpenFile reader = mount.open("/f")) {
            writer.write("new content");
            assertThat(cluster.ufs().read("/f")).asString().isEqualTo("old");
            reader.fsync();
            assertThat(cluster.ufs().read("/f")).asString().isEqualTo("new content");
        }
    }

    @Test
    void write_whileAnotherClosesItsHandle_staysInOneFile() {
        try (OpenFile first = mount.create("/f")) {
            first.write("1..");
            try (OpenFile second = mount.openToWrite("/f")) {
                second.write(1, new byte[] {'2'});
            }
            assertThat(cluster.ufs().read("/f")).asString().isEqualTo("12.");
            first.write(2, new byte[] {'3'});
        }
        assertHolds("/f", "123");
    }

    @Test
    void truncateAndWrite_anywhere_endUpInTheUnderFileSystem() {
        mount.write("/f", "0123456789");
        try (OpenFile file = mount.openToWrite("/f")) {
            file.write(3, "abc".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            file.truncate(8);
            assertThat(file.readText()).isEqualTo("012abc67");
            file.write(10, new byte[] {'x'});
            assertThat(file.readText()).isEqualTo("012abc67\0\0x");
        }
        assertHolds("/f", "012abc67\0\0x");
        mount.truncate("/f", 3);
        assertHolds("/f", "012");
        mount.write("/f", "9");
        assertHolds("/f", "9");
        assertThat(mount.fileSystem().counts().changedFiles()).isZero();
        assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
    }

    @Test
    void close_ofNewFileThatNobodyWroteTo_makesItVisible() {
        mount.create("/f").close();
        assertHolds("/f", "");
        try (MemoryMount other = MemoryMount.of(cluster)) {
            assertThat(other.read("/f")).isEmpty();
        }
    }

    @Test
    void close_ofFileThatNobodyChanged_makesNoCallThatWrites() {
        mount.write("/f", "text");
        mount.faults().forgetCounts();
        mount.openToWrite("/f").close();
        assertThat(mount.faults().count(StoreCall.CREATE)).isZero();
        assertThat(mount.faults().count(StoreCall.RENAME)).isZero();
        assertThat(mount.faults().count(StoreCall.WRITE)).isZero();
    }

    /** Only what it wrote down that it hid; and not before it is dead. */
    @Test
    void start_afterProcessThatHidFilesDied_removesThem(@TempDir Path spool) throws Exception {
        try (Store store = cluster.connect()) {
            for (String name : List.of("/.pgw~listed", "/.pgw~other")) {
                StoreWriter sink = store.create(name, 0600, Map.of(), UUID.randomUUID());
                sink.complete();
            }
            try (VolumeJournal dead = VolumeJournal.shared(spool, store.cluster())) {
                new SillyRenames(dead).add(new SillyRenames.Hidden("/.pgw~listed", 0, 0));
            }
        }
        Files.move(onlyFile(spool), spool.resolve("journal-dead-1"));
        try (MemoryMount next = MemoryMount.of(cluster.connect()).in(spool).open()) {
            Eventually.holds("it is removed", () -> !cluster.ufs().exists("/.pgw~listed"));
            assertThat(next.list("/")).isEmpty();
            assertThat(cluster.ufs().exists("/.pgw~other")).isTrue();
        }
        assertThat(spool).isEmptyDirectory();
    }

    private static Path onlyFile(Path folder) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().orElseThrow();
        }
    }

    /** One that fails in a way that nobody expects stops no other, and is named. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unmount_whoseUploadFailsUnexpectedly_uploadsTheOthers(boolean isError) {
        mount.create("/one").write("content");
        mount.create("/other").write("content");
        mount.create("/third").write("content");
        mount.faults().on(StoreCall.COMPLETE).nth(1).before(() -> {
            if (isError) {
                throw new LinkageError("nobody expects this");
            }
            throw new IllegalStateException("nobody expects this");
        });
        mount.close();
        assertThat(cluster.ufs().list("/"))
                .filteredOn(name -> !name.startsWith("."))
                .hasSize(2);
        assertThat(mount.fileSystem().failedAtEnd()).hasSize(1);
    }
}

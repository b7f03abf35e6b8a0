package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node dies, and with it the programs that had files open; other nodes go on; then it is back. */
class ReturnedNodeTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path folder;
    private final MemoryMount other = MemoryMount.of(cluster);
    private final MemoryMount dead;

    ReturnedNodeTest(@TempDir Path folder) {
        this.folder = folder;
        this.dead = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("dead"), null);
    }

    @AfterEach
    void end() {
        other.close();
        dead.close();
    }

    private MemoryMount back() {
        dead.kill();
        cluster.clock().advance(Duration.ofSeconds(10));
        return MemoryMount.of(cluster.connect()).openReturned(folder.resolve("back"), dead);
    }

    private List<String> aside() throws IOException {
        Path aside = folder.resolve("back/aside");
        if (Files.notExists(aside)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(aside)) {
            return files.filter(file -> !file.getFileName().toString().contains("."))
                    .map(ReturnedNodeTest::read)
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private List<Path> records() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("back"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("spool-"))
                    .toList();
        }
    }

    @Test
    void openDirtyFile_whoseFileAnotherNodeHasWrittenSince_isSetAside() throws Exception {
        other.write("/file", "begun from");
        dead.openToWrite("/file").write("STALE DRAFT");
        other.write("/file", "acknowledged elsewhere");
        try (MemoryMount back = back()) {
            assertThat(back.read("/file")).isEqualTo("acknowledged elsewhere");
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo("acknowledged elsewhere");
            assertThat(aside()).containsExactly("STALE DRAFT");
            assertThat(back.fileSystem().counts().spoolBytes()).isEqualTo("STALE DRAFT".length());
        }
        assertThat(aside()).as("the volume's end takes nothing of it").hasSize(1);
    }

    @Test
    void openDirtyFile_thatNobodySynced_isSetAsideThoughNobodyElseWrote() throws Exception {
        other.write("/file", "begun from");
        OpenFile file = dead.openToWrite("/file").write("synced....");
        file.fsync();
        file.write("torn");
        try (MemoryMount back = back()) {
            assertThat(back.read("/file")).isEqualTo("synced....");
            assertThat(aside()).containsExactly("torned....");
            assertThat(records()).isEmpty();
        }
    }

    @Test
    void syncedFile_isThereAndLeavesNothingBehind() throws Exception {
        dead.create("/file").write("synced").fsync();
        try (MemoryMount back = back()) {
            assertThat(back.read("/file")).isEqualTo("synced");
            assertThat(aside()).isEmpty();
            assertThat(records()).isEmpty();
        }
    }

    @Test
    void newFile_thatNobodyClosed_isSetAsideAndItsNameIsFree() throws Exception {
        dead.create("/file").write("half of it");
        dead.create("/empty");
        try (MemoryMount back = back()) {
            assertThat(other.list("/")).isEmpty();
            other.write("/file", "again");
            assertThat(back.read("/file")).isEqualTo("again");
            assertThat(aside()).containsExactly("half of it");
        }
    }

    @Test
    void newFile_thatNobodyClosed_isRemovedWhereItsDirectoryIsByNow() throws Exception {
        dead.mkdir("/before");
        dead.create("/before/file").write("half of it");
        dead.rename("/before", "/after");
        try (MemoryMount back = back()) {
            assertThat(back.list("/after")).isEmpty();
            assertThat(other.list("/after")).isEmpty();
            assertThat(aside()).containsExactly("half of it");
        }
    }

    @Test
    void deletedFile_thatWasOpen_leavesNothingBehind() throws Exception {
        OpenFile file = dead.create("/file").write("text");
        file.fsync();
        file.write("more");
        dead.unlink("/file");
        try (MemoryMount back = back()) {
            assertThat(back.list("/")).isEmpty();
            assertThat(aside()).isEmpty();
            assertThat(records()).isEmpty();
        }
    }

    @Test
    void modeOfOpenFile_isGivenWhereNobodyHasWrittenItSince() throws Exception {
        OpenFile file = dead.create("/file").write("text");
        file.fsync();
        dead.requests().chmod(file.opened().node().id(), 0600);
        try (MemoryMount back = back()) {
            assertThat(back.stat("/file").mode() & 0777).isEqualTo(0600);
            assertThat(aside()).isEmpty();
        }
    }

    @Test
    void modeOfOpenFile_isNotGivenToWhatAnotherNodeHasWrittenSince() throws Exception {
        OpenFile file = dead.create("/file").write("text");
        file.fsync();
        dead.requests().chmod(file.opened().node().id(), 0600);
        other.write("/file", "next");
        try (MemoryMount back = back()) {
            assertThat(back.stat("/file").mode() & 0777).isEqualTo(0644);
            assertThat(back.read("/file")).isEqualTo("next");
            assertThat(aside()).containsExactly("text");
        }
    }
}

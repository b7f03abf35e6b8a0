package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk of the spool takes no record of a change: nothing is changed, and a name that was taken in Alluxio is free again. */
class UnrecordedChangeTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path volume;

    UnrecordedChangeTest(@TempDir Path folder) {
        this.volume = folder.resolve("volume");
    }

    private MemoryMount mount() {
        return MemoryMount.of(cluster.connect()).openPersistent(volume, null);
    }

    private List<Path> files(String nameEnd) {
        try (Stream<Path> files = Files.list(volume)) {
            return files.filter(file -> file.getFileName().toString().matches("spool-\\d+" + nameEnd))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is recorded then finds a folder in its way. */
    private void refuseRecords() {
        for (Path record : files("\\.draft")) {
            try {
                Files.createDirectory(Path.of(record.toString().replaceFirst("\\.draft$", ".origin")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void assertNothingIsLeft(MemoryMount mount) throws StoreException {
        assertThat(mount.list("/")).isEmpty();
        assertThat(cluster.connect().list("/", "", 10).entries()).isEmpty();
        assertThat(files(".*")).isEmpty();
        assertThat(mount.fileSystem().counts().changedFiles()).isZero();
        assertThat(mount.fileSystem().counts().spoolBytes()).isZero();
    }

    @Test
    void creation_thatCannotBeRecorded_leavesItsNameFree() throws Exception {
        try (MemoryMount mount = mount()) {
            mount.faults().on(StoreCall.CREATE).after(this::refuseRecords);
            assertThatThrownBy(() -> mount.create("/file")).isInstanceOf(FuseFailure.class);
            assertThat(mount.exists("/file")).isFalse();
            assertNothingIsLeft(mount);
            mount.write("/file", "text");
            assertThat(mount.read("/file")).isEqualTo("text");
        }
    }

    /** Until it is removed, whoever lists the directory finds it. */
    @Test
    void creation_thatCannotBeRecorded_leavesItsNameFree_thoughItWasListed() {
        try (MemoryMount mount = mount()) {
            mount.faults().on(StoreCall.CREATE).after(this::refuseRecords);
            mount.faults().on(StoreCall.DELETE).before(() -> assertThat(mount.list("/"))
                    .containsExactly("file"));
            assertThatThrownBy(() -> mount.create("/file")).isInstanceOf(FuseFailure.class);
            assertThat(mount.exists("/file")).isFalse();
        }
    }

    /** Where Alluxio does not answer meanwhile, the next one who wants the name gets it. */
    @Test
    void creation_thatCannotBeRecorded_givesItsNameBackWhenAlluxioAnswers() throws Exception {
        try (MemoryMount mount = mount()) {
            mount.faults().on(StoreCall.CREATE).after(() -> {
                refuseRecords();
                cluster.stopMaster();
            });
            assertThatThrownBy(() -> mount.create("/file")).isInstanceOf(FuseFailure.class);
            cluster.startMaster();
            cluster.clock().advance(Duration.ofMinutes(1));
            mount.create("/file").write("text").close();
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo("text");
        }
    }

    @Test
    void tmpfile_thatCannotBeRecorded_leavesNothing() throws Exception {
        try (MemoryMount mount = mount()) {
            mount.faults().on(StoreCall.CREATE).after(this::refuseRecords);
            assertThatThrownBy(() -> mount.requests().tmpfile(FuseRequests.ROOT, 0600))
                    .isInstanceOf(FuseFailure.class);
            Eventually.holds("nothing is left", () -> files(".*").isEmpty());
            assertNothingIsLeft(mount);
        }
    }

    /** Of a file that is being written: with its content, what was refused would go to Alluxio. */
    @Test
    void chmod_thatCannotBeRecorded_changesNothing() throws Exception {
        try (MemoryMount mount = mount()) {
            mount.create("/file").write("text").close();
            long node = mount.lookup("/file").id();
            MemoryMount.OpenFile file = mount.openToWrite("/file").write("TEXT");
            for (Path record : files("\\.draft")) {
                Files.createDirectory(Path.of(record + ".new"));
                Files.createFile(Path.of(record + ".new", "in-the-way"));
            }
            assertThatThrownBy(() -> mount.requests().chmod(node, 0666)).isInstanceOf(FuseFailure.class);
            assertThat(mount.stat("/file").mode() & 0777).isEqualTo(0644);
            file.close();
            assertThat(cluster.connect().status("/file").mode()).isEqualTo(0644);
        }
    }
}

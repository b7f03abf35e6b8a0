package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.journal.DiskErrno;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The disk of the spool takes nothing, not even a name: files can be read, and changed as soon as there is room. A takeover needs none.
 */
class FullDiskTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path disk;

    FullDiskTest(@TempDir Path disk) {
        this.disk = disk;
    }

    @BeforeEach
    void mountDisk() throws Exception {
        assumeTrue(
                Built.isRoot()
                        && run("mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=60", "none", disk.toString()) == 0,
                "may not mount");
    }

    @AfterEach
    void unmountDisk() throws Exception {
        run("umount", "-l", disk.toString()); // the JVM has files of it mapped
    }

    private static int run(String... words) throws Exception {
        return new ProcessBuilder(words).start().waitFor();
    }

    private List<Path> fill() {
        List<Path> made = new ArrayList<>();
        try {
            Path bytes = disk.resolve("fill-0");
            made.add(bytes);
            try (OutputStream file = Files.newOutputStream(bytes)) {
                while (true) {
                    file.write(new byte[4096]);
                }
            } catch (IOException full) {
                assertThat(DiskErrno.isFull(full)).isTrue();
            }
            while (true) {
                made.add(Files.createFile(disk.resolve("fill-" + made.size())));
            }
        } catch (IOException full) {
            assertThat(DiskErrno.isFull(full)).isTrue();
            return made;
        }
    }

    private static void isFull(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.ENOSPC));
    }

    @Test
    void newVolume_onAFullDisk_isReadAndIsWrittenOnceThereIsRoom() throws Exception {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            other.write("/file", "old");
        }
        List<Path> filler = fill();
        try (MemoryMount mount = MemoryMount.of(cluster.connect()).openPersistent(disk.resolve("volume"), null)) {
            assertThat(mount.list("/")).containsExactly("file");
            assertThat(mount.read("/file")).isEqualTo("old");
            isFull(() -> mount.write("/new", "x"));
            isFull(() -> mount.write("/file", "x"));
            assertThat(mount.read("/file")).isEqualTo("old");
            assertThat(mount.exists("/new")).isFalse();
            for (Path file : filler) {
                Files.delete(file);
            }
            mount.write("/new", "content");
            mount.write("/file", "later");
            assertThat(mount.read("/new")).isEqualTo("content");
        }
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo("later");
    }

    /** Its files may have been written by the one before until the disk was full, which is what a takeover must not need room for. */
    @Test
    void nextProcess_onAFullDisk_goesOnWithAFileThatIsBeingWritten() throws Exception {
        try (MemoryMount killed = MemoryMount.of(cluster.connect()).openPersistent(disk.resolve("first"), null)) {
            killed.write("/other", "other");
            OpenFile file = killed.create("/file").write("text");
            OpenFile replaced = killed.openToWrite("/other").write("OTHER");
            killed.kill();
            List<Path> filler = new ArrayList<>();
            try (MemoryMount next = MemoryMount.of(cluster.connect())
                    .afterLeaving(() -> filler.addAll(fill()))
                    .openPersistent(disk.resolve("next"), killed)) {
                assertThat(next.read("/other")).isEqualTo("OTHER");
                try (OpenFile same = next.inherited(file)) {
                    assertThat(same.readText()).isEqualTo("text");
                }
                assertThat(cluster.ufs().read("/file")).asString().isEqualTo("text");
                for (Path each : filler) {
                    Files.delete(each);
                }
                next.inherited(replaced).close();
                assertThat(cluster.ufs().read("/other")).asString().isEqualTo("OTHER");
                next.write("/new", "content");
                assertThat(next.read("/new")).isEqualTo("content");
            }
        }
    }

    private static void free(List<Path> filler) throws IOException {
        for (Path file : filler) {
            Files.delete(file);
        }
    }

    /** A mount whose node died while a file was being written that another node has written since. */
    private MemoryMount dead() throws Exception {
        MemoryMount dead = MemoryMount.of(cluster.connect()).openPersistent(disk.resolve("dead"), null);
        dead.write("/file", "begun from");
        dead.openToWrite("/file").write("STALE DRAFT");
        dead.kill();
        try (MemoryMount other = MemoryMount.of(cluster)) {
            other.write("/file", "acknowledged");
        }
        return dead;
    }

    private List<String> aside(String volume) throws IOException {
        try (Stream<Path> files = Files.list(disk.resolve(volume).resolve("aside"))) {
            List<String> contents = new ArrayList<>();
            for (Path file : files.filter(file -> file.toString().matches(".*/spool-\\d+"))
                    .toList()) {
                contents.add(Files.readString(file));
            }
            return contents;
        }
    }

    @Test
    void returnedNode_onAFullDisk_setsAsideWhatDoesNotCount() throws Exception {
        List<Path> filler = new ArrayList<>();
        try (MemoryMount dead = dead();
                MemoryMount back = MemoryMount.of(cluster.connect())
                        .afterLeaving(() -> filler.addAll(fill()))
                        .openReturned(disk.resolve("back"), dead)) {
            assertThat(aside("back")).containsExactly("STALE DRAFT");
            assertThat(back.read("/file")).isEqualTo("acknowledged");
            free(filler);
        }
    }

    /** Were the volume served, the next process would take the draft for a live one, and upload it over what counts. */
    @Test
    void returnedNode_onAFullDiskWithoutAFolderForWhatDoesNotCount_isServedOnceThereIsRoom() throws Exception {
        List<Path> filler = new ArrayList<>();
        Path state = disk.resolve("back");
        try (MemoryMount dead = dead()) {
            isFull(() -> MemoryMount.of(cluster.connect())
                    .afterLeaving(() -> {
                        deleteQuietly(state.resolve("aside"));
                        filler.addAll(fill());
                    })
                    .openReturned(state, dead));
            free(filler);
            try (MemoryMount back = MemoryMount.of(cluster.connect()).openPersistent(state, null)) {
                assertThat(aside("back")).containsExactly("STALE DRAFT");
                assertThat(back.read("/file")).isEqualTo("acknowledged");
            }
        }
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo("acknowledged");
    }

    @Test
    void returnedNode_onADiskThatIsReadOnly_isServedOnceThatIsOver() throws Exception {
        Path state = disk.resolve("back");
        try (MemoryMount dead = dead()) {
            dead.leaveTo(state);
            assertThat(run("mount", "--bind", state.toString(), state.toString()))
                    .isZero();
            assertThat(run("mount", "-o", "remount,bind,ro", state.toString())).isZero();
            assertThatThrownBy(() -> MemoryMount.of(cluster.connect()).openPersistent(state, null))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EROFS));
            assertThat(run("umount", "-l", state.toString())).isZero();
            try (MemoryMount back = MemoryMount.of(cluster.connect()).openPersistent(state, null)) {
                assertThat(aside("back")).containsExactly("STALE DRAFT");
                assertThat(back.read("/file")).isEqualTo("acknowledged");
            }
        }
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

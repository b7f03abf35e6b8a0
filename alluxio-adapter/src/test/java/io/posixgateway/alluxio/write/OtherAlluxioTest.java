package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Walk;
import io.posixgateway.alluxio.journal.OldListFile;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Alluxio was formatted, or another one answers: file ids begin anew, and records of before are of strangers' files. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OtherAlluxioTest {
    private final MemoryCluster before = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryCluster after = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path folder;
    private final MemoryMount dead;

    OtherAlluxioTest(@TempDir Path folder) {
        this.folder = folder;
        this.dead = MemoryMount.of(before.connect()).openPersistent(folder.resolve("dead"), null);
    }

    @AfterEach
    void end() {
        dead.close();
    }

    private List<Path> aside() {
        return Walk.files(folder.resolve("next")).stream()
                .filter(file -> file.toString().matches(".*/aside/spool-\\d+"))
                .toList();
    }

    @Test
    void ids_beginAnew() {
        dead.write("/mine", "mine");
        try (MemoryMount other = MemoryMount.of(after)) {
            other.write("/innocent", "precious");
            assertThat(other.stat("/innocent").id())
                    .isEqualTo(dead.stat("/mine").id());
        }
    }

    @Test
    void dirtyFile_ofOpenFile_isNotWrittenIntoAStrangersFile() throws Exception {
        dead.write("/mine", "mine");
        OpenFile file = dead.openToWrite("/mine").write("DRAFT OF MINE");
        dead.kill();
        try (MemoryMount other = MemoryMount.of(after)) {
            other.write("/innocent", "precious data of somebody else");
            try (MemoryMount next = MemoryMount.of(after.connect()).openPersistent(folder.resolve("next"), dead)) {
                OpenFile same = next.inherited(file);
                assertThatThrownBy(same::fsync).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                        .isEqualTo(Errno.EIO));
                assertThatThrownBy(() -> same.write(0, new byte[1])).isInstanceOf(FuseFailure.class);
                assertThatThrownBy(same::close).isInstanceOf(FuseFailure.class);
                assertThat(aside()).isEmpty();
            }
            assertThat(after.ufs().read("/innocent")).asString().isEqualTo("precious data of somebody else");
            assertThat(aside()).singleElement().satisfies(content -> assertThat(content)
                    .hasContent("DRAFT OF MINE"));
        }
    }

    @Test
    void attributes_ofDeadNode_areNotGivenToAStrangersFile() throws Exception {
        dead.write("/file", "text");
        OpenFile file = dead.openToWrite("/file").write("text");
        file.fsync();
        dead.requests().chmod(file.opened().node().id(), 0600);
        dead.kill();
        try (MemoryMount other = MemoryMount.of(after)) {
            other.write("/one", "one");
            other.write("/file", "text");
            try (MemoryMount next = MemoryMount.of(after.connect()).openReturned(folder.resolve("next"), dead)) {
                assertThat(next.stat("/file").mode() & 0777).isEqualTo(0644);
                assertThat(aside()).hasSize(1);
            }
        }
    }

    /** The list of hidden files names paths, and ids, of the Alluxio before. */
    @Test
    void hiddenFiles_ofAnotherAlluxio_stay() throws Exception {
        dead.write("/file", "text");
        dead.open("/file");
        dead.unlink("/file");
        dead.kill();
        try (MemoryMount other = MemoryMount.of(after)) {
            other.write("/file", "other");
            OpenFile reader = other.open("/file");
            other.unlink("/file");
            try (MemoryMount next = MemoryMount.of(after.connect()).openReturned(folder.resolve("next"), dead)) {
                next.write("/x", "x");
            }
            assertThat(reader.readText()).isEqualTo("other");
            reader.close();
        }
    }

    /** It may be all that is left of a file whose replacement was cut off before the Alluxio was formatted. */
    @Test
    void hiddenFiles_ofAnotherAlluxio_stayAtTheMountAfterTheNext() throws Exception {
        String hidden = "/" + TempNames.make();
        dead.kill();
        Path left = Files.createDirectory(folder.resolve("next"));
        new OldListFile(left, "hidden-0-1.0-1").hidden(true, 0, 0, hidden);
        after.connect().create(hidden, 0644, Map.of(), UUID.randomUUID()).complete();
        try (MemoryMount next = MemoryMount.of(after.connect()).openReturned(left, dead)) {
            next.write("/x", "x");
            next.kill();
            try (MemoryMount last = MemoryMount.of(after.connect()).openReturned(folder.resolve("last"), next)) {
                last.write("/y", "y");
            }
        }
        assertThat(after.connect().status(hidden).complete()).isTrue();
    }

    /** The list of unfinished renames names paths, and ids, of the Alluxio before. */
    @Test
    void unfinishedRename_ofAnotherAlluxio_isNotFinished() throws Exception {
        dead.write("/x", "x");
        long fileId = before.connect().status("/x").id();
        dead.kill();
        new OldListFile(dead.folder(), "renames-0-1.0-1").rename(true, fileId, "/x", "/y");
        try (MemoryMount other = MemoryMount.of(after)) {
            other.write("/x", "a stranger's");
            try (MemoryMount next = MemoryMount.of(after.connect()).openReturned(folder.resolve("next"), dead)) {
                assertThat(next.list("/")).containsExactly("x");
            }
            try (MemoryMount next = MemoryMount.of(after.connect()).openPersistent(folder.resolve("went on"), dead)) {
                next.exists("/x");
            }
            assertThat(other.list("/")).containsExactly("x");
        }
    }

    @Test
    void sameAlluxio_isKnownAgain() throws Exception {
        OpenFile file = dead.create("/mine").write("text");
        dead.kill();
        try (MemoryMount next = MemoryMount.of(before.connect()).openPersistent(folder.resolve("next"), dead)) {
            next.inherited(file).close();
            assertThat(next.read("/mine")).isEqualTo("text");
        }
    }

    /** The volume of this name is another directory now: what is outside of it is not its to change. */
    @Test
    void dirtyFile_ofAnotherRoot_isSetAside() throws Exception {
        dead.write("/file", "text");
        OpenFile file = dead.openToWrite("/file").write("text");
        file.fsync();
        dead.requests().chmod(file.opened().node().id(), 0600);
        dead.mkdir("/d");
        dead.kill();
        try (MemoryMount next = MemoryMount.of(before.connect()).at("/d").openReturned(folder.resolve("next"), dead)) {
            assertThat(next.list("/")).isEmpty();
            assertThat(aside()).hasSize(1);
        }
        assertThat(before.connect().status("/file").mode()).isEqualTo(0644);
    }
}

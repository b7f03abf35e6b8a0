package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.journal.EarlierVersion;
import io.posixgateway.alluxio.journal.NewerRecord;
import io.posixgateway.alluxio.journal.OldListFile;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a gateway of another version left in a volume's folder. */
class JournalMountTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final Path folder;

    JournalMountTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private MemoryMount first() {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
    }

    private MemoryMount next(MemoryMount killed) {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("next"), killed);
    }

    private List<String> left(String name) throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve(name))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void file_ofRecordOfNewerVersion_answersEio_andTheRecordStays() throws Exception {
        try (MemoryMount killed = first()) {
            killed.write("/named", "text");
            killed.write("/ignored", "ignored");
            killed.write("/other", "other");
            killed.kill();
            NewerRecord.append(folder.resolve("first"), 0, fileId("/named"), true);
            NewerRecord.append(folder.resolve("first"), 0, fileId("/ignored"), false);
            try (MemoryMount next = next(killed)) {
                assertThatThrownBy(() -> next.read("/named"))
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
                assertThat(next.read("/ignored")).isEqualTo("ignored");
                OpenFile open = next.open("/other");
                next.unlink("/other");
                open.close();
            }
            assertThat(left("next")).contains("journal");
        }
    }

    private long fileId(String path) throws Exception {
        return cluster.connect().status(path).id();
    }

    @Test
    void renameThatAnEarlierVersionRecorded_isFinished_andItsListGoes() throws Exception {
        try (MemoryMount killed = first()) {
            killed.write("/x", "text");
            killed.kill();
            new OldListFile(folder.resolve("first"), "renames-1-1.1-1").rename(true, fileId("/x"), "/x", "/y");
            try (MemoryMount next = next(killed)) {
                Eventually.holds("it is renamed", () -> cluster.ufs().exists("/y"));
                assertThat(next.list("/")).containsExactly("y");
                Eventually.holds("its list goes", () -> !left("next").contains("renames-1-1.1-1"));
            }
            assertThat(folder.resolve("next")).doesNotExist();
        }
    }

    /** So does a rollback find it. */
    @Test
    void renameThatAnEarlierVersionRecorded_staysInItsList_untilAlluxioAnswers() throws Exception {
        try (MemoryMount killed = first()) {
            killed.write("/x", "text");
            killed.kill();
            OldListFile list =
                    new OldListFile(folder.resolve("first"), "renames-1-1.1-1").rename(true, fileId("/x"), "/x", "/y");
            byte[] bytes = Files.readAllBytes(list.path());
            MemoryStore store = cluster.connect();
            store.faults().on(StoreCall.PATH_OF).always().fail(Errno.EIO);
            try (MemoryMount away = MemoryMount.of(store).openPersistent(folder.resolve("away"), killed)) {
                away.kill();
                assertThat(folder.resolve("away/renames-1-1.1-1")).hasBinaryContent(bytes);
                try (MemoryMount next = next(away)) {
                    Eventually.holds("it is renamed", () -> cluster.ufs().exists("/y"));
                    assertThat(next.list("/")).containsExactly("y");
                }
            }
        }
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    /** The master is killed in the copy, and does not answer before the process is, too. */
    private static void dieInTheCopy(MemoryMount killed) {
        killed.faults().on(StoreCall.RENAME).dieInTheCopy(true);
        killed.faults().on(StoreCall.PATH_OF).always().fail(Errno.EIO);
    }

    /** In between a user may have deleted what was to be replaced: nobody can tell. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unfinishedRename_isCompleted_unlessAnEarlierVersionServedSinceThen(boolean served) throws Exception {
        try (MemoryMount killed = first()) {
            killed.write("/from", "text");
            killed.write("/to", "old");
            dieInTheCopy(killed);
            failsWithEio(() -> killed.rename("/from", "/to"));
            killed.kill();
            if (served) {
                EarlierVersion.served(folder.resolve("first"));
            }
            try (MemoryMount next = next(killed)) {
                if (served) {
                    next.rename("/from", "/elsewhere");
                } else {
                    assertThatThrownBy(() -> next.rename("/from", "/elsewhere")).isInstanceOf(FuseFailure.class);
                }
                assertThat(next.list("/")).containsExactly(served ? "elsewhere" : "to");
            }
        }
    }

    /** It may be the only copy. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unfinishedUpload_getsItsName_orStaysHidden_whereAnEarlierVersionServedSinceThen(boolean served)
            throws Exception {
        try (MemoryMount killed = first()) {
            killed.write("/file", "old");
            OpenFile file = killed.openToWrite("/file").write("new");
            dieInTheCopy(killed);
            failsWithEio(file::fsync);
            killed.kill();
            if (served) {
                EarlierVersion.served(folder.resolve("first"));
            }
            MemoryMount.of(cluster.connect())
                    .openReturned(folder.resolve("next"), killed)
                    .close();
            assertThat(cluster.connect().list("/", "", 10).entries())
                    .singleElement()
                    .satisfies(left -> {
                        assertThat(left.name().startsWith(".pgw~")).isEqualTo(served);
                        assertThat(left.lengthBytes()).isEqualTo(3);
                    });
        }
    }

    /** The kernel that had it open is gone, so that nothing but the journal says that it is to be removed. */
    @Test
    void fileDeletedWhileOpen_isRemovedAfterTheEndOfItsMount() throws Exception {
        try (MemoryMount killed = first()) {
            killed.write("/file", "text");
            killed.open("/file");
            killed.unlink("/file");
            killed.kill();
            assertThat(cluster.connect().list("/", "", 10).entries()).hasSize(1);
            try (MemoryMount returned =
                    MemoryMount.of(cluster.connect()).openReturned(folder.resolve("next"), killed)) {
                Eventually.holds(
                        "it is removed",
                        () -> cluster.connect().list("/", "", 10).entries().isEmpty());
                assertThat(returned.list("/")).isEmpty();
            }
            assertThat(folder.resolve("next")).doesNotExist();
        }
    }
}

package io.posixgateway.alluxio.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A leading master does a rename and is stopped before it answers; the client sends it to the next one, which refuses what is done. */
class RepeatedRenameTest {
    private static final String OLD = "old";
    private static final String NEW = "new content";
    private static final String OTHERS = "not our one";

    private static void fails(int errno, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    private static void repeatAtNextLeader(MemoryMount mount, MemoryCluster cluster) {
        mount.faults().on(StoreCall.RENAME).after(cluster::changeLeader).repeat();
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void renameToFreeName_isReportedAsDone(MemoryUfs.Kind kind) {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            long node = mount.lookup("/new").id();
            repeatAtNextLeader(mount, cluster);
            mount.rename("/new", "/free");
            assertThat(mount.list("/")).containsExactly("free");
            assertThat(mount.read("/free")).isEqualTo(NEW);
            assertThat(mount.lookup("/free").id()).isEqualTo(node);
        }
    }

    /** Neither the journal nor the number of the request is known to the next leader. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void renameToFreeName_thatOnlyTheUnderFileSystemNoted_isReportedAsDone(MemoryUfs.Kind kind) {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            mount.faults().on(StoreCall.RENAME).dieAfterTheCopy().repeat();
            mount.rename("/new", "/free");
            assertThat(mount.list("/")).containsExactly("free");
            assertThat(mount.read("/free")).isEqualTo(NEW);
        }
    }

    /** Its journal has the rename before the under file system is told, and by that a master takes it for done. */
    @ParameterizedTest
    @EnumSource(
            value = MemoryUfs.Kind.class,
            names = {"LOCAL", "HDFS"})
    void renameToFreeName_thatOnlyTheJournalHas_isCompleted(MemoryUfs.Kind kind) {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            FuseNode before = mount.stat("/new");
            mount.faults().on(StoreCall.RENAME).dieOnceNoted().repeat();
            mount.rename("/new", "/free");
            assertThat(cluster.ufs().list("/")).containsExactly("free");
            assertThat(mount.list("/")).containsExactly("free");
            assertThat(mount.read("/free")).isEqualTo(NEW);
            FuseNode now = mount.stat("/free");
            assertThat(now.id()).isEqualTo(before.id());
            assertThat(now.mode()).isEqualTo(before.mode());
            assertThat(now.uid()).isEqualTo(before.uid());
        }
    }

    /** A copy that was lost is not made again. */
    @Test
    void copyToFreeName_thatOnlyTheJournalHas_failsAndTheFileKeepsItsName() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            FuseNode before = mount.stat("/new");
            mount.faults().on(StoreCall.RENAME).dieOnceNoted().repeat();
            fails(Errno.EIO, () -> mount.rename("/new", "/free"));
            mount.dropCaches();
            assertThat(mount.list("/")).containsExactly("new");
            assertThat(mount.read("/new")).isEqualTo(NEW);
            FuseNode now = mount.stat("/new");
            assertThat(now.mode()).isEqualTo(before.mode());
            assertThat(now.uid()).isEqualTo(before.uid());
        }
    }

    /** The same in place of a file; where the master deletes to replace, it is sent once, and nobody answers. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void closeOfOverwrittenFile_whoseRenameOnlyTheJournalHas_isCompleted(MemoryUfs.Kind kind) {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            StoreFaults.Fault killed = mount.faults().on(StoreCall.RENAME).dieOnceNoted();
            if (kind == MemoryUfs.Kind.LOCAL) {
                killed.repeat();
            }
            mount.write("/file", NEW);
            assertThat(cluster.ufs().list("/")).containsExactly("file");
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo(NEW);
            mount.dropCaches();
            assertThat(mount.read("/file")).isEqualTo(NEW);
        }
    }

    /** Where the master deletes to replace, it is sent once. */
    @Test
    void renameOver_isReportedAsDone() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            mount.write("/new", NEW);
            repeatAtNextLeader(mount, cluster);
            mount.rename("/new", "/file");
            assertThat(mount.list("/")).containsExactly("file");
            assertThat(mount.read("/file")).isEqualTo(NEW);
        }
    }

    /** The former leader's journal has the deletion of the old file alone, by which the next one takes all of it for done. */
    @Test
    void renameOver_ofWhichOnlyTheFirstEntrySurvived_isCompleted() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            mount.write("/new", NEW);
            long node = mount.lookup("/new").id();
            mount.faults().on(StoreCall.RENAME).keepOnlyFirstEntry();
            mount.rename("/new", "/file");
            assertThat(mount.list("/")).containsExactly("file");
            assertThat(mount.read("/file")).isEqualTo(NEW);
            assertThat(mount.lookup("/file").id()).isEqualTo(node);
        }
    }

    @Test
    void closeOfOverwrittenFile_ofWhoseRenameOnlyTheFirstEntrySurvived_isCompleted() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            mount.faults().on(StoreCall.RENAME).keepOnlyFirstEntry();
            mount.write("/file", NEW);
            assertThat(cluster.ufs().list("/")).containsExactly("file");
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo(NEW);
            mount.dropCaches();
            assertThat(mount.read("/file")).isEqualTo(NEW);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = MemoryUfs.Kind.class,
            names = {"LOCAL", "HDFS"})
    void renameOfDirectory_isReportedAsDone(MemoryUfs.Kind kind) {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/dir");
            mount.write("/dir/file", NEW);
            repeatAtNextLeader(mount, cluster);
            mount.rename("/dir", "/moved");
            assertThat(mount.list("/")).containsExactly("moved");
            assertThat(mount.read("/moved/file")).isEqualTo(NEW);
        }
    }

    /** It gets a hidden name. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void unlinkOfOpenFile_isReportedAsDone(MemoryUfs.Kind kind) throws Exception {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", NEW);
            try (OpenFile file = mount.open("/file")) {
                repeatAtNextLeader(mount, cluster);
                mount.unlink("/file");
                assertThat(mount.exists("/file")).isFalse();
                assertThat(file.readText()).isEqualTo(NEW);
            }
            mount.dropCaches();
            Eventually.holds("nothing is left", () -> cluster.ufs().list("/").isEmpty());
        }
    }

    private static void write(MemoryStore by, String path, String text) throws StoreException {
        StoreWriter sink = by.create(path, 0644, Map.of(), UUID.randomUUID());
        sink.write(text.getBytes(UTF_8), 0, text.length());
        sink.complete();
    }

    /** Another client has removed the file, and put one of the same length under the new name. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void renameToFreeName_ofFileThatIsGone_isRefused(MemoryUfs.Kind kind) {
        MemoryCluster cluster = new MemoryCluster(kind);
        MemoryStore other = cluster.connect();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/new", NEW);
            mount.faults()
                    .on(StoreCall.RENAME)
                    .before(() -> replaceByOthers(other, "/free"))
                    .repeat();
            fails(Errno.ENOENT, () -> mount.rename("/new", "/free"));
        }
    }

    @Test
    void renameOver_ofFileThatIsGone_isRefused() throws StoreException {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        MemoryStore other = cluster.connect();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.write("/file", OLD);
            mount.write("/new", NEW);
            mount.faults()
                    .on(StoreCall.RENAME)
                    .before(() -> replaceByOthers(other, "/file"))
                    .repeat();
            fails(Errno.ENOENT, () -> mount.rename("/new", "/file"));
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo(OTHERS);
        }
    }

    private static void replaceByOthers(MemoryStore other, String path) {
        assertThat(OTHERS).hasSameSizeAs(NEW);
        try {
            other.delete("/new");
            if (other.memory().ufs().exists(path)) {
                other.delete(path);
            }
            write(other, path, OTHERS);
        } catch (StoreException e) {
            throw new AssertionError(e);
        }
    }

    /** What is refused at once was not done, whatever has the name. */
    @Test
    void renameToFreeName_thatIsRefusedAtOnce_isNotLookedFor() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/dir");
            mount.faults().on(StoreCall.RENAME).always().fail(Errno.EEXIST);
            mount.faults().forgetCounts();
            fails(Errno.EEXIST, () -> mount.rename("/dir", "/free"));
            assertThat(mount.faults().count(StoreCall.PATH_OF)).isZero();
        }
    }

    /** The second failure says nothing of the first request, which may have done it. */
    @Test
    void taking_ofNameThatARepetitionFoundTaken_staysARepetition() {
        MemoryStore store = new MemoryCluster(MemoryUfs.Kind.LOCAL).connect();
        StoreException once = new StoreException(Errno.EEXIST, "taken", null);
        Deque<StoreException> failures = new ArrayDeque<>(List.of(once.ofRepetition(), once, once, once));
        ThrowingCallable taking = () -> NameReservations.taking(store, "/file", () -> {
            throw failures.remove();
        });
        assertThatThrownBy(taking).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.isOfRepetition())
                .isTrue());
        assertThatThrownBy(taking).isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.isOfRepetition())
                .isFalse());
    }

    @Test
    void failure_thatWrapsOneOfARepetition_isOneOfARepetition() {
        StoreException failure = new StoreException(Errno.ENOENT, "gone", null);
        assertThat(failure.isOutcomeUnknown()).isFalse();
        StoreException wrapping = new StoreException(Errno.ENOENT, "/file is gone", failure.ofRepetition());
        assertThat(wrapping.isOfRepetition()).isTrue();
        assertThat(wrapping.isOutcomeUnknown()).isTrue();
    }
}

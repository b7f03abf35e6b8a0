package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.Existing;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Moment;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A file is replaced where a rename is a copy: whatever befalls it, the name has the old content or the new, and its attributes. */
class ObjectStoreReplacementTest {
    private static final long LIMIT_SECONDS = 60;
    private static final String OLD = "old";
    private static final String NEW = "new content";
    private static final int MODE = 0640;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final MemoryStore other = cluster.connect();
    private MemoryMount mount;

    /** How it is replaced. */
    private enum Way {
        WRITE {
            @Override
            void replace(MemoryMount by) {
                by.write("/dir/file", NEW);
            }
        },
        RENAME {
            @Override
            void replace(MemoryMount by) {
                by.write("/dir/temporary", NEW);
                by.requests().chmod(by.lookup("/dir/temporary").id(), MODE);
                by.rename("/dir/temporary", "/dir/file");
            }
        };

        abstract void replace(MemoryMount by);
    }

    /** Threads of mounts that other tests killed wait for ever, for a clock that nobody advances. */
    private final Set<Thread> others = retrying().collect(Collectors.toSet());

    private static Stream<Thread> retrying() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("unfinished-renames"));
    }

    @BeforeEach
    void makeFile() {
        mount(cluster.connect());
        mount.mkdir("/dir");
        mount.write("/dir/file", OLD);
        mount.requests().chmod(mount.lookup("/dir/file").id(), MODE);
        mount.faults().forgetCounts();
    }

    private void mount(MemoryStore store) {
        mount = MemoryMount.of(store).open();
    }

    @AfterEach
    void unmount() {
        cluster.startMaster();
        mount.close();
    }

    private static void fails(int errno, Runnable work) {
        assertThatThrownBy(work::run).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    private void assertHolds(String content) {
        assertThat(mount.read("/dir/file")).isEqualTo(content);
        assertThat(cluster.ufs().read("/dir/file")).asString().isEqualTo(content);
        assertThat(mount.stat("/dir/file").mode() & 0777).isEqualTo(MODE);
    }

    /** In Alluxio and in the UFS. */
    private List<String> hidden() throws StoreException {
        return Stream.concat(
                        other.list("/dir", "", 100).entries().stream().map(FileStatus::name),
                        cluster.ufs().list("/dir").stream())
                .filter(name -> name.startsWith(".pgw~"))
                .toList();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void replacedFile_keepsItsAttributes_andNothingIsLeft(Way way) throws StoreException {
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
        assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(1);
    }

    /** The master would delete it, and all that is below it, in the bucket as well. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whereAnotherClientPutADirectory_isRefused(Way way) throws StoreException {
        mount.faults().on(StoreCall.RENAME).always().before(() -> {
            throw new AssertionError("nothing is renamed over a directory");
        });
        try (OpenFile file = mount.openToWrite("/dir/file")) {
            file.write("its content");
            other.delete("/dir/file");
            other.makeDirectory("/dir/file", 0755, Map.of());
            cluster.ufs().write("/dir/file/below", "of others".getBytes(java.nio.charset.StandardCharsets.UTF_8));
            if (way == Way.WRITE) {
                fails(Errno.EISDIR, () -> mount.requests().flush(file.opened()));
            }
            fails(Errno.EISDIR, () -> mount.requests().flush(file.opened()));
        } catch (FuseFailure e) {
            assertThat(e.errno()).isEqualTo(Errno.EISDIR);
        }
        if (way == Way.RENAME) {
            mount.write("/dir/temporary", NEW);
            fails(Errno.EISDIR, () -> mount.rename("/dir/temporary", "/dir/file"));
            assertThat(mount.read("/dir/temporary")).isEqualTo(NEW);
        }
        assertThat(cluster.ufs().read("/dir/file/below")).asString().isEqualTo("of others");
        assertThat(other.status("/dir/file").directory()).isTrue();
        assertThat(hidden()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseAnswerIsLost_isFoundDone(Way way) throws StoreException {
        mount.faults().on(StoreCall.RENAME).loseAnswer();
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
        assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(1);
    }

    /** An object of 10 GB is copied within one call, however long that takes. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseCopyTakesLong_isWaitedFor(Way way) {
        cluster.at(Moment.TARGET_DROPPED, path -> cluster.clock().advance(Duration.ofMinutes(10)));
        way.replace(mount);
        assertHolds(NEW);
        assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(1);
    }

    /** The master still copies when the connection is lost: that is waited for, and not asked for again. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseAnswerIsLostInTheCopy_isNotSentTwice(Way way) throws Exception {
        CountDownLatch copies = new CountDownLatch(1);
        CountDownLatch copied = new CountDownLatch(1);
        cluster.at(Moment.TARGET_DROPPED, path -> {
            copies.countDown();
            await(copied);
        });
        mount.faults().on(StoreCall.RENAME).answerTooSoon(() -> await(copies));
        CountDownLatch asked = new CountDownLatch(1);
        mount.faults().on(StoreCall.PATH_OF).before(asked::countDown);
        AsyncCall replacing = AsyncCall.start(() -> way.replace(mount));
        await(asked);
        copied.countDown();
        replacing.await();
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
        assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(1);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The name is missing then, and what is to have it lies beside. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseMasterDiesInTheCopy_isFinished(Way way) throws StoreException {
        mount.faults().on(StoreCall.RENAME).dieInTheCopy(true);
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
    }

    /** HDFS renames in one step, but not over a file, which the master deletes before. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseMasterDiesBeforeARenameInOneStep_isFinished(Way way) throws StoreException {
        mount.close();
        mount(cluster.connect().renamingDirectoriesAtOnce());
        mount.faults().on(StoreCall.RENAME).dieInTheCopy(true);
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
    }

    /** The new content has the name, as others than the gateway see it, and what Alluxio has under the old one is empty. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseMasterDiesAfterTheCopy_isInPlace(Way way) throws StoreException {
        mount.faults().on(StoreCall.RENAME).dieAfterTheCopy();
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
        assertThat(mount.list("/dir")).containsExactly("file");
        assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(1);
    }

    /** The ETags are the same, so Alluxio takes the new object for the old one, and what it has under the old name is empty. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_bySameContent_whoseMasterDiesAfterTheCopy_isInPlace(Way way) throws StoreException {
        way.replace(mount);
        mount.faults().forgetCounts();
        mount.faults().on(StoreCall.RENAME).dieAfterTheCopy();
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
        assertThat(mount.list("/dir")).containsExactly("file");
        assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(1);
    }

    /** Both files are seen to be whole before it is sent again. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseRequestIsLost_isSentAgain(Way way) throws StoreException {
        mount.faults().on(StoreCall.RENAME).loseRequest();
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
        assertThat(mount.faults().count(StoreCall.RENAME)).isEqualTo(2);
    }

    /** The next process could not finish it. */
    @Test
    void replacement_thatCannotBeRecorded_isRefused(@TempDir Path folder) throws Exception {
        Path lists = folder.resolve("lists");
        try (MemoryMount full = MemoryMount.of(cluster.connect()).in(lists).open()) {
            mount.write("/dir/temporary", NEW);
            Files.createFile(lists);
            fails(Errno.EIO, () -> full.rename("/dir/temporary", "/dir/file"));
            Files.delete(lists);
            assertThat(full.faults().count(StoreCall.RENAME)).isZero();
            assertThat(full.read("/dir/temporary")).isEqualTo(NEW);
        }
        assertHolds(OLD);
    }

    /** Whatever the reason: the master has deleted what had the name by then. */
    @ParameterizedTest
    @CsvSource({"WRITE, 28", "RENAME, 28", "WRITE, 1", "RENAME, 1"})
    void replacement_whoseCopyIsRefused_isFinished(Way way, int errno) throws StoreException {
        mount.faults().on(StoreCall.RENAME).failInTheCopy(errno);
        way.replace(mount);
        assertHolds(NEW);
        assertThat(hidden()).isEmpty();
    }

    /** Another client removed it in the bucket, of which Alluxio knows nothing: the old file is not given up for it. */
    @Test
    void replacement_byFileWhoseObjectIsGone_isRefused() throws StoreException {
        mount.write("/dir/temporary", NEW);
        cluster.ufs().delete("/dir/temporary");
        fails(Errno.ENOENT, () -> mount.rename("/dir/temporary", "/dir/file"));
        assertHolds(OLD);
        assertThat(mount.faults().count(StoreCall.RENAME)).isZero();
        assertThat(hidden()).isEmpty();
    }

    /** Neither can be brought back, which is told once; what was written here is in the spool, and takes the name with the last close. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseObjectsAreBothGone_fails(Way way) throws Exception {
        mount.faults()
                .on(StoreCall.RENAME)
                .after(() ->
                        cluster.ufs().list("/dir").forEach(name -> cluster.ufs().delete("/dir/" + name)))
                .dieInTheCopy(true);
        fails(Errno.EIO, () -> way.replace(mount));
        int renames = mount.faults().count(StoreCall.RENAME);
        assertThat(renames).isEqualTo(way == Way.WRITE ? 2 : 1);
        for (int i = 0; i < 10; i++) {
            cluster.clock().advance(Duration.ofSeconds(1));
        }
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
        if (way == Way.WRITE) {
            assertHolds(NEW);
        } else {
            assertThat(mount.list("/dir")).isEmpty();
        }
        assertThat(mount.faults().count(StoreCall.RENAME))
                .as("nothing is tried for ever")
                .isEqualTo(renames);
        assertThat(hidden()).isEmpty();
    }

    /** Longer than what is asked for is doubted: meanwhile Alluxio says that nothing has the name, and the gateway believes it. */
    @Test
    void replacement_finishedLate_isSeenAtOnce() throws Exception {
        mount.close();
        mount = MemoryMount.of(cluster.connect())
                .with("metadata_ttl", "1h")
                .with("negative_ttl", "1h")
                .open();
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> Way.RENAME.replace(mount));
        cluster.clock().awaitWaiting(1);
        long waits = cluster.clock().waits();
        cluster.clock().advance(Duration.ofMinutes(5));
        Eventually.holds(
                "it is attempted while the master is away",
                () -> cluster.clock().waits() > waits);
        cluster.startMaster();
        assertThat(mount.exists("/dir/file")).isFalse();
        assertThat(mount.exists("/dir/temporary")).isTrue();
        Eventually.holds("the name is back", () -> {
            cluster.clock().advance(Duration.ofSeconds(1));
            return cluster.ufs().exists("/dir/file");
        });
        Eventually.holds("it is seen", Duration.ofSeconds(10), () -> mount.exists("/dir/file"));
        assertThat(mount.exists("/dir/temporary")).isFalse();
        assertHolds(NEW);
    }

    /** Longer than a program waits: it hears of a failure, and the name comes back with the master. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_whoseMasterStaysAway_isFinishedWhenItIsBack(Way way) throws Exception {
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> way.replace(mount));
        cluster.startMaster();
        Eventually.holds("the name is back", () -> {
            cluster.clock().advance(Duration.ofSeconds(1));
            return cluster.ufs().exists("/dir/file") && hidden().isEmpty();
        });
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
        assertHolds(NEW);
        assertThat(mount.list("/dir")).containsExactly("file");
        way.replace(mount);
        assertHolds(NEW);
    }

    /** As a program does that was told of the failure: its file is by then the only one that can have the name. */
    @Test
    void unlink_ofFileThatIsToTakeALostName_letsItTakeIt() throws StoreException {
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> Way.RENAME.replace(mount));
        cluster.startMaster();
        fails(Errno.ENOENT, () -> mount.unlink("/dir/temporary"));
        assertThat(other.status("/dir/file").complete()).isTrue();
        assertThat(cluster.ufs().read("/dir/file")).asString().isEqualTo(NEW);
    }

    /** It would be deleted, and the name stay lost. */
    @Test
    void rename_ontoFileThatIsToTakeALostName_letsItTakeItFirst() throws Exception {
        mount.write("/dir/newer", "newer");
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> Way.RENAME.replace(mount));
        cluster.startMaster();
        mount.rename("/dir/newer", "/dir/temporary");
        awaitRetries();
        assertHolds(NEW);
        assertThat(mount.read("/dir/temporary")).isEqualTo("newer");
    }

    /** Who has no room left must be able to make some. */
    @Test
    void unlink_ofFileThatIsToTakeALostName_whereThatIsRefused_removesIt() throws Exception {
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> Way.RENAME.replace(mount));
        cluster.startMaster();
        mount.faults().on(StoreCall.RENAME).always().fail(Errno.ENOSPC);
        mount.unlink("/dir/temporary");
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
        assertThat(mount.list("/dir")).isEmpty();
        mount.rmdir("/dir");
    }

    /** It may be done at any time, and nobody would find what is in the directory by then. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void directoryRename_whileAFileBelowIsToTakeALostName_letsItTakeIt(Way way) throws Exception {
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> way.replace(mount));
        cluster.startMaster();
        mount.rename("/dir", "/moved");
        awaitRetries();
        assertThat(cluster.ufs().list("/moved")).containsExactly("file");
        assertThat(mount.list("/moved")).containsExactly("file");
        assertThat(mount.read("/moved/file")).isEqualTo(NEW);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void directoryRemoval_whileAFileInItIsToTakeALostName_isRefused(Way way) throws Exception {
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> way.replace(mount));
        cluster.startMaster();
        fails(Errno.ENOTEMPTY, () -> mount.rmdir("/dir"));
        assertHolds(NEW);
    }

    /** The new content is not to come back, under a name that was taken away after it. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void unlink_ofFileThatMayYetBeReplaced_isForGood(Way way) throws Exception {
        isLeftUnsent(way);
        mount.unlink("/dir/file");
        awaitRetries();
        assertThat(mount.exists("/dir/file")).isFalse();
        assertThat(cluster.ufs().exists("/dir/file")).isFalse();
        assertThat(hidden()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void rename_ofFileThatMayYetBeReplaced_isForGood(Way way) throws Exception {
        isLeftUnsent(way);
        mount.rename("/dir/file", "/dir/elsewhere");
        awaitRetries();
        assertThat(mount.exists("/dir/file")).isFalse();
        assertThat(mount.read("/dir/elsewhere")).isEqualTo(OLD);
        assertThat(hidden()).isEmpty();
    }

    /** Nothing of it is done, which nobody knows until the master is back. */
    private void isLeftUnsent(Way way) {
        mount.faults().on(StoreCall.RENAME).before(cluster::stopMaster).loseRequest();
        fails(Errno.EIO, () -> way.replace(mount));
        cluster.startMaster();
    }

    private void awaitRetries() throws Exception {
        Eventually.holds("nothing is retried any more", () -> {
            cluster.clock().advance(Duration.ofSeconds(1));
            return others.containsAll(retrying().toList());
        });
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
    }

    /** It waits for another thread, which asks Alluxio what became of it, and Alluxio hangs: the program can be killed all the same. */
    @Test
    @Timeout(LIMIT_SECONDS)
    void unlink_whileALostNameIsAskedFor_endsWhenItsProgramIsKilled() throws Exception {
        mount.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
        fails(Errno.EIO, () -> Way.RENAME.replace(mount));
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        mount.faults().on(StoreCall.PATH_OF).before(() -> {
            asked.countDown();
            await(hangs);
        });
        cluster.startMaster();
        Eventually.holds("Alluxio is asked", () -> {
            cluster.clock().advance(Duration.ofSeconds(1));
            return asked.getCount() == 0;
        });
        AsyncCall unlinking = AsyncCall.start(() -> mount.unlink("/dir/temporary"));
        Eventually.holds("it waits", () -> mount.requests().inFlight(0).stream()
                .anyMatch(ObjectStoreReplacementTest::waitsForOtherThread));
        mount.requests().interrupt(unlinking.thread());
        assertThat(unlinking.awaitErrno()).isIn(Errno.EIO, Errno.EINTR);
        assertThat(cluster.ufs().exists("/dir/temporary")).isTrue();
        hangs.countDown();
        Eventually.holds("the name is back", () -> {
            cluster.clock().advance(Duration.ofSeconds(1));
            return cluster.ufs().exists("/dir/file") && hidden().isEmpty();
        });
    }

    private static boolean waitsForOtherThread(InFlightRequest request) {
        Thread thread = request.thread();
        return request.opcode() == Opcode.UNLINK
                && thread != null
                && (thread.getState() == Thread.State.BLOCKED || thread.getState() == Thread.State.WAITING)
                && Stream.of(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(UnfinishedRenames.class.getName()));
    }

    /** The process ends while the master is away: nothing that may be the only copy is removed, and the next one finishes it. */
    @Test
    void replacement_unfinishedAtTheEnd_isFinishedByTheNextProcess(
            @org.junit.jupiter.api.io.TempDir java.nio.file.Path folder) throws Exception {
        try (MemoryMount first =
                MemoryMount.of(cluster.connect()).in(folder.resolve("first")).open()) {
            first.faults().on(StoreCall.RENAME).after(cluster::stopMaster).dieInTheCopy(true);
            fails(Errno.EIO, () -> first.write("/dir/file", NEW));
            first.kill();
            cluster.startMaster();
            assertThat(hidden()).as("in Alluxio and in the UFS").hasSize(2);
            first.leaveTo(folder.resolve("next"));
        }
        try (MemoryMount next =
                MemoryMount.of(cluster.connect()).in(folder.resolve("next")).open()) {
            Eventually.holds("the name is back", () -> cluster.ufs().exists("/dir/file") && hidden().isEmpty());
            assertThat(next.read("/dir/file")).isEqualTo(NEW);
            assertHolds(NEW);
        }
    }

    /** An Alluxio that refuses to replace objects drops the old file's attributes all the same. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void replacement_thatIsRefused_leavesOldContentAndAttributes(Way way) throws StoreException {
        mount.close();
        mount(cluster.connect().withoutPersistOnRename());
        fails(Errno.EIO, () -> way.replace(mount));
        mount.dropCaches();
        cluster.clock().advance(Duration.ofMinutes(1));
        assertHolds(OLD);
        assertThat(hidden()).isEmpty();
    }

    /** As a worker that had stopped leaves it. To Alluxio, which believes the name to be free, the rename fails for no reason. */
    @Test
    void replacement_ofAnObjectThatAlluxioKnowsNothingOf_takesItsName() throws Exception {
        try (MemoryMount.OpenFile file = mount.create("/dir/new").write(NEW)) {
            mount.faults().on(StoreCall.COMPLETE).fail(Errno.EIO);
            fails(Errno.EIO, file::fsync);
            assertThat(Existing.orNull(() -> other.status("/dir/new"))).isNull();
            cluster.ufs().write("/dir/new", "late".getBytes(StandardCharsets.UTF_8));
        }
        assertThat(mount.read("/dir/new")).isEqualTo(NEW);
        assertThat(cluster.ufs().read("/dir/new")).asString().isEqualTo(NEW);
        assertThat(hidden()).isEmpty();
    }

    /** A master that was asked to persist what replaces it would have the job service do so. */
    @Test
    void replacedFileOfWorkersAlone_staysThere() throws Exception {
        try (MemoryMount cached =
                MemoryMount.of(cluster.connect(WriteType.MUST_CACHE)).open()) {
            cached.write("/cached", OLD);
            cached.write("/cached", NEW);
            cluster.persistScheduled("/cached");
            assertThat(cluster.ufs().exists("/cached")).isFalse();
            assertThat(cached.read("/cached")).isEqualTo(NEW);
        }
    }
}

package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker that stopped takes up what it had been sent when it continues: what was committed meanwhile is committed again. */
class StaleWorkerWritesTest {
    private static final long WORKER_BYTES = 64 << 20;
    /** Between two looks. */
    private static final Duration LOOK = Duration.ofSeconds(1);
    /** So long after its answer a worker may still write. */
    private static final int DONE_SECONDS = 5;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 2, WORKER_BYTES, null);
    private final ManualClock clock = cluster.clock();
    private final MemoryWorker near = cluster.workers().get(0);

    @BeforeEach
    void retryAtOnce() {
        clock.advanceBySleeps();
    }

    private static List<Path> files(Path folder, String pattern) {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.getFileName().toString().matches(pattern))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Path> spooled(Path folder) {
        return files(folder, "spool-\\d+");
    }

    private static List<Path> records(Path folder) {
        return files(folder, "spool-\\d+\\.draft");
    }

    /** So many looks at what is not safe yet, with their time between them. */
    private void look(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            clock.awaitWaiting(1);
            long before = clock.waits();
            clock.advance(LOOK);
            Eventually.holds("it looked", () -> clock.waits() > before);
        }
    }

    /** Until nothing is in doubt any more. */
    private void lookUntilSafe(Path folder) throws Exception {
        Eventually.holds("all is published again", () -> {
            clock.advance(LOOK);
            return spooled(folder).isEmpty() && records(folder).isEmpty();
        });
    }

    private String committed(String path) {
        byte[] content = cluster.ufs().read(path);
        return content == null ? "" : new String(content, StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void write_pastStoppedWorker_isCommittedAgainAfterTheWorkerWroteLate(boolean removes) throws Exception {
        cluster.staleWorkerWritesRemove(removes);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            mount.write("/file", "later");
            assertThat(committed("/file")).isEqualTo("later");
            assertThat(spooled(mount.folder())).as("kept").isNotEmpty();
            near.resume();
            assertThat(committed("/file")).as("the worker undid it").isEqualTo(removes ? "" : "first");
            look(DONE_SECONDS);
            assertThat(spooled(mount.folder())).as("the worker may not be done").isNotEmpty();
            mount.faults().forgetCounts();
            lookUntilSafe(mount.folder());
            assertThat(committed("/file")).isEqualTo("later");
            assertThat(mount.faults().count(StoreCall.RENAME))
                    .as("the last content alone is published again")
                    .isEqualTo(1);
            assertThat(mount.read("/file")).isEqualTo("later");
            Eventually.holds(
                    "nothing is in the spool", () -> mount.fileSystem().counts().spoolBytes() == 0);
        }
    }

    /** Another client has Alluxio compare the path first, within the same second, too: to Alluxio what the worker wrote is another file. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void write_pastStoppedWorker_isSetAsideWhenAlluxioHasLoadedWhatTheWorkerWroteLate(int looksLater) throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            mount.write("/file", "later content");
            near.resume();
            clock.advance(LOOK.multipliedBy(looksLater));
            assertThat(cluster.connect().compared("/file").lengthBytes()).isEqualTo(5);
            assertThat(committed("/file")).as("the worker undid it").isEqualTo("first");
            lookUntilSafe(mount.folder());
            assertThat(files(mount.folder().resolve("aside"), "spool-\\d+"))
                    .singleElement()
                    .satisfies(content -> assertThat(content).hasContent("later content"));
        }
    }

    /** Whatever befalls one of them, and the thread that looks at all. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void write_pastStoppedWorker_isCommittedAgainThoughAnotherFailsUnexpectedly(boolean isError) throws Exception {
        cluster.staleWorkerWritesRemove(true);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            mount.rename("/file", "/broken");
            mount.write("/file", "second");
            assertThat(spooled(mount.folder())).as("kept").hasSize(2);
            mount.faults().on(StoreCall.STATUS).at("/broken").always().before(() -> {
                if (isError) {
                    throw new LinkageError("nobody expects this");
                }
                throw new IllegalStateException("nobody expects this");
            });
            near.resume();
            assertThat(committed("/file")).as("the worker undid it").isEmpty();
            Eventually.holds("it is published again", () -> {
                clock.advance(LOOK);
                return committed("/file").equals("second");
            });
        }
    }

    @Test
    void write_pastStoppedWorker_staysInSpoolWhileTheWorkerIsStopped() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            look(60);
            assertThat(spooled(mount.folder())).hasSize(1).allSatisfy(file -> assertThat(file)
                    .hasContent("first"));
            clock.advance(Duration.ofHours(1));
            lookUntilSafe(mount.folder());
            assertThat(committed("/file")).isEqualTo("first");
        }
    }

    @Test
    void write_pastStoppedWorker_isNotCommittedOverALaterFileOfAnotherClient() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount another = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            near.resume();
            another.write("/file", "other");
            clock.advance(LOOK);
            assertThat(mount.read("/file")).isEqualTo("other");
            lookUntilSafe(mount.folder());
            assertThat(committed("/file")).isEqualTo("other");
        }
    }

    private static long spoolBytes(MemoryMount mount) {
        return mount.fileSystem().counts().spoolBytes();
    }

    /** Another mount knows nothing of the worker: this one, which does, looks after what is at the path. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void write_byAnotherMountPastStoppedWorker_isThereAgainAfterTheWorkerWroteLate(boolean removes) throws Exception {
        cluster.staleWorkerWritesRemove(removes);
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount another = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            another.write("/file", "other");
            Eventually.holds("it is copied", () -> {
                clock.advance(LOOK);
                return spoolBytes(mount) == "first".length() + "other".length();
            });
            another.requests().chmod(another.lookup("/file").id(), 0640);
            clock.advance(LOOK);
            near.resume();
            assertThat(committed("/file")).as("the worker undid it").isEqualTo(removes ? "" : "first");
            lookUntilSafe(mount.folder());
            assertThat(committed("/file")).isEqualTo("other");
            assertThat(cluster.connect().status("/file").mode()).isEqualTo(0640);
            another.dropCaches();
            assertThat(another.read("/file")).isEqualTo("other");
            assertThat(mount.read("/file")).isEqualTo("other");
            assertThat(mount.list("/")).containsExactly("file");
        }
    }

    /** So it is of one that had no part in it. */
    @Test
    void write_byAnotherMountPastStoppedWorker_takesNoRoomOfThisMountsWriters() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster.connect())
                        .with("spool_size", "1M")
                        .open();
                MemoryMount another = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            another.write("/file", "o".repeat(600 << 10));
            look(2 * DONE_SECONDS);
            assertThat(spoolBytes(mount)).as("its own").isEqualTo("first".length());
        }
    }

    @Test
    void removal_byAnotherMountPastStoppedWorker_leavesNoCopy() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster);
                MemoryMount another = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            another.write("/file", "other");
            Eventually.holds("it is copied", () -> {
                clock.advance(LOOK);
                return spoolBytes(mount) == "first".length() + "other".length();
            });
            another.unlink("/file");
            Eventually.holds("the copy is gone", () -> {
                clock.advance(LOOK);
                return spoolBytes(mount) == "first".length();
            });
        }
    }

    @Test
    void write_pastStoppedWorker_isNotCommittedAgainWhileTheFileIsWrittenAnew() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            near.resume();
            try (MemoryMount.OpenFile open = mount.openToWrite("/file")) {
                open.write("third");
                look(2 * DONE_SECONDS);
            }
            assertThat(committed("/file")).isEqualTo("third");
            lookUntilSafe(mount.folder());
            assertThat(committed("/file")).isEqualTo("third");
        }
    }

    /** Alluxio has compared what it holds with the under file system, where the worker removed the file. */
    @Test
    void write_pastStoppedWorker_whoseFileIsGoneByThen_isSetAside() throws Exception {
        cluster.staleWorkerWritesRemove(true);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            mount.write("/file", "later");
            near.resume();
            cluster.connect().delete("/file");
            lookUntilSafe(mount.folder());
            assertThat(files(mount.folder().resolve("aside"), "spool-\\d+"))
                    .anySatisfy(content -> assertThat(content).hasContent("later"));
        }
    }

    @Test
    void write_pastStoppedWorker_whoseFileIsDeletedHere_leavesNothing() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            near.resume();
            mount.unlink("/file");
            lookUntilSafe(mount.folder());
            assertThat(mount.folder().resolve("aside")).doesNotExist();
        }
    }

    /** The worker's file is in the under file system only, until Alluxio is asked for the name. */
    private void lookUntilGone(String path) throws Exception {
        assertThat(committed(path)).as("the worker brought it back").isEqualTo("first");
        Eventually.holds(path + " is gone again", () -> {
            clock.advance(LOOK);
            return committed(path).isEmpty();
        });
    }

    @Test
    void write_pastStoppedWorker_whoseFileIsRenamed_doesNotComeBackAtItsFormerName() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            mount.rename("/file", "/other");
            near.resume();
            lookUntilGone("/file");
            lookUntilSafe(mount.folder());
            assertThat(mount.list("/")).containsExactly("other");
            assertThat(mount.read("/other")).isEqualTo("first");
        }
    }

    @Test
    void write_pastStoppedWorker_whoseOpenFileIsRenamed_doesNotComeBackAtItsFormerName() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            try (MemoryMount.OpenFile open = mount.create("/file").write("first")) {
                open.fsync();
                mount.rename("/file", "/other");
                open.write("later");
            }
            near.resume();
            lookUntilGone("/file");
            assertThat(mount.list("/")).containsExactly("other");
            assertThat(mount.read("/other")).isEqualTo("later");
        }
    }

    @Test
    void write_pastStoppedWorker_whoseFileIsDeleted_doesNotComeBack() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            mount.unlink("/file");
            near.resume();
            lookUntilGone("/file");
            assertThat(mount.list("/")).isEmpty();
        }
    }

    /** Until the mount has looked what is at the path, and has ended. */
    private void lookAtTheEnd(MemoryMount mount, String path) throws Exception {
        AtomicBoolean looked = new AtomicBoolean();
        mount.faults().on(StoreCall.STATUS).at(path).always().before(() -> looked.set(true));
        Eventually.holds("it looked at " + path, () -> {
            clock.advance(LOOK);
            return looked.get();
        });
        mount.close();
    }

    /** With the same bytes, which is no reason to take it for the worker's. */
    @Test
    void write_pastStoppedWorker_leavesTheFileOfAnotherClientAtTheFormerName() throws Exception {
        MemoryMount mount = MemoryMount.of(cluster);
        try (MemoryMount another = MemoryMount.of(cluster)) {
            near.stop();
            mount.write("/file", "first");
            mount.rename("/file", "/other");
            near.resume();
            another.write("/file", "first");
            lookAtTheEnd(mount, "/file");
            assertThat(committed("/file")).isEqualTo("first");
            assertThat(another.read("/file")).isEqualTo("first");
        }
    }

    @Test
    void write_pastStoppedWorker_leavesOtherContentAtTheFormerName() throws Exception {
        MemoryMount mount = MemoryMount.of(cluster);
        near.stop();
        mount.write("/file", "first");
        mount.rename("/file", "/other");
        near.resume();
        cluster.ufs().write("/file", "wirst".getBytes(StandardCharsets.UTF_8));
        lookAtTheEnd(mount, "/file");
        assertThat(committed("/file")).isEqualTo("wirst");
    }

    /** Nobody looks into its spool folder again. */
    @Test
    void inDoubt_atTheEndOfAMountThatEndsWithItsProcess_isSetAside(@TempDir Path folder) throws Exception {
        MemoryMount mount = MemoryMount.of(cluster.connect()).in(folder).open();
        near.stop();
        mount.write("/file", "first");
        mount.fileSystem().close();
        assertThat(spooled(folder)).isEmpty();
        assertThat(files(folder.resolve("aside"), "spool-\\d+"))
                .singleElement()
                .satisfies(content -> assertThat(content).hasContent("first"));
    }

    @Test
    void inDoubt_whoseNodeIsBack_isCommittedAgainThoughOneCallIsNotAnswered(@TempDir Path folder) throws Exception {
        try (MemoryMount dead = deadWithFileInDoubt(folder)) {
            MemoryStore client = cluster.connect();
            client.faults().on(StoreCall.PATH_OF).fail(Errno.EIO);
            try (MemoryMount back = MemoryMount.of(client).openReturned(folder.resolve("back"), dead)) {
                lookUntilSafe(back.folder());
                assertThat(committed("/file")).isEqualTo("second");
            }
        }
    }

    /** What was synced is not the writer's fault. */
    @Test
    void writtenAfterASyncInDoubt_onNodeThatDied_isSetAsideWithTheReason(@TempDir Path folder) throws Exception {
        MemoryMount dead = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("dead"), null);
        near.stop();
        MemoryMount.OpenFile file = dead.create("/file").write("synced");
        file.fsync();
        file.write("torn");
        kill(dead, Duration.ZERO);
        try (MemoryMount back = MemoryMount.of(cluster.connect()).openReturned(folder.resolve("back"), dead)) {
            assertThat(back.read("/file")).isEqualTo("synced");
            assertThat(files(back.folder().resolve("aside"), "spool-\\d+\\.why"))
                    .singleElement()
                    .satisfies(why -> assertThat(why).content().contains("the synced data is in Alluxio"));
            assertThat(spooled(back.folder()))
                    .as("what was synced")
                    .singleElement()
                    .satisfies(copy -> assertThat(copy).content().isEqualTo("synced"));
        }
        dead.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void write_pastStoppedWorker_isCommittedAgainByTheNextProcess(boolean removes, @TempDir Path folder)
            throws Exception {
        cluster.staleWorkerWritesRemove(removes);
        MemoryMount first = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        near.stop();
        first.write("/file", "first");
        first.write("/file", "second");
        assertThat(records(first.folder())).isNotEmpty().anySatisfy(file -> {
            DirtyFileRecord record = Objects.requireNonNull(DirtyFileRecord.read(file));
            assertThat(record.isUnstable()).isTrue();
            assertThat(record.content().path()).isEqualTo("/file");
        });
        kill(first, Duration.ZERO);
        near.resume();
        MemoryMount second = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("second"), first);
        assertThat(committed("/file")).as("the worker undid it").isEqualTo(removes ? "" : "first");
        look(2 * DONE_SECONDS);
        assertThat(records(second.folder()))
                .as("nobody knows whether the worker will answer")
                .isNotEmpty();
        kill(second, Duration.ofMinutes(61));
        try (MemoryMount third = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("third"), second)) {
            lookUntilSafe(third.folder());
            assertThat(committed("/file")).isEqualTo("second");
            assertThat(third.read("/file")).isEqualTo("second");
        }
        second.close();
        first.close();
    }

    /** A mount whose node died an hour ago, with a file in doubt that a worker undid since. */
    private MemoryMount deadWithFileInDoubt(Path folder) throws IOException {
        MemoryMount dead = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("dead"), null);
        near.stop();
        dead.write("/file", "first");
        dead.write("/file", "second");
        kill(dead, Duration.ofMinutes(61));
        near.resume();
        return dead;
    }

    @Test
    void inDoubt_onNodeThatDied_isCommittedAgainWhenItIsBack(@TempDir Path folder) throws Exception {
        try (MemoryMount dead = deadWithFileInDoubt(folder)) {
            assertThat(committed("/file")).isEqualTo("first");
            try (MemoryMount back = MemoryMount.of(cluster.connect()).openReturned(folder.resolve("back"), dead)) {
                lookUntilSafe(back.folder());
                assertThat(committed("/file")).isEqualTo("second");
            }
        }
    }

    /** It was ahead when the record was stored. */
    @Test
    void inDoubt_onNodeWhoseClockWasSetBack_isCommittedAgainAfterAnHour(@TempDir Path folder) throws Exception {
        try (MemoryMount dead = deadWithFileInDoubt(folder)) {
            kill(dead, Duration.ofDays(-400));
            try (MemoryMount back = MemoryMount.of(cluster.connect()).openReturned(folder.resolve("back"), dead)) {
                clock.advance(Duration.ofMinutes(61));
                lookUntilSafe(back.folder());
                assertThat(committed("/file")).isEqualTo("second");
            }
        }
    }

    @Test
    void inDoubt_whoseFileAnotherNodeReplaced_isSetAside(@TempDir Path folder) throws Exception {
        try (MemoryMount dead = deadWithFileInDoubt(folder);
                MemoryMount other = MemoryMount.of(cluster)) {
            other.write("/file", "newest");
            try (MemoryMount back = MemoryMount.of(cluster.connect()).openReturned(folder.resolve("back"), dead)) {
                assertThat(back.read("/file")).isEqualTo("newest");
                assertThat(records(back.folder())).isEmpty();
                assertThat(files(back.folder().resolve("aside"), "spool-\\d+"))
                        .anySatisfy(content -> assertThat(content).hasContent("second"));
            }
        }
    }

    @Test
    void inDoubt_whoseFileIsReplacedWhileItIsCommittedAgain_doesNotReplaceThat(@TempDir Path folder) throws Exception {
        try (MemoryMount dead = deadWithFileInDoubt(folder);
                MemoryMount other = MemoryMount.of(cluster)) {
            MemoryStore client = cluster.connect();
            client.faults().on(StoreCall.COMPLETE).before(() -> other.write("/file", "newest"));
            try (MemoryMount back = MemoryMount.of(client).openReturned(folder.resolve("back"), dead)) {
                lookUntilSafe(back.folder());
                assertThat(committed("/file")).isEqualTo("newest");
                assertThat(other.list("/")).containsExactly("file");
            }
        }
    }

    /** The record of the file goes with the close; what the worker will do does not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failedClose_pastStoppedWorker_hasTheNextProcessCommitAgainWhatItPutsThere(
            boolean removes, @TempDir Path folder) throws Exception {
        cluster.staleWorkerWritesRemove(removes);
        MemoryMount first = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        near.stop();
        first.faults().on(StoreCall.RENAME).always().fail(Errno.EIO);
        assertThatThrownBy(() -> first.write("/file", "first")).isInstanceOf(FuseFailure.class);
        assertThat(records(first.folder())).isEmpty();
        kill(first, Duration.ZERO);
        try (MemoryMount second = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("second"), first)) {
            second.write("/other", "has it find out about the worker");
            second.write("/file", "second");
            near.resume();
            assertThat(committed("/file")).as("the worker undid it").isEqualTo(removes ? "" : "first");
            clock.advance(Duration.ofHours(1));
            Eventually.holds("it is committed again", () -> {
                clock.advance(LOOK);
                return committed("/file").equals("second");
            });
        }
        first.close();
    }

    /** Its process was killed so long ago, or before the clock was set back by so much. */
    private void kill(MemoryMount mount, Duration ago) throws IOException {
        mount.kill();
        for (Path record : records(mount.folder())) {
            Files.setLastModifiedTime(record, FileTime.fromMillis(clock.millis() - Math.min(0, ago.toMillis())));
        }
        clock.advance(ago.isNegative() ? Duration.ZERO : ago);
    }
}

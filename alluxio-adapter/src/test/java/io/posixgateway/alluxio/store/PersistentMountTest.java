package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.meta.TempNames;
import io.posixgateway.alluxio.store.MemoryMount.Bound;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.fuse.conformance.Stacks;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A process is killed between two of its calls, and the next goes on with what it kept. */
class PersistentMountTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path folder;

    PersistentMountTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private MemoryMount first() {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
    }

    private MemoryMount next(MemoryMount killed) {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("next"), killed);
    }

    @Test
    void writtenFile_whoseProcessIsKilled_isCommittedByTheNext() {
        try (MemoryMount killed = first()) {
            OpenFile file = killed.create("/file").write("text");
            killed.kill();
            try (MemoryMount next = next(killed)) {
                try (OpenFile same = next.inherited(file)) {
                    assertThat(same.readText()).isEqualTo("text");
                }
                assertThat(cluster.ufs().read("/file")).asString().isEqualTo("text");
                assertThat(next.read("/file")).isEqualTo("text");
            }
        }
    }

    /** They changed the same file since its attributes were changed here, which the next process sends. */
    @Test
    void attributesThatAnotherMountGave_stayWhenTheNextSendsOthers() {
        try (MemoryMount killed = first();
                MemoryMount there = MemoryMount.of(cluster)) {
            killed.write("/file", "before");
            OpenFile file = killed.openToWrite("/file").write("written");
            killed.requests().chmod(file.opened().node().id(), 0640);
            there.requests().setxattr(there.lookup("/file").id(), "user.there", "1");
            killed.kill();
            try (MemoryMount next = next(killed)) {
                next.inherited(file).close();
                cluster.clock().advance(Duration.ofSeconds(10));
                FuseNode shown = there.stat("/file");
                assertThat(shown.mode() & 07777).isEqualTo(0640);
                assertThat(there.requests().listxattr(shown.id())).containsExactly("user.there");
                assertThat(there.read("/file")).isEqualTo("written");
            }
        }
    }

    @Test
    void writtenFile_deletedWhileOpen_isNotBackInTheNext() {
        try (MemoryMount killed = first()) {
            OpenFile file = killed.create("/file").write("text");
            killed.unlink("/file");
            killed.kill();
            try (MemoryMount next = next(killed)) {
                try (OpenFile same = next.inherited(file)) {
                    assertThat(same.readText()).isEqualTo("text");
                }
                assertThat(next.list("/")).isEmpty();
                assertThat(cluster.ufs().exists("/file")).isFalse();
            }
        }
    }

    /** Kernels before Linux 6.9 do not send it again, and its program learns that it failed: what it writes then is not to be lost. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void deletion_beforeWhichTheProcessIsKilled_leavesAFileThatIsUploaded(MemoryUfs.Kind ufs) throws Exception {
        MemoryCluster alluxio = new MemoryCluster(ufs);
        try (MemoryMount killed = MemoryMount.of(alluxio.connect()).openPersistent(folder.resolve("first"), null)) {
            killed.write("/file", "before");
            OpenFile file = killed.openToWrite("/file").write("written");
            isKilledBefore(StoreCall.DELETE, killed, () -> killed.unlink("/file"));
            try (MemoryMount next = MemoryMount.of(alluxio.connect()).openPersistent(folder.resolve("next"), killed)) {
                OpenFile same = next.inherited(file);
                assertThat(same.readText()).isEqualTo("written");
                same.write("WRITTEN").fsync();
                assertThat(alluxio.ufs().read("/file")).asString().isEqualTo("WRITTEN");
                same.write("at last");
                same.close();
                assertThat(alluxio.ufs().read("/file")).asString().isEqualTo("at last");
                assertThat(next.read("/file")).isEqualTo("at last");
            }
        }
    }

    @Test
    void deletion_beforeWhichTheProcessIsKilled_isDoneWhenItIsSentAgain() {
        try (MemoryMount killed = first()) {
            OpenFile file = killed.create("/file").write("text");
            isKilledBefore(StoreCall.DELETE, killed, () -> killed.unlink("/file"));
            try (MemoryMount next = next(killed)) {
                next.unlink("/file");
                try (OpenFile same = next.inherited(file)) {
                    assertThat(same.write("TEXT").readText()).isEqualTo("TEXT");
                }
                assertThat(next.list("/")).isEmpty();
                assertThat(cluster.ufs().list("/")).isEmpty();
            }
        }
    }

    /** The same of a file that another one is to replace. */
    @Test
    void rename_beforeWhichTheProcessIsKilled_leavesATargetThatIsUploaded() {
        try (MemoryMount killed = first()) {
            killed.write("/other", "other");
            OpenFile file = killed.create("/file").write("text");
            isKilledBefore(StoreCall.RENAME, killed, () -> killed.rename("/other", "/file"));
            try (MemoryMount next = next(killed)) {
                next.inherited(file).close();
                assertThat(cluster.ufs().read("/file")).asString().isEqualTo("text");
                assertThat(next.read("/other")).isEqualTo("other");
            }
        }
    }

    private void isKilledBefore(StoreCall call, MemoryMount killed, Runnable change) {
        killed.faults().on(call).before(() -> killed.killAfter(0, true, folder.resolve("left")));
        assertThatThrownBy(change::run).isInstanceOf(FuseFailure.class);
        assertThat(killed.isKilled()).isTrue();
    }

    /** Nobody has the file open, so that no close uploads it. */
    @Test
    void truncation_whoseProcessIsKilled_isUploadedWhenItIsSentAgain() {
        int calls = 0;
        while (isKilledInTruncation(++calls)) {
            assertThat(calls).isLessThan(50);
        }
        assertThat(calls).isGreaterThan(2);
    }

    private boolean isKilledInTruncation(int calls) {
        MemoryCluster alluxio = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        Path first = folder.resolve("first-" + calls);
        try (MemoryMount killed = MemoryMount.of(alluxio.connect()).openPersistent(first, null)) {
            killed.write("/file", "text");
            killed.killAfter(calls, false, folder.resolve("left-" + calls));
            try {
                killed.truncate("/file", 2);
            } catch (FuseFailure e) {
                assertThat(killed.isDead()).isTrue();
            }
            if (!killed.isKilled()) {
                return false;
            }
            Path second = folder.resolve("next-" + calls);
            try (MemoryMount next = MemoryMount.of(alluxio.connect()).openPersistent(second, killed)) {
                next.truncate("/file", 2);
                assertThat(alluxio.ufs().read("/file"))
                        .as("killed after %s calls", calls)
                        .asString()
                        .isEqualTo("te");
            }
            return true;
        }
    }

    /** The next asks Alluxio for what the kernel knows; by then the kernel may have forgotten it, and says so only once. */
    @Test
    void deletedFile_forgottenWhileTheNextAsksForIt_isNotLeftHidden() throws Exception {
        CompletableFuture<MemoryMount> serving = new CompletableFuture<>();
        MemoryStore store = cluster.connect();
        store.faults().on(StoreCall.PATH_OF).nth(1).after(() -> serving.join().dropCaches());
        try (MemoryMount killed = first()) {
            killed.write("/file", "text");
            killed.open("/file");
            killed.unlink("/file");
            killed.kill();
            try (MemoryMount next = MemoryMount.of(store).openPersistent(folder.resolve("next"), killed)) {
                serving.complete(next);
                Waiting.until("nothing is hidden", LIMIT, () -> {
                    cluster.clock().advance(Duration.ofMillis(100));
                    return cluster.ufs().list("/").isEmpty();
                });
            }
        }
    }

    /** As its program has it open, and is not done: others are not to take it for whole. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void newFile_whoseLengthIsSetAfterATakeover_isCommittedAtItsClose(MemoryUfs.Kind ufs) {
        MemoryCluster alluxio = new MemoryCluster(ufs);
        try (MemoryMount killed = MemoryMount.of(alluxio.connect()).openPersistent(folder.resolve("first"), null)) {
            OpenFile file = killed.create("/file");
            killed.kill();
            try (MemoryMount next = MemoryMount.of(alluxio.connect()).openPersistent(folder.resolve("next"), killed)) {
                OpenFile same = next.inherited(file);
                same.truncate(4);
                assertThat(alluxio.ufs().exists("/file")).isFalse();
                same.write("text").close();
                assertThat(alluxio.ufs().read("/file")).asString().isEqualTo("text");
            }
        }
    }

    /** Its program has written a part of it, and nothing of that program was seen here yet. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void file_truncatedByAnotherProgramAfterATakeover_isCommittedAtItsClose(MemoryUfs.Kind ufs) {
        MemoryCluster alluxio = new MemoryCluster(ufs);
        try (MemoryMount killed = MemoryMount.of(alluxio.connect()).openPersistent(folder.resolve("first"), null)) {
            killed.write("/file", "old content");
            killed.write("/closed", "old content");
            OpenFile file = killed.openToWrite("/file").write("new");
            killed.kill();
            try (MemoryMount next = MemoryMount.of(alluxio.connect()).openPersistent(folder.resolve("next"), killed)) {
                next.truncate("/file", 5);
                assertThat(alluxio.ufs().read("/file")).asString().isEqualTo("old content");
                assertThat(next.read("/file")).isEqualTo("new c");
                next.inherited(file).write("whole").close();
                assertThat(alluxio.ufs().read("/file")).asString().isEqualTo("whole");
                next.truncate("/file", 4);
                assertThat(alluxio.ufs().read("/file")).asString().isEqualTo("whol");
                next.truncate("/closed", 3);
                assertThat(alluxio.ufs().read("/closed")).asString().isEqualTo("old");
            }
        }
    }

    /** As above, and its truncation fails. */
    @Test
    void file_whoseTruncationByAnotherProgramFailsAfterATakeover_isCommittedAtItsClose() {
        try (MemoryMount killed = first()) {
            killed.write("/file", "old content");
            OpenFile file = killed.openToWrite("/file").write("new");
            killed.kill();
            try (MemoryMount next = next(killed)) {
                assertThatThrownBy(() -> next.truncate("/file", Long.MAX_VALUE)).isInstanceOf(FuseFailure.class);
                assertThat(cluster.ufs().read("/file")).asString().isEqualTo("old content");
                next.inherited(file).close();
                assertThat(cluster.ufs().read("/file")).asString().isEqualTo("new content");
            }
        }
    }

    /** Since it was replaced its content is in another file of Alluxio than the one that its node was named after. */
    @Test
    void replacedFile_isTheSameNodeToTheNext() {
        try (MemoryMount killed = first()) {
            killed.write("/file", "first");
            Bound held = killed.bind("/file");
            killed.write("/file", "second");
            long inode = killed.stat("/file").inode();
            killed.kill();
            try (MemoryMount next = next(killed);
                    Bound same = next.inherited(held)) {
                assertThat(same.read()).isEqualTo("second");
                assertThat(next.stat("/file").inode()).isEqualTo(inode);
            }
        }
    }

    @Test
    void volumeOfTheWholeCluster_isTakenOverWhileAlluxioIsAway() {
        try (MemoryMount killed = first()) {
            killed.kill();
            cluster.stopMaster();
            try (MemoryMount next = next(killed)) {
                cluster.startMaster();
                next.write("/file", "text");
                assertThat(next.read("/file")).isEqualTo("text");
            }
        }
    }

    @Test
    void directory_withThousandsOfHiddenFiles_isRemoved() throws Exception {
        try (MemoryMount mount = first()) {
            mount.mkdir("/d");
            MemoryStore client = cluster.connect();
            for (int i = 0; i < 2_100; i++) {
                client.create("/d/" + TempNames.make(), 0644, Map.of(), UUID.randomUUID())
                        .complete();
            }
            mount.rmdir("/d");
            assertThat(mount.list("/")).isEmpty();
        }
    }

    /** The new content lies beside the old one, complete, when the process is killed; its rename was not asked for. */
    @Test
    void replacedFile_whoseProcessIsKilledBeforeTheRename_isCommittedByTheNext() {
        try (MemoryMount killed = first()) {
            killed.write("/file", "old");
            killed.faults().on(StoreCall.RENAME).before(killed.faults()::dieNow);
            OpenFile file = killed.openToWrite("/file").write("new content");
            assertThatThrownBy(() -> killed.requests().flush(file.opened()))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
            assertThat(cluster.ufs().read("/file")).asString().isEqualTo("old");
            try (MemoryMount next = next(killed)) {
                next.inherited(file).close();
                assertThat(next.read("/file")).isEqualTo("new content");
                assertThat(cluster.ufs().read("/file")).asString().isEqualTo("new content");
            }
        }
    }

    /** What nobody expected is tried again, as what Alluxio refuses is: calls do not wait at a gate that nobody opens. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void recovery_thatThrowsUnexpectedly_isTriedAgain() throws Exception {
        try (MemoryMount killed = first()) {
            OpenFile file = killed.create("/file").write("text");
            killed.kill();
            MemoryStore store = cluster.connect();
            AtomicBoolean thrown = new AtomicBoolean();
            for (StoreCall call : List.of(StoreCall.STATUS, StoreCall.PATH_OF, StoreCall.CREATE)) {
                StoreFaults.Fault fault = store.faults().on(call).always();
                (call == StoreCall.STATUS ? fault.at("/file") : fault).before(() -> {
                    if (!thrown.getAndSet(true)) {
                        throw new IllegalStateException("nobody expects this");
                    }
                });
            }
            try (MemoryMount next = MemoryMount.of(store).openPersistent(folder.resolve("next"), killed)) {
                Waiting.until("the recovery's pause", Duration.ofSeconds(60), thrown::get);
                cluster.clock().awaitWaiting(1);
                cluster.clock().advance(Duration.ofSeconds(1));
                try (OpenFile same = next.inherited(file)) {
                    assertThat(same.readText()).isEqualTo("text");
                }
                assertThat(cluster.ufs().read("/file")).asString().isEqualTo("text");
            }
        }
    }

    /** A program that syncs would take EIO for a loss. A busy machine's master once took six seconds for its first answer. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void recovery_whoseMasterIsOnlySlow_failsNoCall() throws Exception {
        try (MemoryMount killed = first()) {
            OpenFile file = killed.create("/file").write("text");
            killed.kill();
            MemoryStore store = cluster.connect();
            AtomicBoolean silent = new AtomicBoolean();
            List<StoreFaults.Fault> faults = Stream.of(StoreCall.STATUS, StoreCall.PATH_OF, StoreCall.CREATE)
                    .map(call -> store.faults()
                            .on(call)
                            .always()
                            .before(() -> silent.set(true))
                            .beSilent())
                    .toList();
            try (MemoryMount next = MemoryMount.of(store).openPersistent(folder.resolve("next"), killed)) {
                Waiting.until("a question without an answer", LIMIT, silent::get);
                FutureTask<String> call = new FutureTask<>(() -> {
                    try (OpenFile same = next.inherited(file)) {
                        return same.readText();
                    }
                });
                new Thread(call).start();
                Waiting.until("the call to wait", LIMIT, PersistentMountTest::isOneAtTheGate);
                for (int tries = 0; tries < 5; tries++) {
                    Waiting.until("the recovery's pause", LIMIT, PersistentMountTest::isRecoveryPausing);
                    silent.set(false);
                    cluster.clock().advance(Duration.ofSeconds(4));
                    Waiting.until("one more question without an answer", LIMIT, silent::get);
                }
                faults.forEach(StoreFaults.Fault::remove);
                Waiting.until("the call to end", LIMIT, () -> {
                    cluster.clock().advance(Duration.ofMillis(100));
                    return call.isDone();
                });
                assertThat(call.get()).isEqualTo("text");
            }
        }
    }

    private static boolean isOneAtTheGate() {
        return Thread.getAllStackTraces().values().stream().flatMap(Stream::of).anyMatch(frame -> frame.getClassName()
                .endsWith(".RecoveryBarrier"));
    }

    private static boolean isRecoveryPausing() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("recovery")
                        && thread.getState() == Thread.State.WAITING
                        && Stacks.isIn(thread, ManualClock.class, "waitOn"));
    }
}

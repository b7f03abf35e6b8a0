package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Walk;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The gateway is killed at each boundary between two of its calls while it writes a file over its object, or a worker stops, and the next
 * gateway on the node goes on: the file has its old content or the new one, whole, under its name, and its attributes.
 */
class KilledOverwriteTest {
    private static final int MAX_CALLS = 40;
    private static final String OLD = "old";
    private static final String NEW = "new content";
    private static final int MODE = 0640;
    private static final String FILE = "/dir/file";

    private final Path folder;
    private int folders;

    KilledOverwriteTest(@TempDir Path folder) {
        this.folder = folder;
    }

    /** What the next gateway has to go on with. */
    private enum Next {
        /** The mount, which outlived the process. */
        KEPT,
        /** A new mount, with the folder of the old one, as after the node came back. */
        RETURNED
    }

    /** What another client does before the next gateway comes. */
    private enum Meanwhile {
        NOTHING,
        /** It has Alluxio compare what it knows with the object store. */
        SYNCS
    }

    static Stream<Arguments> ways() {
        return Stream.of(Next.values())
                .flatMap(next -> Stream.of(Meanwhile.values()).map(meanwhile -> Arguments.of(next, meanwhile)));
    }

    private Path newFolder() {
        return folder.resolve("folder-" + ++folders);
    }

    private MemoryMount.Builder builder(MemoryStore store) {
        return MemoryMount.of(store).with("replace", "in-place");
    }

    /** One life and death of a gateway, and what comes after. */
    private final class Trial implements AutoCloseable {
        private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE, 2, 1 << 30, null);
        private final MemoryStore outside = cluster.connect();
        private final MemoryStore client = cluster.connect();
        private final MemoryMount killed = builder(client).openPersistent(newFolder(), null);

        private Trial() {
            killed.mkdir("/dir");
            killed.write(FILE, OLD);
            killed.requests().chmod(killed.lookup(FILE).id(), MODE);
            killed.requests().setxattr(killed.lookup(FILE).id(), "user.a", "1");
        }

        private OpenFile change() {
            OpenFile file = killed.openToWrite(FILE);
            file.truncate(0);
            file.write(NEW);
            return file;
        }

        private MemoryMount next(Next how) {
            MemoryMount.Builder next = builder(cluster.connect());
            return how == Next.KEPT ? next.openPersistent(newFolder(), killed) : next.openReturned(newFolder(), killed);
        }

        private List<String> names() throws StoreException {
            return outside.list("/dir", "", 100).entries().stream()
                    .map(FileStatus::name)
                    .toList();
        }

        private boolean isWhole(String... contents) {
            try {
                FileStatus there = outside.compared(FILE);
                byte[] content = cluster.ufs().read(FILE);
                return there.complete()
                        && there.mode() == MODE
                        && there.xattrs().containsKey("user.a")
                        && content != null
                        && List.of(contents).contains(new String(content, StandardCharsets.UTF_8));
            } catch (StoreException e) {
                return false;
            }
        }

        /** Others find one of these contents, with its attributes, and nothing else. */
        private void awaitWhole(String... contents) throws Exception {
            Eventually.holds("the file is whole, with its attributes", () -> isWhole(contents));
            assertThat(names()).containsExactly("file");
            assertThat(cluster.ufs().list("/dir")).containsExactly("file");
        }

        private void assertIs(MemoryMount mount, String content) {
            assertThat(mount.read(FILE)).isEqualTo(content);
            assertThat(mount.stat(FILE).mode() & 0777).isEqualTo(MODE);
            assertThat(mount.requests().getxattr(mount.lookup(FILE).id(), "user.a"))
                    .isEqualTo("1");
        }

        /** Retries wait for it. */
        private <T> T whileTimePasses(Callable<T> work) throws Exception {
            FutureTask<T> task = new FutureTask<>(work);
            Thread thread = new Thread(task, "caller");
            thread.setDaemon(true);
            thread.start();
            Eventually.holds("it is done", () -> {
                cluster.clock().advance(Duration.ofMillis(100));
                return task.isDone();
            });
            return task.get();
        }

        @Override
        public void close() {
            killed.kill();
            killed.close();
        }
    }

    private static boolean succeeds(Runnable work) {
        try {
            work.run();
            return true;
        } catch (FuseFailure e) {
            return false;
        }
    }

    @Test
    void overwrite_takesOneUploadAndNoRename_andKeepsNodeAndAttributes() throws Exception {
        try (Trial trial = new Trial()) {
            long node = trial.killed.lookup(FILE).id();
            OpenFile file = trial.change();
            trial.client.faults().forgetCounts();
            file.close();
            assertThat(trial.client.faults().counts())
                    .doesNotContainKeys(StoreCall.CREATE, StoreCall.RENAME, StoreCall.DELETE);
            assertThat(trial.client.faults().count(StoreCall.COMPLETE)).isEqualTo(1);
            trial.awaitWhole(NEW);
            trial.assertIs(trial.killed, NEW);
            assertThat(trial.killed.lookup(FILE).id()).isEqualTo(node);
            trial.killed.write(FILE, "third");
            trial.awaitWhole("third");
            assertThat(trial.client.faults().counts()).doesNotContainKeys(StoreCall.CREATE, StoreCall.RENAME);
        }
    }

    /** Alluxio has the new content, and has lost the attributes, which are about to be given back. */
    @Test
    void lookup_whileTheAttributesAreLost_findsTheSameNodeWithThem() throws Exception {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = cluster.connect();
        try (MemoryMount mount = builder(client).with("metadata_ttl", "0").openPersistent(newFolder(), null)) {
            mount.write("/file", OLD);
            mount.requests().chmod(mount.lookup("/file").id(), MODE);
            long node = mount.lookup("/file").id();
            List<Long> seen = new ArrayList<>();
            client.faults().on(StoreCall.CHANGE).before(() -> {
                assertThat(client.memory().ufs().read("/file")).asString().isEqualTo(NEW);
                seen.add(mount.lookup("/file").id());
                seen.add((long) mount.stat("/file").mode() & 0777);
                assertThat(mount.list("/")).containsExactly("file");
            });
            client.faults().forgetCounts();
            mount.write("/file", NEW);
            assertThat(seen).containsExactly(node, (long) MODE);
            assertThat(client.faults().count(StoreCall.CHANGE)).isEqualTo(1);
            assertThat(mount.lookup("/file").id()).isEqualTo(node);
            assertThat(cluster.connect().compared("/file").mode()).isEqualTo(MODE);
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void overwrite_killedAtEachBoundary_isFinishedOrUndone(Next how, Meanwhile meanwhile) throws Exception {
        for (int calls = 0; calls < MAX_CALLS; calls++) {
            for (boolean heard : List.of(false, true)) {
                try {
                    if ((calls > 0 || heard) && !isKilled(how, meanwhile, calls, heard)) {
                        assertThat(calls).as("calls it takes").isGreaterThan(4);
                        return;
                    }
                } catch (Exception | AssertionError e) {
                    throw new AssertionError("killed after " + calls + " calls, heard of the last: " + heard, e);
                }
            }
        }
        throw new AssertionError("it took more than " + MAX_CALLS + " calls");
    }

    private boolean isKilled(Next how, Meanwhile meanwhile, int calls, boolean heard) throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            trial.killed.killAfter(calls, heard, newFolder());
            boolean acknowledged = succeeds(() -> trial.killed.requests().flush(file.opened()));
            if (acknowledged) {
                trial.killed.requests().release(file.opened());
            }
            if (!trial.killed.isKilled()) {
                return false;
            }
            if (meanwhile == Meanwhile.SYNCS) {
                succeedsOrIsGone(trial);
            }
            try (MemoryMount next = trial.next(how)) {
                if (how == Next.KEPT) {
                    next.inherited(file).close();
                    trial.awaitWhole(NEW);
                    trial.assertIs(next, NEW);
                } else {
                    trial.awaitWhole(acknowledged ? new String[] {NEW} : new String[] {OLD, NEW});
                    trial.assertIs(next, next.read(FILE));
                }
            }
        }
        return true;
    }

    private static void succeedsOrIsGone(Trial trial) {
        try {
            trial.outside.compared(FILE);
        } catch (StoreException gone) {
            assertThat(trial.cluster.ufs().exists(FILE)).isFalse();
        }
    }

    /** While a program has it open that has not closed it yet. */
    @Test
    void open_fileWhoseObjectIsLost_isUploadedByTheNextProcess() throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            trial.client.faults().on(StoreCall.COMPLETE).before(trial.killed::kill);
            Path left = newFolder();
            trial.killed.killAfter(Integer.MAX_VALUE, false, left);
            assertThat(succeeds(() -> trial.killed.requests().flush(file.opened())))
                    .isFalse();
            assertThat(trial.cluster.ufs().exists(FILE))
                    .as("a worker deletes it")
                    .isFalse();
            try (MemoryMount next = trial.next(Next.KEPT)) {
                trial.awaitWhole(NEW);
                next.inherited(file).close();
                trial.awaitWhole(NEW);
            }
        }
    }

    /** Another client has put its own file there before the node came back. */
    @Test
    void returnedNode_leavesWhatOthersWroteSince() throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            trial.killed.killAfter(1000, false, newFolder());
            trial.client.faults().on(StoreCall.COMPLETE).before(trial.killed::kill);
            assertThat(succeeds(() -> trial.killed.requests().flush(file.opened())))
                    .isFalse();
            try (MemoryMount other = MemoryMount.of(trial.outside).open()) {
                other.write(FILE, "of another client");
                other.requests().chmod(other.lookup(FILE).id(), MODE);
                other.requests().setxattr(other.lookup(FILE).id(), "user.a", "1");
                try (MemoryMount next = trial.next(Next.RETURNED)) {
                    trial.awaitWhole("of another client");
                    assertThat(next.read(FILE)).isEqualTo("of another client");
                }
            }
        }
    }

    /** The worker stops while it is written to, and deletes the object when it goes on. */
    @ParameterizedTest
    @EnumSource(names = {"WRITE", "COMPLETE"})
    void overwrite_whoseWorkerStops_goesThroughAnother_andIsUploadedAgain(StoreCall call) throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            trial.client
                    .faults()
                    .on(call)
                    .before(() -> trial.cluster.workers().get(0).stop());
            file.close();
            trial.awaitWhole(NEW);
            trial.cluster.workers().get(0).resume();
            assertThat(trial.cluster.ufs().exists(FILE))
                    .as("the worker deletes it")
                    .isFalse();
            Eventually.holds("it is uploaded again", () -> {
                trial.cluster.clock().advance(Duration.ofSeconds(10));
                return trial.cluster.ufs().exists(FILE);
            });
            trial.awaitWhole(NEW);
        }
    }

    /**
     * The worker stopped before the gateway was killed, and deletes the object long after the next one has uploaded it: which worker it was,
     * that one does not know.
     */
    @ParameterizedTest
    @EnumSource(Next.class)
    void overwrite_undoneLateByWorkerOfKilledGateway_isUploadedAgainWithinAMinute(Next how) throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            trial.client.faults().on(StoreCall.COMPLETE).before(() -> {
                trial.cluster.workers().get(0).stop();
                trial.killed.kill();
            });
            trial.killed.killAfter(Integer.MAX_VALUE, false, newFolder());
            assertThat(succeeds(() -> trial.killed.requests().flush(file.opened())))
                    .isFalse();
            try (MemoryMount next = trial.whileTimePasses(() -> trial.next(how))) {
                if (how == Next.KEPT) {
                    OpenFile inherited = next.inherited(file);
                    trial.whileTimePasses(() -> {
                        inherited.close();
                        return NEW;
                    });
                }
                trial.awaitWhole(NEW);
                next.faults()
                        .on(StoreCall.COMPLETE)
                        .fail(Errno.EIO); // once, when Alluxio has forgotten the file already
                trial.cluster.workers().get(0).resume();
                assertThat(trial.cluster.ufs().exists(FILE))
                        .as("the worker deletes it")
                        .isFalse();
                long sinceNanos = trial.cluster.clock().nanos();
                Eventually.holds("it is uploaded again", () -> {
                    trial.cluster.clock().advance(Duration.ofSeconds(1));
                    return trial.cluster.ufs().exists(FILE);
                });
                assertThat(Duration.ofNanos(trial.cluster.clock().nanos() - sinceNanos))
                        .isLessThan(Duration.ofMinutes(1));
                trial.awaitWhole(NEW);
                trial.assertIs(next, NEW);
            }
        }
    }

    /** Each upload fails while the file is closed: what is lost is brought back by this process. */
    @Test
    void close_whoseUploadFails_isDoneLater() throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            StoreFaults.Fault failing =
                    trial.client.faults().on(StoreCall.COMPLETE).always().fail(Errno.EIO);
            assertThat(succeeds(file::close)).isFalse();
            assertThat(trial.cluster.ufs().exists(FILE))
                    .as("a worker deletes it")
                    .isFalse();
            assertThat(trial.killed.read(FILE)).isEqualTo(NEW);
            failing.remove();
            Eventually.holds("it is uploaded", () -> {
                trial.cluster.clock().advance(Duration.ofSeconds(10));
                return trial.isWhole(NEW);
            });
            trial.assertIs(trial.killed, NEW);
        }
    }

    /** What others wrote meanwhile was acknowledged, and this was not. */
    @Test
    void close_whoseUploadFails_leavesWhatOthersWriteSince() throws Exception {
        try (Trial trial = new Trial();
                MemoryMount other = MemoryMount.of(trial.outside).open()) {
            OpenFile file = trial.change();
            StoreFaults.Fault failing =
                    trial.client.faults().on(StoreCall.COMPLETE).always().fail(Errno.EIO);
            assertThat(succeeds(file::close)).isFalse();
            other.write(FILE, "of another mount");
            failing.remove();
            Eventually.holds("it is set aside", () -> {
                trial.cluster.clock().advance(Duration.ofSeconds(10));
                return Walk.files(trial.killed.folder()).stream()
                        .anyMatch(left -> left.toString().matches(".*/aside/spool-\\d+"));
            });
            assertThat(other.read(FILE)).isEqualTo("of another mount");
            assertThat(trial.cluster.ufs().read(FILE)).asString().isEqualTo("of another mount");
        }
    }

    /** Who reads it still sees what was written. */
    @Test
    void unlink_ofOpenFileWhoseUploadFailed_leavesItToItsReaders() throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            trial.client.faults().on(StoreCall.COMPLETE).always().fail(Errno.EIO);
            try (OpenFile reader = trial.killed.open(FILE)) {
                assertThat(succeeds(file::close)).isFalse();
                trial.killed.unlink(FILE);
                trial.cluster.clock().advance(Duration.ofSeconds(10));
                assertThat(reader.readText()).isEqualTo(NEW);
            }
        }
    }

    /** The same, and the mount ends before: its next one does it. */
    @Test
    void unmount_whileTheUploadFails_leavesItToTheNextMount() throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            trial.client.faults().on(StoreCall.COMPLETE).always().fail(Errno.EIO);
            assertThat(succeeds(file::close)).isFalse();
            trial.killed.close();
            try (MemoryMount next = trial.next(Next.RETURNED)) {
                trial.awaitWhole(NEW);
                trial.assertIs(next, NEW);
            }
        }
    }

    /** Between the upload and the comparison: the one that closes last wins. */
    @Test
    void overwrite_besideAnotherWriter_isDoneAgain() throws Exception {
        try (Trial trial = new Trial()) {
            OpenFile file = trial.change();
            byte[] others = "of another client of the bucket".getBytes(StandardCharsets.UTF_8);
            trial.client.faults().on(StoreCall.COMPLETE).after(() -> trial.cluster
                    .ufs()
                    .write(FILE, others));
            file.close();
            trial.awaitWhole(NEW);
            trial.assertIs(trial.killed, NEW);
        }
    }

    /** As without the option. */
    @Test
    void commit_overFileThatAnotherMountReplaced_isARename() throws Exception {
        try (Trial trial = new Trial();
                MemoryMount other = MemoryMount.of(trial.outside).open()) {
            OpenFile file = trial.change();
            other.write(FILE, "of another mount");
            trial.client.faults().forgetCounts();
            file.close();
            assertThat(trial.client.faults().count(StoreCall.RENAME)).isEqualTo(1);
            trial.awaitWhole(NEW);
        }
    }

    @Test
    void commit_byUserWhoCannotGiveTheOwnerBack_isARename() throws Exception {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = cluster.connect().refusingOwners();
        try (MemoryMount mount = builder(client).openPersistent(newFolder(), null)) {
            mount.write("/file", OLD);
            mount.write("/file", NEW);
            assertThat(client.faults().count(StoreCall.RENAME)).isEqualTo(1);
            assertThat(mount.read("/file")).isEqualTo(NEW);
        }
    }

    /** Nothing would be left on this node to finish it with. */
    @Test
    void commit_ofMountThatEndsWithItsProcess_isARename() throws Exception {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryStore client = cluster.connect();
        try (MemoryMount mount = builder(client).open()) {
            mount.write("/file", OLD);
            mount.write("/file", NEW);
            assertThat(client.faults().count(StoreCall.RENAME)).isEqualTo(1);
        }
    }
}

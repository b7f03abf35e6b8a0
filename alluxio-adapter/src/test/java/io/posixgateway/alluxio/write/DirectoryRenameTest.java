package io.posixgateway.alluxio.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.journal.DirectoryRenameLog.Moving;
import io.posixgateway.alluxio.posix.PosixXattr;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.Stacks;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Directories that are renamed in an object store. */
class DirectoryRenameTest {
    private static final List<String> FILES = List.of("/a", "/b", "/sub/c", "/sub/d", "/sub/deep/e");
    private static final int MAX_CALLS = 40;
    private static final byte[] OTHERS = "others' is /a".getBytes(UTF_8);

    private static MemoryCluster tree() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            Stream.of("/old", "/old/sub", "/old/sub/deep").forEach(mount::mkdir);
            FILES.forEach(name -> mount.write("/old" + name, "content of " + name));
        }
        return cluster;
    }

    private static String contentUnder(MemoryMount mount, String top, String name) {
        return mount.exists(top + name) ? mount.read(top + name) : "";
    }

    @Test
    void rename_ofDirectory_isTheSameNodeWithAllItsFiles() {
        MemoryCluster cluster = tree();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            FuseNode before = mount.stat("/old/sub");
            mount.rename("/old", "/new");
            assertThat(mount.exists("/old")).isFalse();
            assertThat(mount.list("/new/sub")).containsExactly("c", "d", "deep");
            FuseNode after = mount.stat("/new/sub");
            assertThat(after.id()).isEqualTo(before.id());
            assertThat(after.inode()).isEqualTo(before.inode());
            assertThat(after.modifiedMillis()).isEqualTo(before.modifiedMillis());
            assertThat(after.mode()).isEqualTo(before.mode());
            FILES.forEach(name -> assertThat(mount.read("/new" + name)).isEqualTo("content of " + name));
        }
    }

    @Test
    void rename_toDirectoryWithNames_isRefused() {
        try (MemoryMount mount = MemoryMount.of(tree())) {
            mount.mkdir("/new");
            mount.write("/new/mine", "stays");
            assertThatThrownBy(() -> mount.rename("/old", "/new"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOTEMPTY));
            assertThat(mount.read("/new/mine")).isEqualTo("stays");
            assertThat(mount.read("/old/a")).isEqualTo("content of /a");
        }
    }

    /** The gateway ends at each of its calls of this kind, one after the other. */
    @ParameterizedTest
    @EnumSource(names = {"MAKE_DIRECTORY", "LIST", "RENAME", "DELETE", "CHANGE", "REMOVE_XATTR"})
    void renameThatEndsAtAnyCall_isContinuedByTheSameRename(StoreCall call) {
        int calls = 1;
        while (!isDoneInspiteOf(call, calls)) {
            assertThat(calls++).isLessThan(MAX_CALLS);
        }
        assertThat(calls).as("calls that were tried").isGreaterThan(1);
    }

    private static boolean isDoneInspiteOf(StoreCall call, int number) {
        MemoryCluster cluster = tree();
        MemoryMount killed = MemoryMount.of(cluster);
        killed.faults().on(call).nth(number).before(killed.faults()::dieNow);
        boolean done = tryRename(killed);
        try (MemoryMount next = MemoryMount.of(cluster.connect()).open()) {
            for (String name : FILES) {
                assertThat(contentUnder(next, "/old", name) + contentUnder(next, "/new", name))
                        .as("%s after %s %d", name, call, number)
                        .isEqualTo("content of " + name);
            }
            if (next.exists("/old")) {
                next.rename("/old", "/new");
            }
            FILES.forEach(name -> assertThat(next.read("/new" + name))
                    .as("%s after %s %d", name, call, number)
                    .isEqualTo("content of " + name));
            assertThat(next.exists("/old")).isFalse();
        }
        return done;
    }

    /** The store has moved the object, and Alluxio finds the original in its journal alone: what is there is the only copy. */
    @Test
    void rename_whoseMasterDiesWhenAFileIsMoved_keepsTheFile() {
        MemoryCluster cluster = tree();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.requests().chmod(mount.lookup("/old/a").id(), 0640);
            mount.faults().on(StoreCall.RENAME).at("/a").dieAfterTheCopy();
            tryRename(mount);
            if (mount.exists("/old")) {
                mount.rename("/old", "/new");
            }
            FILES.forEach(name -> assertThat(mount.read("/new" + name)).isEqualTo("content of " + name));
            assertThat(cluster.ufs().read("/new/a")).asString().isEqualTo("content of /a");
            assertThat(mount.stat("/new/a").mode() & 0777).isEqualTo(0640);
        }
    }

    /** Another client has put it into the bucket, where Alluxio does not know it. */
    @Test
    void rename_whereAFileOfAnotherClientIsAsLong_leavesBoth() {
        MemoryCluster cluster = tree();
        assertThat(OTHERS).hasSameSizeAs("content of /a".getBytes(UTF_8));
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.requests().chmod(mount.lookup("/old/a").id(), 0640);
            int mode = mode(cluster, "/probe");
            mount.faults().on(StoreCall.RENAME).at("/a").before(() -> cluster.ufs()
                    .write("/new/a", OTHERS));
            assertThat(tryRename(mount)).isFalse();
            assertThat(cluster.ufs().read("/new/a")).isEqualTo(OTHERS);
            assertThat(mount.stat("/new/a").mode() & 0777).isEqualTo(mode);
            assertThat(mount.stat("/old/a").mode() & 0777).isEqualTo(0640);
            assertThat(mount.read("/old/a")).isEqualTo("content of /a");
        }
    }

    /** Of an object that another client puts there. */
    private static int mode(MemoryCluster cluster, String path) {
        cluster.ufs().write(path, OTHERS);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            return mount.stat(path).mode() & 0777;
        }
    }

    /** As a clean-up of the bucket does while the directory moves: Alluxio has them still. */
    @Test
    void rename_whereOthersRemovedObjects_movesTheOthers() {
        MemoryCluster cluster = tree();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            assertThat(mount.list("/old")).contains("a", "b");
            cluster.ufs().delete("/old/a");
            cluster.ufs().delete("/old/sub/c");
            mount.rename("/old", "/new");
            assertThat(mount.list("/new")).containsExactly("b", "sub");
            assertThat(mount.list("/new/sub")).containsExactly("d", "deep");
            assertThat(mount.read("/new/sub/d")).isEqualTo("content of /sub/d");
            assertThat(mount.exists("/old")).isFalse();
        }
    }

    /** Which has another ETag than the original. */
    @Test
    void rename_whoseMasterDiesAfterACopyInParts_finishesIt() {
        MemoryCluster cluster = tree();
        cluster.ufs().copyInPartsFrom(1);
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            byte[] content = "content of /a".getBytes(UTF_8);
            mount.faults()
                    .on(StoreCall.RENAME)
                    .at("/a")
                    .after(() -> cluster.ufs().write("/old/a", content))
                    .dieAfterTheCopy();
            mount.rename("/old", "/new");
            assertThat(mount.read("/new/a")).isEqualTo("content of /a");
            assertThat(mount.exists("/old")).isFalse();
        }
    }

    /** On which a program copies: it is to find nothing there. */
    @Test
    void rename_toAnotherUfs_makesNothing() {
        MemoryCluster cluster = tree();
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect().mountedBelow("/nested")).open()) {
            mount.mkdir("/nested");
            assertThatThrownBy(() -> mount.rename("/old", "/nested/new"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EXDEV));
            assertThat(mount.list("/nested")).isEmpty();
            assertThat(mount.list("/old/sub")).containsExactly("c", "d", "deep");
        }
    }

    @Test
    void rename_overAnEmptyDirectoryOfAnotherUfs_leavesIt() {
        MemoryCluster cluster = tree();
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect().mountedBelow("/nested")).open()) {
            mount.mkdir("/nested");
            mount.mkdir("/nested/empty");
            assertThatThrownBy(() -> mount.rename("/old", "/nested/empty"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EXDEV));
            assertThat(mount.list("/nested")).containsExactly("empty");
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void rename_overAnEmptyDirectory_leavesItAsItIs_whenAlluxioRefuses(MemoryUfs.Kind kind) throws Exception {
        MemoryCluster cluster = new MemoryCluster(kind);
        MemoryStore client = cluster.connect();
        if (kind == MemoryUfs.Kind.HDFS) {
            client.renamingDirectoriesAtOnce();
        }
        try (MemoryMount mount = MemoryMount.of(client).open()) {
            Stream.of("/old", "/empty").forEach(mount::mkdir);
            mount.write("/old/a", "content");
            long node = mount.lookup("/empty").id();
            mount.requests().chmod(node, 0750);
            StoreCall call = kind == MemoryUfs.Kind.OBJECT_STORE ? StoreCall.MAKE_DIRECTORY : StoreCall.RENAME;
            mount.faults().on(call).fail(Errno.EACCES);
            assertThatThrownBy(() -> mount.rename("/old", "/empty"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EACCES));
            assertThat(mount.stat("/empty").mode() & 0777).isEqualTo(0750);
            assertThat(mount.stat("/empty").id()).isEqualTo(node);
            mount.write("/empty/b", "more");
            mount.unlink("/empty/b");
            mount.rename("/old", "/empty");
            assertThat(mount.read("/empty/a")).isEqualTo("content");
        }
    }

    @Test
    @Timeout(60)
    void rename_toDirectoryThatAnotherClientRenamesMeanwhile_ends() {
        MemoryCluster cluster = tree();
        MemoryStore other = cluster.connect();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.faults().on(StoreCall.RENAME).at("/e").before(() -> rename(other, "/new", "/elsewhere"));
            assertThatThrownBy(() -> mount.rename("/old/sub/deep", "/new"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
            assertThat(mount.read("/old/sub/deep/e")).isEqualTo("content of /sub/deep/e");
        }
    }

    /** Alluxio has listed the directory, and lists nothing of what others put into the bucket since. */
    @Test
    @Timeout(60)
    void rename_ofDirectoryWithObjectsThatAlluxioDoesNotKnow_movesThem() {
        MemoryCluster cluster = tree();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            cluster.ufs().write("/old/sub/deep/unknown", "put there".getBytes(UTF_8));
            mount.rename("/old", "/new");
            assertThat(mount.read("/new/sub/deep/unknown")).isEqualTo("put there");
            FILES.forEach(name -> assertThat(mount.read("/new" + name)).isEqualTo("content of " + name));
            assertThat(mount.exists("/old")).isFalse();
        }
    }

    @Test
    @Timeout(60)
    void rename_ofDirectoryThatIsNeverEmptyInTheBucket_ends() {
        try (MemoryMount mount = MemoryMount.of(tree())) {
            mount.faults().on(StoreCall.DELETE).at("/deep").always().fail(Errno.ENOTEMPTY);
            assertThatThrownBy(() -> mount.rename("/old", "/new"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOTEMPTY));
            assertThat(mount.read("/new/sub/deep/e")).isEqualTo("content of /sub/deep/e");
        }
    }

    @Test
    @Timeout(60)
    void renameThatFails_endsWhenTheFilesInFlightHaveMoved() throws Exception {
        MemoryCluster cluster = tree();
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            StoreFaults.Held moving =
                    mount.faults().on(StoreCall.RENAME).at("/b").hold();
            mount.faults()
                    .on(StoreCall.RENAME)
                    .at("/a")
                    .before(() -> reached(moving))
                    .fail(Errno.EIO);
            AsyncCall renaming = AsyncCall.start(() -> mount.rename("/old", "/new"));
            moving.await();
            Eventually.holds("it waits, or has ended", () -> waitsForFiles() || renaming.isDone());
            assertThat(renaming.isDone()).isFalse();
            moving.open();
            assertThat(renaming.awaitErrno()).isEqualTo(Errno.EIO);
            cluster.clock().advance(Duration.ofSeconds(1));
            assertThat(mount.read("/new/b")).isEqualTo("content of /b");
        }
    }

    /** An object of 100 GB is copied within one call, however long that takes; interrupt_after is not for that. */
    @Test
    @Timeout(60)
    void rename_whoseFilesTakeLong_isWaitedForWithoutLimit() throws Exception {
        try (MemoryMount mount = MemoryMount.of(tree())) {
            StoreFaults.Held moving =
                    mount.faults().on(StoreCall.RENAME).at("/b").hold();
            AsyncCall renaming = AsyncCall.start(() -> mount.rename("/old", "/new"));
            moving.await();
            Eventually.holds("it is waited for without limit", () -> mount.requests().inFlight(0).stream()
                    .anyMatch(InFlightRequest::unlimited));
            moving.open();
            assertThat(renaming.awaitErrno()).isZero();
        }
    }

    @Test
    @Timeout(60)
    void rename_whoseProgramIsKilled_endsBetweenTwoFiles() throws Exception {
        try (MemoryMount mount = MemoryMount.of(tree())) {
            StoreFaults.Held moving =
                    mount.faults().on(StoreCall.RENAME).at("/c").hold();
            AsyncCall renaming = AsyncCall.start(() -> mount.rename("/old", "/new"));
            moving.await();
            mount.requests().interrupt(renaming.thread());
            Eventually.holds("it waits for what is in flight", DirectoryRenameTest::waitsForFiles);
            moving.open();
            assertThat(renaming.awaitErrno()).isEqualTo(Errno.EINTR);
            for (String name : FILES) {
                assertThat(contentUnder(mount, "/old", name) + contentUnder(mount, "/new", name))
                        .isEqualTo("content of " + name);
            }
            assertThat(mount.exists("/old/sub/deep/e"))
                    .as("it had not come to that")
                    .isTrue();
            mount.rename("/old", "/new");
            FILES.forEach(name -> assertThat(mount.read("/new" + name)).isEqualTo("content of " + name));
        }
    }

    /** Alluxio listed the new directory, and so found the file in the store, before the rename was sent again. */
    @Test
    void rename_whoseMasterDied_isContinuedWhereOthersHaveSeenTheFile(@TempDir Path folder) throws Exception {
        MemoryCluster cluster = tree();
        try (MemoryMount killed =
                MemoryMount.of(cluster.connect()).in(folder.resolve("first")).open()) {
            killed.requests().chmod(killed.lookup("/old/a").id(), 0640);
            killed.faults()
                    .on(StoreCall.RENAME)
                    .at("/a")
                    .after(killed.faults()::dieNow)
                    .dieAfterTheCopy();
            assertThat(tryRename(killed)).isFalse();
        }
        try (MemoryMount next = MemoryMount.of(cluster.connect()).open()) {
            assertThat(cluster.connect().list("/new", "", 10).entries()).isNotEmpty();
            next.rename("/old", "/new");
            FILES.forEach(name -> assertThat(next.read("/new" + name)).isEqualTo("content of " + name));
            assertThat(next.stat("/new/a").mode() & 0777).isEqualTo(0640);
            assertThat(next.exists("/old")).isFalse();
        }
    }

    /** Between the deletion of the old directory, of which it is all that is left, and the end of its rename. */
    @Test
    void rename_thatEndsBeforeADirectoryGetsItsMode_givesItWhenItIsContinued() {
        MemoryCluster cluster = tree();
        try (MemoryMount killed = MemoryMount.of(cluster)) {
            killed.requests().chmod(killed.lookup("/old/sub").id(), 0555);
            killed.faults().on(StoreCall.CHANGE).at("/new/sub").before(killed.faults()::dieNow);
            assertThat(tryRename(killed)).isFalse();
        }
        try (MemoryMount next = MemoryMount.of(cluster.connect()).open()) {
            assertThat(next.exists("/old/sub")).isFalse();
            next.rename("/old", "/new");
            assertThat(next.stat("/new/sub").mode() & 0777).isEqualTo(0555);
        }
    }

    /** The kernel was told that nothing has the new name. */
    @Test
    void renameThatFails_showsThePartThatMoved() {
        try (MemoryMount mount = MemoryMount.of(tree())) {
            assertThat(mount.exists("/new")).isFalse();
            mount.faults().on(StoreCall.RENAME).at("/sub/c").always().fail(Errno.EACCES);
            assertThat(tryRename(mount)).isFalse();
            assertThat(mount.exists("/new")).isTrue();
            assertThat(mount.read("/new/a")).isEqualTo("content of /a");
        }
    }

    @Test
    void renameThatAProcessLeftHalfDone_isReportedByTheNext_untilItIsContinued(@TempDir Path folder) throws Exception {
        MemoryCluster cluster = tree();
        MemoryMount killed =
                MemoryMount.of(cluster.connect()).in(folder.resolve("first")).open();
        killed.faults().on(StoreCall.RENAME).at("/e").before(killed.faults()::dieNow);
        assertThat(tryRename(killed)).isFalse();
        killed.leaveTo(folder.resolve("next"));
        try (MemoryMount next =
                MemoryMount.of(cluster.connect()).in(folder.resolve("next")).open()) {
            Eventually.holds("it is reported", () -> renames(next).equals(List.of(new Moving("/old", "/new"))));
            next.rename("/old", "/new");
            assertThat(renames(next)).isEmpty();
        }
        killed.close();
    }

    /** The rename was done but for the mark of its new directory, and Alluxio does not answer the next process at once. */
    @Test
    void markOfARenamedDirectory_whenTheNextProcessGetsNoAnswerAtFirst_goesLater(@TempDir Path folder)
            throws Exception {
        MemoryCluster cluster = tree();
        try (MemoryMount killed = withFailingEnds(cluster, folder, "/new")) {
            assertThat(tryRename(killed)).isFalse();
            MemoryStore client = cluster.connect();
            client.faults().on(StoreCall.STATUS).at("/old").fail(Errno.EIO);
            awaitNoMark(cluster, client, killed, "/new");
        }
    }

    /** Each inherited rename is on its own. */
    @Test
    void markOfARenamedDirectory_besideOneWhoseStoredModeIsDamaged_goes(@TempDir Path folder) throws Exception {
        MemoryCluster cluster = tree();
        try (MemoryMount killed = withFailingEnds(cluster, folder, "/new", "/other")) {
            killed.mkdir("/last");
            killed.requests().chmod(killed.lookup("/old").id(), 0555);
            assertThat(tryRename(killed)).isFalse();
            assertThatThrownBy(() -> killed.rename("/last", "/other")).isInstanceOf(FuseFailure.class);
            MemoryStore client = cluster.connect();
            client.change(
                    "/new", new Store.Change(null, null, null, Map.of(PosixXattr.MOVED_MODE, "9x".getBytes(UTF_8))));
            awaitNoMark(cluster, client, killed, "/new", "/other");
            assertThat(client.status("/new").xattrs()).doesNotContainKey(PosixXattr.MOVED_MODE);
        }
    }

    /** Renames to these do all but end. */
    private static MemoryMount withFailingEnds(MemoryCluster cluster, Path folder, String... directories) {
        MemoryMount mount =
                MemoryMount.of(cluster.connect()).in(folder.resolve("first")).open();
        for (String directory : directories) {
            mount.faults().on(StoreCall.REMOVE_XATTR).at(directory).always().fail(Errno.EIO);
        }
        return mount;
    }

    private static void awaitNoMark(
            MemoryCluster cluster, MemoryStore client, MemoryMount killed, String... directories) throws Exception {
        Path left = killed.folder().resolveSibling("next");
        killed.leaveTo(left);
        killed.kill();
        for (String directory : directories) {
            assertThat(cluster.connect().status(directory).xattrs()).containsKey(PosixXattr.MOVED_FROM);
        }
        try (MemoryMount next = MemoryMount.of(client).in(left).open()) {
            for (String directory : directories) {
                Eventually.holds("it is a directory as any other: " + directory, Duration.ofSeconds(10), () -> {
                    cluster.clock().advance(Duration.ofMillis(100));
                    return !client.status(directory).xattrs().containsKey(PosixXattr.MOVED_FROM);
                });
            }
            assertThat(renames(next)).isEmpty();
        }
    }

    @Test
    void renameThatIsRefused_isNotReported() {
        try (MemoryMount mount = MemoryMount.of(tree())) {
            mount.faults().on(StoreCall.MAKE_DIRECTORY).fail(Errno.EACCES);
            assertThat(tryRename(mount)).isFalse();
            assertThat(renames(mount)).isEmpty();
        }
    }

    private static List<Moving> renames(MemoryMount mount) {
        return mount.fileSystem().details().renames().present();
    }

    /** As a shell's working directory below it: the node leads to the new directory, wherever the process was killed. */
    @Test
    void nodeOfRenamedDirectory_afterATakeover_isTheDirectoryAtItsNewName(@TempDir Path folder) throws Exception {
        for (int calls = 1; calls <= MAX_CALLS; calls++) {
            for (boolean heard : List.of(false, true)) {
                if (!isFoundAfterAKill(folder.resolve(calls + "-" + heard), calls, heard)) {
                    assertThat(calls).isGreaterThan(2);
                    return;
                }
            }
        }
        throw new AssertionError("it took more than " + MAX_CALLS + " calls");
    }

    /** False: the rename was done before. */
    private static boolean isFoundAfterAKill(Path folder, int calls, boolean heard) throws Exception {
        MemoryCluster cluster = tree();
        MemoryMount killed = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        MemoryMount.Bound top = killed.bind("/old");
        MemoryMount.Bound below = killed.bind("/old/sub");
        killed.killAfter(calls, heard, folder.resolve("left"));
        boolean done = tryRename(killed);
        boolean dead = killed.isKilled();
        if (!dead) {
            killed.kill();
        }
        try (MemoryMount next = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("next"), killed)) {
            if (!done && next.exists("/old")) {
                next.rename("/old", "/new");
            }
            String what = "killed after " + calls + " calls, heard of the last: " + heard;
            assertThat(next.namesOf(next.inherited(top))).as(what).containsExactly("a", "b", "sub");
            assertThat(next.namesOf(next.inherited(below))).as(what).containsExactly("c", "d", "deep");
            assertThat(next.read("/new/sub/c")).as(what).isEqualTo("content of /sub/c");
        } finally {
            killed.close();
        }
        return dead;
    }

    /** The ids of its nodes have a mark. */
    @Test
    void directoryOfAFormattedAlluxio_thatTheKernelKnows_isTheSameNode(@TempDir Path folder) throws Exception {
        MemoryCluster formatted = tree();
        try (MemoryMount first = MemoryMount.of(tree().connect()).openPersistent(folder.resolve("first"), null)) {
            first.stat("/old/sub");
            first.kill();
            try (MemoryMount second =
                    MemoryMount.of(formatted.connect()).openPersistent(folder.resolve("second"), first)) {
                Eventually.holds("names are looked up anew", () -> answers(second));
                MemoryMount.Bound below = second.bind("/old/sub");
                second.kill();
                try (MemoryMount next =
                        MemoryMount.of(formatted.connect()).openPersistent(folder.resolve("next"), second)) {
                    next.rename("/old", "/new");
                    assertThat(next.namesOf(next.inherited(below))).containsExactly("c", "d", "deep");
                }
            }
        }
    }

    private static boolean answers(MemoryMount mount) {
        try {
            return mount.exists("/old/sub");
        } catch (FuseFailure e) {
            return false;
        }
    }

    private static void reached(StoreFaults.Held moving) {
        try {
            moving.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean waitsForFiles() {
        return Stacks.threadsIn(FileMoves.class, "awaitEnd") > 0;
    }

    private static void rename(MemoryStore client, String from, String to) {
        try {
            client.rename(from, to, false);
        } catch (StoreException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean tryRename(MemoryMount mount) {
        try {
            mount.rename("/old", "/new");
            return true;
        } catch (FuseFailure e) {
            return false;
        }
    }
}

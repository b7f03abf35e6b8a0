package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.client.StoreException;
import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Directories that are renamed in an object store. */
class DirectoryRenameTest {
    private static final List<String> FILES = List.of("/a", "/b", "/sub/c", "/sub/d", "/sub/deep/e");
    private static final int MOST_CALLS = 40;

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
            assertThat(calls++).isLessThan(MOST_CALLS);
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

    @Test
    @Timeout(60)
    void renameThatFails_endsWhenTheFilesUnderWayHaveMoved() throws Exception {
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

    private static void reached(StoreFaults.Held moving) {
        try {
            moving.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean waitsForFiles() {
        return Thread.getAllStackTraces().values().stream()
                .flatMap(Stream::of)
                .anyMatch(frame -> frame.getMethodName().equals("awaitEnd")
                        && frame.getClassName().equals(DirectoryRename.class.getName()));
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

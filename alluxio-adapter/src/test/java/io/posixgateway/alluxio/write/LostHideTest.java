package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.AsyncCall;
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
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are hidden in an object store, while masters, or processes, are killed: nothing of them is left. */
class LostHideTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
    private final MemoryStore outside = cluster.connect();
    private final Path folder;

    LostHideTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private MemoryMount first() {
        MemoryMount mount =
                MemoryMount.of(cluster.connect()).in(folder.resolve("first")).open();
        mount.mkdir("/dir");
        mount.write("/dir/file", "content");
        return mount;
    }

    private boolean isEmpty() throws StoreException {
        return Stream.concat(
                        outside.list("/dir", "", 100).entries().stream().map(FileStatus::name),
                        cluster.ufs().list("/dir").stream())
                .findAny()
                .isEmpty();
    }

    /** The store has done it, and the master's journal has nothing of that. */
    @Test
    void unlink_ofOpenFile_whoseMasterDiesAfterTheCopy_isDone() throws Exception {
        try (MemoryMount mount = first()) {
            OpenFile file = mount.open("/dir/file");
            mount.faults().on(StoreCall.RENAME).dieAfterTheCopy();
            mount.unlink("/dir/file");
            assertThat(mount.list("/dir")).isEmpty();
            assertThat(file.readText()).isEqualTo("content");
            file.close();
            Eventually.holds("nothing is left", this::isEmpty);
        }
    }

    /** Another client of the bucket has removed it, which Alluxio does not know. */
    @Test
    void unlink_ofOpenFile_whoseObjectIsGone_isDone() throws Exception {
        try (MemoryMount mount = first()) {
            OpenFile file = mount.open("/dir/file");
            cluster.ufs().delete("/dir/file");
            mount.unlink("/dir/file");
            assertThat(mount.list("/dir")).isEmpty();
            assertThat(mount.exists("/dir/file")).isFalse();
            mount.write("/dir/file", "another");
            file.close();
            cluster.clock().advance(Duration.ofSeconds(2));
            assertThat(mount.read("/dir/file")).isEqualTo("another");
            mount.unlink("/dir/file");
            Eventually.holds("nothing is left", this::isEmpty);
        }
    }

    @Test
    void unlink_ofOpenFile_whoseMasterAndProcessDieAfterTheCopy_isFinishedByTheNext() throws Exception {
        MemoryMount killed = first();
        OpenFile file = killed.open("/dir/file");
        killed.faults().on(StoreCall.RENAME).after(killed::kill).dieAfterTheCopy();
        assertThat(isUnlinked(killed)).isFalse();
        killed.leaveTo(folder.resolve("next"));
        try (MemoryMount next =
                MemoryMount.of(cluster.connect()).in(folder.resolve("next")).open()) {
            Eventually.holds("nothing is left", this::isEmpty);
            assertThat(next.list("/dir")).isEmpty();
        }
        assertThat(file.opened()).isNotNull();
        killed.close();
    }

    private static boolean isUnlinked(MemoryMount mount) {
        try {
            mount.unlink("/dir/file");
            return true;
        } catch (FuseFailure e) {
            return false;
        }
    }

    @Test
    void hiddenFile_thatTheNextProcessCannotRemoveAtOnce_isRemovedLater() throws Exception {
        MemoryMount killed = first();
        OpenFile file = killed.open("/dir/file");
        killed.unlink("/dir/file");
        killed.kill();
        assertThat(isEmpty()).isFalse();
        killed.leaveTo(folder.resolve("next"));
        MemoryStore client = cluster.connect();
        client.faults().on(StoreCall.DELETE).fail(Errno.EIO);
        try (MemoryMount next =
                MemoryMount.of(client).in(folder.resolve("next")).open()) {
            Eventually.holds("it was tried", () -> client.faults().count(StoreCall.DELETE) > 0);
            Eventually.holds("nothing is left", () -> {
                cluster.clock().advance(Duration.ofSeconds(1));
                return isEmpty();
            });
            assertThat(next.list("/dir")).isEmpty();
        }
        assertThat(file.opened()).isNotNull();
        killed.close();
    }

    /** It waits for the thread that removes what an earlier process hid, while Alluxio hangs: its program can be killed all the same. */
    @Test
    void unlink_whileHiddenFilesAreRemoved_endsWhenItsProgramIsKilled() throws Exception {
        MemoryMount killed = first();
        killed.write("/dir/other", "other");
        OpenFile file = killed.open("/dir/file");
        killed.unlink("/dir/file");
        killed.kill();
        killed.leaveTo(folder.resolve("next"));
        MemoryStore client = cluster.connect();
        StoreFaults.Held hangs = client.faults().on(StoreCall.DELETE).hold();
        try (MemoryMount next =
                MemoryMount.of(client).in(folder.resolve("next")).open()) {
            hangs.await();
            OpenFile other = next.open("/dir/other");
            client.faults()
                    .on(StoreCall.RENAME)
                    .before(() -> cluster.ufs().delete("/dir/other"))
                    .loseRequest();
            AsyncCall unlinking = AsyncCall.start(() -> next.unlink("/dir/other"));
            Eventually.holds(
                    "it waits", () -> next.requests().inFlight(0).stream().anyMatch(LostHideTest::waits));
            next.requests().interrupt(unlinking.thread());
            assertThat(unlinking.awaitErrno()).isIn(Errno.EIO, Errno.EINTR);
            hangs.open();
            other.close();
        } finally {
            hangs.open();
        }
        assertThat(file.opened()).isNotNull();
        killed.close();
    }

    private static boolean waits(InFlightRequest request) {
        Thread thread = request.thread();
        return request.opcode() == Opcode.UNLINK
                && thread != null
                && (thread.getState() == Thread.State.BLOCKED || thread.getState() == Thread.State.WAITING)
                && Stream.of(thread.getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals("hiddenBefore"));
    }
}

package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that never had a name (O_TMPFILE). */
class NamelessFileTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private void assertEmpty(MemoryMount mount, String directory) throws StoreException {
        assertThat(mount.list(directory)).isEmpty();
        MemoryStore other = cluster.connect();
        assertThat(other.list(directory, "", 10).entries()).isEmpty();
    }

    @Test
    void tmpfile_isReadAndWrittenAndGoesWithItsHandle() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/d");
            Opened file = mount.requests().tmpfile(mount.lookup("/d").id(), 0600);
            assertThat(file.node().mode() & 0777).isEqualTo(0600);
            assertEmpty(mount, "/d");
            mount.requests().write(file, 0, "content".getBytes(StandardCharsets.UTF_8));
            assertThat(mount.requests().read(file, 0, 100)).asString().isEqualTo("content");
            mount.requests().fsync(file);
            mount.requests().truncate(file.node().id(), 3);
            assertThat(mount.requests().read(file, 0, 100)).asString().isEqualTo("con");
            mount.rmdir("/d");
            assertThat(mount.requests().read(file, 0, 100)).asString().isEqualTo("con");
            mount.requests().flush(file);
            mount.requests().release(file);
            mount.requests().forget(file.node().id(), 1);
            Eventually.holds(
                    "nothing is left",
                    () -> mount.fileSystem().counts().changedFiles() == 0
                            && mount.fileSystem().counts().spoolBytes() == 0);
        }
    }

    @Test
    void tmpfile_thatCannotLoseItsHiddenName_leavesNothingOpen() throws Exception {
        MemoryStore store = cluster.connect();
        try (MemoryMount mount = MemoryMount.of(store).open()) {
            mount.mkdir("/d");
            long directory = mount.lookup("/d").id();
            mount.faults().on(StoreCall.DELETE).fail(Errno.EIO);
            assertThatThrownBy(() -> mount.requests().tmpfile(directory, 0600)).isInstanceOf(FuseFailure.class);
            assertThat(mount.list("/d")).isEmpty();
            assertThat(mount.fileSystem().counts().changedFiles()).isZero();
            Opened file = mount.requests().tmpfile(directory, 0600);
            mount.requests().release(file);
        }
    }

    @Test
    void tmpfile_inDirectoryThatWasRemoved_isRefusedAlsoWhereAnotherOneIsMade() throws Exception {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/d");
            try (MemoryMount.Bound bound = mount.bind("/d")) {
                long removed = bound.stat().id();
                mount.rmdir("/d");
                mount.mkdir("/d");
                assertThatThrownBy(() -> mount.requests().tmpfile(removed, 0600))
                        .isInstanceOfSatisfying(
                                FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
            }
        }
    }

    private static MemoryMount first(MemoryCluster cluster, Path folder) {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
    }

    private static MemoryMount next(MemoryCluster cluster, Path folder, MemoryMount killed) {
        return MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("next"), killed);
    }

    /** The kernel sends the request again, which makes another. */
    @Test
    void tmpfile_whoseAnswerTheKernelNeverGot_leavesNothingInTheNextProcess(@TempDir Path folder) throws Exception {
        try (MemoryMount killed = first(cluster, folder)) {
            Opened lost = killed.requests().tmpfile(FuseRequests.ROOT, 0600);
            Opened known = killed.requests().tmpfile(FuseRequests.ROOT, 0600);
            killed.requests().write(lost, 0, "nobody's".getBytes(StandardCharsets.UTF_8));
            killed.requests().write(known, 0, "content".getBytes(StandardCharsets.UTF_8));
            killed.kill();
            killed.requests().forget(lost.node().id(), 1);
            try (MemoryMount next = next(cluster, folder, killed)) {
                assertThat(next.requests().read(known, 0, 100)).asString().isEqualTo("content");
                Eventually.holds("one is left", () -> next.fileSystem().counts().changedFiles() == 1);
                assertThat(next.requests().read(known, 0, 100)).asString().isEqualTo("content");
                next.requests().release(known);
                next.requests().forget(known.node().id(), 1);
                Eventually.holds(
                        "nothing is left", () -> next.fileSystem().counts().changedFiles() == 0);
            }
            assertEmpty(cluster);
        }
    }

    private static void assertEmpty(MemoryCluster cluster) throws StoreException {
        assertThat(cluster.connect().list("/", "", 10).entries()).isEmpty();
        assertThat(cluster.ufs().list("/")).isEmpty();
    }
}

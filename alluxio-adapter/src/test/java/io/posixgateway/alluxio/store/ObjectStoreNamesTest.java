package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Stat;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that the listings of an object store cannot hold, as they are XML, and those that HDFS refuses. */
class ObjectStoreNamesTest {
    private static final String FORMER_NAME = "%pgw%a%01";

    private static MemoryMount mount(MemoryCluster cluster) {
        return MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\u0001", "a\u001Fb", "\uFFFE", "\uFFFF", FORMER_NAME, "\u0002?", "tab\t", "cr\rlf\n", "\u007F"})
    void everyOperation_takesTheName(String name) {
        takesTheName(MemoryUfs.Kind.OBJECT_STORE, name);
    }

    @ParameterizedTest
    @ValueSource(strings = {":", "a:b", "%pgw%a%3Ab", "::?", "2026-01-02T03:04:05"})
    void everyOperation_inHdfs_takesTheName(String name) {
        takesTheName(MemoryUfs.Kind.HDFS, name);
    }

    private static void takesTheName(MemoryUfs.Kind kind, String name) {
        MemoryCluster cluster = new MemoryCluster(kind);
        try (MemoryMount mount = mount(cluster);
                MemoryMount other = mount(cluster)) {
            mount.write("/" + name, "x");
            mount.mkdir("/" + name + ".d");
            mount.write("/" + name + ".d/" + name, "below");
            mount.rename("/" + name, "/" + name + "2");
            assertThat(mount.list("/")).containsExactlyInAnyOrder(name + "2", name + ".d");
            assertThat(other.list("/")).containsExactlyInAnyOrder(name + "2", name + ".d");
            assertThat(other.list("/" + name + ".d")).containsExactly(name);
            mount.rename("/" + name + ".d", "/" + name);
            assertThat(other.read("/" + name + "/" + name)).isEqualTo("below");
            mount.write("/over", "y");
            mount.rename("/over", "/" + name + "2");
            assertThat(other.read("/" + name + "2")).isEqualTo("y");
            mount.unlink("/" + name + "/" + name);
            mount.rmdir("/" + name);
            mount.unlink("/" + name + "2");
            assertThat(other.list("/")).isEmpty();
            assertThat(cluster.ufs().list("/")).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void name_isStoredEscapedInAnObjectStoreAlone(MemoryUfs.Kind kind) {
        MemoryCluster cluster = new MemoryCluster(kind);
        boolean local = kind != MemoryUfs.Kind.OBJECT_STORE;
        try (MemoryMount mount = mount(cluster)) {
            mount.write("/a\u0001", "x");
            assertThat(cluster.ufs().list("/")).containsExactly(local ? "a\u0001" : FORMER_NAME);
            cluster.ufs().write("/" + FORMER_NAME, new byte[2]);
            assertThat(mount.exists("/" + FORMER_NAME)).isEqualTo(local);
        }
    }

    @Test
    void mountThatGoesOn_findsSuchNamesInItsRoot(@TempDir Path folder) {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryMount before = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("1"), null);
        before.write("/a\u0001", "text");
        before.kill();
        try (MemoryMount after = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("2"), before)) {
            assertThat(after.read("/a\u0001")).isEqualTo("text");
            assertThat(after.list("/")).containsExactly("a\u0001");
        }
    }

    /** Nothing has been asked of its root yet. */
    @Test
    void strictMountThatGoesOn_refusesSuchNamesInItsRoot(@TempDir Path folder) {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        MemoryMount before =
                MemoryMount.of(cluster.connect()).with("names", "strict").openPersistent(folder.resolve("1"), null);
        before.write("/file", "text");
        before.kill();
        try (MemoryMount after =
                MemoryMount.of(cluster.connect()).with("names", "strict").openPersistent(folder.resolve("2"), before)) {
            FuseRequests requests = after.requests();
            for (Runnable making : List.<Runnable>of(
                    () -> requests.create(FuseRequests.ROOT, "a\u0001", 0644, Stat.O_RDWR | Stat.O_CREAT | Stat.O_EXCL),
                    () -> requests.mkdir(FuseRequests.ROOT, "b\u0001", 0755))) {
                assertThatThrownBy(making::run).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                        .isEqualTo(Errno.EINVAL));
            }
            assertThat(cluster.ufs().list("/")).containsExactly("file");
        }
        before.close();
    }

    @Test
    void strict_refusesSuchNames() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.OBJECT_STORE);
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("names", "strict").open()) {
            assertThatThrownBy(() -> mount.write("/a\u0001", "x"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            assertThat(mount.exists("/a\u0001")).isFalse();
        }
    }
}

package io.posixgateway.alluxio.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Shows what a {@link MemoryMount} can do. */
class MemoryMountTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    @Test
    void write_thenRead_returnsWhatWasWrittenAndUfsHasIt() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            mount.mkdir("/folder");
            mount.write("/folder/file", "text");
            assertThat(mount.read("/folder/file")).isEqualTo("text");
            assertThat(mount.list("/folder")).containsExactly("file");
            assertThat(cluster.ufs().read("/folder/file")).asString().isEqualTo("text");
        }
    }

    @Test
    void lookup_withinTtl_asksStoreOnce() {
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("metadata_ttl", "5s").open()) {
            cluster.ufs().write("/file", "text".getBytes(StandardCharsets.UTF_8));
            mount.lookup("/file");
            mount.faults().forgetCounts();
            mount.lookup("/file");
            assertThat(mount.faults().count(StoreCall.STATUS)).isZero();
            cluster.clock().advance(Duration.ofSeconds(5));
            mount.lookup("/file");
            assertThat(mount.faults().count(StoreCall.STATUS)).isEqualTo(1);
        }
    }

    @Test
    void mkdir_whenMasterIsGone_failsWithEio() {
        try (MemoryMount mount = MemoryMount.of(cluster)) {
            cluster.stopMaster();
            assertThatThrownBy(() -> mount.mkdir("/folder"))
                    .isInstanceOfSatisfying(
                            FuseFailure.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO));
            cluster.startMaster();
            mount.mkdir("/folder");
            assertThat(mount.stat("/folder").isDirectory()).isTrue();
        }
    }
}

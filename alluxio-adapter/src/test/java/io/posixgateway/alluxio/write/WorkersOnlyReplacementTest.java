package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.WriteType;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is in workers alone, or in them first, takes the place of a file of the under file system for good. */
class WorkersOnlyReplacementTest {
    private static final String NEW = "new content";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    @ParameterizedTest
    @EnumSource(names = {"MUST_CACHE", "ASYNC_THROUGH"})
    void write_overAFileOfTheUfs_doesNotLetItComeBack(WriteType type) throws Exception {
        cluster.ufs().write("/file", "old".getBytes(StandardCharsets.UTF_8));
        try (MemoryMount mount = MemoryMount.of(cluster.connect(type)).open()) {
            mount.write("/file", NEW);
            cluster.connect().compared("/file");
            mount.dropCaches();
            assertThat(mount.read("/file")).isEqualTo(NEW);
            mount.unlink("/file");
            mount.dropCaches();
            assertThat(mount.exists("/file")).isFalse();
        }
    }
}

package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Master and workers are away: files of the data cache are opened as they were last. */
class LastKnownTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    @BeforeEach
    void write() {
        try (MemoryMount other = MemoryMount.of(cluster)) {
            other.mkdir("/d");
            other.write("/d/f", "old");
            other.write("/d/uncached", "else");
        }
    }

    private MemoryMount.Builder mount() {
        return MemoryMount.of(cluster.connect())
                .with("open_trust", "0")
                .with("cache_dir", above.resolve("cache").toString());
    }

    /** One that has the file in its cache, and knows of the other one. */
    private static MemoryMount cached(MemoryMount.Builder builder) throws Exception {
        MemoryMount mount = builder.open();
        assertThat(mount.read("/d/f")).isEqualTo("old");
        assertThat(mount.lookup("/d/uncached").id()).isPositive();
        Waiting.until(
                "the file is kept",
                PATIENCE,
                () -> Objects.requireNonNull(mount.fileSystem().details().cache())
                                .pieces()
                        == 1);
        return mount;
    }

    private void stopAll() {
        cluster.stopMaster();
        cluster.workers().forEach(MemoryWorker::stop);
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    private static long staleOpens(MemoryMount mount) {
        return mount.fileSystem().details().staleOpens();
    }

    @Test
    void open_ofCachedFile_isOfTheVersionKnownLast_untilTheTimeIsOver() throws Exception {
        try (MemoryMount mount = cached(mount())) {
            assertThat(staleOpens(mount)).isZero();
            stopAll();
            cluster.clock().advance(Duration.ofMinutes(9));
            assertThat(mount.read("/d/f")).isEqualTo("old");
            assertThat(staleOpens(mount)).isEqualTo(1);
            cluster.clock().advance(Duration.ofMinutes(1));
            failsWithEio(() -> mount.read("/d/f"));
            assertThat(staleOpens(mount)).isEqualTo(1);
        }
    }

    @Test
    void open_ofFileOutsideTheCache_fails() throws Exception {
        try (MemoryMount mount = cached(mount())) {
            stopAll();
            cluster.clock().advance(Duration.ofMinutes(1));
            failsWithEio(() -> mount.lookup("/d/uncached"));
            assertThat(mount.read("/d/f")).isEqualTo("old");
        }
    }

    @Test
    void open_onceTheMasterAnswers_isOfTheNewVersion() throws Exception {
        try (MemoryMount mount = cached(mount())) {
            stopAll();
            cluster.clock().advance(Duration.ofMinutes(1));
            assertThat(mount.read("/d/f")).isEqualTo("old");
            cluster.workers().forEach(MemoryWorker::resume);
            cluster.startMaster();
            try (MemoryMount other = MemoryMount.of(cluster)) {
                other.write("/d/f", "new");
            }
            cluster.clock().advance(Duration.ofSeconds(6));
            assertThat(mount.read("/d/f")).isEqualTo("new");
            assertThat(staleOpens(mount)).isEqualTo(1);
        }
    }

    /** A silence that was found once is looked for again soon. */
    @Test
    void open_onceTheMasterAnswers_isOfTheNewVersion_howeverLongAttributesAreTrusted() throws Exception {
        MemoryMount.Builder trusting =
                mount().with("open_trust", "1h").with("metadata_ttl", "1h").with("stale_while_away", "3h");
        try (MemoryMount mount = cached(trusting)) {
            stopAll();
            cluster.clock().advance(Duration.ofMinutes(61));
            assertThat(mount.read("/d/f")).isEqualTo("old");
            cluster.workers().forEach(MemoryWorker::resume);
            cluster.startMaster();
            try (MemoryMount other = MemoryMount.of(cluster)) {
                other.write("/d/f", "new");
            }
            cluster.clock().advance(Duration.ofSeconds(6));
            assertThat(mount.read("/d/f")).isEqualTo("new");
        }
    }

    @Test
    void openToWrite_fails() throws Exception {
        try (MemoryMount mount = cached(mount())) {
            stopAll();
            cluster.clock().advance(Duration.ofMinutes(1));
            failsWithEio(() -> mount.write("/d/f", "mine"));
        }
    }

    @Test
    void open_withoutTheOption_fails() throws Exception {
        try (MemoryMount mount = cached(mount().with("stale_while_away", "0"))) {
            stopAll();
            cluster.clock().advance(Duration.ofMinutes(1));
            failsWithEio(() -> mount.read("/d/f"));
        }
    }
}

package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseRequests.Stated;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.spi.Stat;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A change that leaves the spool file as it is: the next process shows its time, too, not that of an earlier write. */
class UnchangedSpoolTest {
    private static final Duration GIVEN = Duration.ofDays(1);
    private static final String TEXT = "text";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final Path folder;

    UnchangedSpoolTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private void keepsItsTime(BiConsumer<MemoryMount, OpenFile> change) {
        try (MemoryMount killed = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null)) {
            OpenFile file = killed.create("/file").write(TEXT);
            file.fsync();
            long node = file.opened().node().id();
            killed.requests().setModified(node, GIVEN);
            cluster.clock().advance(Duration.ofSeconds(5));
            change.accept(killed, file);
            Stated shown = killed.requests().stat(node);
            assertThat(shown.modified().getEpochSecond()).isNotEqualTo(GIVEN.toSeconds());
            killed.kill();
            try (MemoryMount next = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("next"), killed)) {
                Stated then = next.requests().stat(node);
                assertThat(then.modified()).isEqualTo(shown.modified());
                assertThat(then.changed()).isEqualTo(shown.changed());
            }
        }
    }

    @Test
    void truncate_toTheSameLength_keepsItsTimeAcrossATakeover() {
        keepsItsTime((mount, file) -> file.truncate(TEXT.length()));
    }

    @Test
    void fallocate_ofAHoleBehindTheEnd_keepsItsTimeAcrossATakeover() {
        int hole = Stat.FALLOC_PUNCH_HOLE | Stat.FALLOC_KEEP_SIZE;
        keepsItsTime((mount, file) -> mount.requests().fallocate(file.opened(), hole, 100, 10));
    }

    @Test
    void fallocate_ofWhatIsThere_keepsItsTimeAcrossATakeover() {
        keepsItsTime((mount, file) -> mount.requests().fallocate(file.opened(), 0, 0, 2));
    }
}

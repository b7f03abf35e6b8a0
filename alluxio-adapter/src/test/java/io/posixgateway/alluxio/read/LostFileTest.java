package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.mounted.LogLines;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.MemoryWorker;
import io.posixgateway.alluxio.store.WriteType;
import io.posixgateway.fuse.spi.Errno;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A file that was in workers only, and whose worker is gone: Alluxio calls it LOST. */
class LostFileTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 2, 64 << 20, null);
    private final MemoryWorker worker = cluster.workers().get(0);
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect(WriteType.MUST_CACHE)).open();

    @AfterEach
    void unmount() {
        mount.close();
    }

    @Test
    void read_ofLostFile_isEioAndTheLogSaysLostAndWhatToDo() {
        mount.write("/file", "in one worker");
        worker.kill();
        cluster.detectLostFiles();
        try (LogLines log = new LogLines();
                OpenFile open = mount.open("/file")) {
            assertThat(open.lengthBytes()).isEqualTo(13);
            assertThatThrownBy(open::readAll).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                    .isEqualTo(Errno.EIO));
            List<String> lines = log.with("failed with EIO");
            assertThat(lines)
                    .singleElement()
                    .asString()
                    .contains("/file", "LOST", "Restart the worker", "write_type=CACHE_THROUGH");
        }
    }

    /** Alluxio keeps the mark when the worker comes back, with its blocks. */
    @Test
    void read_ofLostFileWhoseBlocksAreBack_returnsThem() {
        mount.write("/file", "in one worker");
        worker.stop();
        cluster.detectLostFiles();
        worker.resume();
        assertThat(mount.read("/file")).isEqualTo("in one worker");
    }

    @Test
    void write_ofWholeLostFile_makesItReadable() {
        mount.write("/file", "in one worker");
        worker.kill();
        cluster.detectLostFiles();
        mount.write("/file", "anew");
        assertThat(mount.read("/file")).isEqualTo("anew");
    }
}

package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.AdapterOptions;
import io.posixgateway.alluxio.AlluxioMount;
import io.posixgateway.alluxio.AlluxioOptions;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A small worker, and files that are nowhere else. */
class WorkerFullIT {
    private static final long WORKER_BYTES = 48L << 20;

    @Test
    void workersThatAreFullAreSaidAndTakeWhatFits(@TempDir Path spool) throws Exception {
        byte[] old = new byte[1_000_000];
        new Random(1).nextBytes(old);
        AdapterOptions options = AdapterOptions.of(
                AdapterOptions.TABLE.read(Map.of("write_type", "MUST_CACHE", "spool", spool.toString())));
        try (EmbeddedAlluxio alluxio =
                        EmbeddedAlluxio.start(EmbeddedOptions.defaults().withWorkers(1, WORKER_BYTES));
                MountedFileSystem mounted = MountedFileSystem.mount(
                        AlluxioMount.open(AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"), options),
                        TransportChoice.AUTO)) {
            Eventually.holds("a worker has room", () -> mounted.root().toFile().getTotalSpace() > 0);
            Path file = Files.write(mounted.root().resolve("file"), old);
            Path large = mounted.root().resolve("large");
            assertThatThrownBy(() -> Files.write(large, new byte[(int) WORKER_BYTES + 1]))
                    .hasMessageContaining("No space left");
            assertThat(large).doesNotExist();
            assertThatThrownBy(() -> Files.write(file, new byte[(int) WORKER_BYTES + 1]))
                    .hasMessageContaining("No space left");
            assertThat(Files.size(file)).as("the old file").isEqualTo(old.length);
            byte[] fitting = new byte[2_000_000];
            Files.write(file, fitting);
            assertThat(file).hasBinaryContent(fitting);
        }
    }
}

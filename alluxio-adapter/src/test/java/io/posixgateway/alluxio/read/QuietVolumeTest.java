package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.AsyncCall;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreFaults.Held;
import io.posixgateway.fuse.conformance.Eventually;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two volumes of one process: what waits in the one does not hold up the other. */
class QuietVolumeTest {
    private static final int READERS = 64;
    private static final int READS = 200;
    /** Of the pool of a mount without a kernel. */
    private static final int THREADS = 16;

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    private MemoryMount volume() {
        return MemoryMount.of(cluster.connect()).with("metadata_ttl", "1h").open();
    }

    @Test
    void read_while64ReadersOfAnotherVolumeWaitForAWorker_waitsForNothing() throws Exception {
        for (int i = 0; i < READERS; i++) {
            cluster.ufs().write("/busy-" + i, ("busy " + i).getBytes(StandardCharsets.US_ASCII));
        }
        cluster.ufs().write("/quiet", "quiet".getBytes(StandardCharsets.US_ASCII));
        try (MemoryMount busy = volume();
                MemoryMount quiet = volume()) {
            Held worker = busy.faults().on(StoreCall.READ).always().hold();
            List<AsyncCall> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                String name = "busy-" + i;
                readers.add(AsyncCall.start(() -> busy.read("/" + name)));
            }
            worker.await();
            Eventually.holds(
                    "as many wait as the pool has threads", () -> busy.faults().count(StoreCall.READ) >= THREADS);
            long began = cluster.clock().nanos();
            for (int i = 0; i < READS; i++) {
                assertThat(quiet.read("/quiet")).isEqualTo("quiet");
            }
            assertThat(cluster.clock().nanos()).as("no time passed").isEqualTo(began);
            assertThat(quiet.faults().count(StoreCall.READ)).isGreaterThanOrEqualTo(READS);
            assertThat(readers).noneMatch(AsyncCall::isDone);
            worker.open();
            for (AsyncCall reader : readers) {
                reader.await();
            }
        }
    }
}

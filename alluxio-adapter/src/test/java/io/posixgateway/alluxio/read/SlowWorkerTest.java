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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A worker answers late, or not at all: who reads files that others hold does not wait for it. */
class SlowWorkerTest {
    /** More than the pool of a mount without a kernel has threads, and fewer than it may have at last. */
    private static final int READERS = 40;
    /** Fewer than the pool has. */
    private static final int FEW = 10;

    private static final int OTHERS = 8;
    /** After that a thread of the pool that hangs no longer counts. */
    private static final Duration STUCK = Duration.ofSeconds(1);

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MemoryMount mount;

    @BeforeEach
    void mount() {
        for (int i = 0; i < READERS; i++) {
            cluster.ufs().write("/" + i + "-slow", content("slow", i));
            cluster.ufs().write("/" + i + "-other", content("other", i));
        }
        mount = MemoryMount.of(cluster);
    }

    @AfterEach
    void unmount() {
        mount.close();
    }

    private static byte[] content(String kind, int number) {
        return (kind + " " + number).getBytes(StandardCharsets.US_ASCII);
    }

    private List<AsyncCall> read(String kind, int count) {
        List<AsyncCall> calls = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            calls.add(AsyncCall.start(
                    () -> assertThat(mount.read("/" + number + "-" + kind)).isEqualTo(kind + " " + number)));
        }
        return calls;
    }

    private static void awaitAll(List<AsyncCall> calls) throws Exception {
        for (AsyncCall call : calls) {
            call.await();
        }
    }

    private Held slow() {
        mount.faults().forgetCounts();
        return mount.faults().on(StoreCall.READ).at("-slow").always().hold();
    }

    private void awaitReads(int count) throws InterruptedException {
        Eventually.holds(count + " reads wait", () -> mount.faults().count(StoreCall.READ) >= count);
    }

    @Test
    void read_whileFewReadsOfAnotherWorkerAreSlow_doesNotWait() throws Exception {
        Held worker = slow();
        List<AsyncCall> slow = read("slow", FEW);
        awaitReads(FEW);
        long began = cluster.clock().nanos();
        awaitAll(read("other", OTHERS));
        assertThat(cluster.clock().nanos()).isEqualTo(began);
        assertThat(slow).noneMatch(AsyncCall::isDone);
        worker.open();
        awaitAll(slow);
    }

    @Test
    void read_whileMoreReadsHangThanThePoolHasThreads_continuesOnceTheyAreStuck() throws Exception {
        Held worker = slow();
        List<AsyncCall> slow = read("slow", READERS);
        worker.await();
        List<AsyncCall> others = read("other", OTHERS);
        Eventually.holds("others read", () -> {
            cluster.clock().advance(STUCK);
            return others.stream().allMatch(AsyncCall::isDone);
        });
        awaitAll(others);
        assertThat(slow).noneMatch(AsyncCall::isDone);
        worker.open();
        awaitAll(slow);
    }
}

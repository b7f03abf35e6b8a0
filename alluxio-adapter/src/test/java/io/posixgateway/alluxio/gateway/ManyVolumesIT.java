package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.control.proto.DetachRequest;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Report;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many volumes in one process: what they cost, and that one cannot starve another. */
class ManyVolumesIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int VOLUMES = 50;
    private static final int MAX_RSS_KB = 1_000_000;
    /** Far more than the volume has threads. */
    private static final int GREEDY = 150;

    private static final int READS = 100;
    private static final int MAX_SLOWER = 5;
    private static final long GRACE_MILLIS = 5000;

    @TempDir
    private static Path folder = Path.of("");

    private static TestDirectory own;
    private static Node node;

    @BeforeAll
    static void start() throws Exception {
        Built.keeper();
        own = Clusters.directory(Clusters.oneWorker());
        Files.writeString(own.ufs().resolve("file"), "content");
        node = new Node(folder);
        node.awaitReady();
    }

    @AfterAll
    static void stop() throws Exception {
        if (node != null) {
            node.close();
        }
    }

    @Test
    void fifty_volumes_fit_into_a_process_and_come_and_go_quickly() throws Exception {
        List<Long> attached = new ArrayList<>();
        for (int i = 0; i < VOLUMES; i++) {
            Path mount = node.mount("v" + i);
            long began = System.nanoTime();
            node.control().attach(Node.request("v" + i, own));
            attached.add((System.nanoTime() - began) / 1_000_000);
            assertThat(mount.resolve("file")).hasContent("content");
        }
        long residentKb = node.gateway().residentKb();
        new Report("volumes")
                .with("volumes", VOLUMES)
                .with("resident_kb", residentKb)
                .withMillis("attach", attached)
                .tell();
        assertThat(residentKb).isLessThan(MAX_RSS_KB);
        for (int i = 0; i < VOLUMES; i++) {
            node.control().detach(DetachRequest.newBuilder().setVolume("v" + i).build());
            node.unmount("v" + i);
        }
    }

    @Test
    void a_volume_whose_alluxio_hangs_under_load_takes_nothing_from_its_neighbour() throws Exception {
        try (StoppableProxy proxy = new StoppableProxy(own.masters())) {
            Path greedy = node.mount("greedy");
            Path modest = node.mount("modest");
            node.control().attach(Node.request("greedy", proxy.address(), own.path()));
            node.control()
                    .attach(Node.request("modest", own).toBuilder()
                            .putOptions("metadata_ttl", "0")
                            .build());
            assertThat(greedy.resolve("file")).hasContent("content");
            readTimes(modest, READS);
            long aloneMillis = readTimes(modest, READS);
            proxy.stop();
            AtomicInteger answered = pruneCandidates(greedy);
            long besideMillis = readTimes(modest, READS);
            new Report("neighbour")
                    .with("reads", READS)
                    .with("alone_ms", aloneMillis)
                    .with("beside_a_crowd_that_hangs_ms", besideMillis)
                    .with("of_the_crowd_answered", answered.get())
                    .tell();
            assertThat(besideMillis).isLessThan(MAX_SLOWER * aloneMillis + GRACE_MILLIS);
            proxy.go();
            Waiting.until("the crowd is answered", LIMIT, () -> answered.get() == GREEDY);
        }
        for (String volume : List.of("greedy", "modest")) {
            node.control().detach(DetachRequest.newBuilder().setVolume(volume).build());
            node.unmount(volume);
        }
    }

    private static long readTimes(Path mount, int times) {
        long began = System.nanoTime();
        for (int i = 0; i < times; i++) {
            assertThat(mount.resolve("file")).hasContent("content");
        }
        return (System.nanoTime() - began) / 1_000_000;
    }

    /** Threads that ask, each for a name of its own, and how many of them have an answer. */
    private static AtomicInteger pruneCandidates(Path mount) throws Exception {
        AtomicInteger asking = new AtomicInteger();
        AtomicInteger answered = new AtomicInteger();
        for (int i = 0; i < GREEDY; i++) {
            Path nowhere = mount.resolve("name-" + i);
            Thread thread = new Thread(() -> {
                asking.incrementAndGet();
                Files.exists(nowhere);
                answered.incrementAndGet();
            });
            thread.setDaemon(true);
            thread.start();
        }
        Waiting.until("the crowd asks", LIMIT, () -> asking.get() == GREEDY);
        return answered;
    }
}

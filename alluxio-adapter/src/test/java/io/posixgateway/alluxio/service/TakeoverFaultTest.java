package io.posixgateway.alluxio.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Load;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Waiting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * kill -9 of the gateway again and again under readers and a writer: programs see a pause, never a failure or a wrong byte.
 *
 * <p>{@code -Dpgw.kills=N} sets how often (3 by default, 20 in {@code make fault}).
 */
class TakeoverFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int KILLS = Integer.getInteger("pgw.kills", 3);
    private static final int READERS = Integer.getInteger("pgw.readers", 4);
    private static final int WRITERS = Integer.getInteger("pgw.writers", 1);
    private static final long READS_BETWEEN = 200;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void programs_see_a_pause_and_nothing_else() throws Exception {
        Built.keeper();
        try (EmbeddedAlluxio alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults());
                Node node = new Node(folder)) {
            Load.prepare(Files.createDirectory(alluxio.ufs().resolve("load")));
            node.awaitReady();
            Path mount = node.mount("vol");
            node.control().attach(Node.request("vol", alluxio.masters(), "/load"));
            try (Load load = Load.start(mount, READERS, WRITERS)) {
                List<Long> pauses = new ArrayList<>();
                for (int kill = 1; kill <= KILLS; kill++) {
                    awaitWork(load);
                    load.takeLongestMillis();
                    node.killAndRestartGateway();
                    node.awaitReady();
                    awaitWork(load);
                    pauses.add(load.takeLongestMillis());
                }
                load.stop();
                Collections.sort(pauses);
                System.out.printf(
                        "takeover: %d kills, %d reads, %d writes, %d failed, pause of readers median %d ms, max %d ms%n",
                        KILLS,
                        load.reads(),
                        load.writes(),
                        load.failures().size(),
                        pauses.get(KILLS / 2),
                        pauses.get(KILLS - 1));
                assertThat(load.failures()).isEmpty();
            }
        }
    }

    /** Until readers and writers have done something since now. */
    private static void awaitWork(Load load) throws Exception {
        long reads = load.reads() + READS_BETWEEN;
        long writes = load.writes() + 2L * WRITERS;
        Waiting.until("the load goes on", LIMIT, () -> load.reads() > reads && load.writes() > writes);
    }
}

package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long a program waits that reads a file of a mount whose gateway has just begun to start: from the start of the process
 * to the attributes of the file, which come from Alluxio's master, and to its bytes.
 */
class StartBench {
    private static final int ROUNDS = Integer.getInteger("pgw.rounds", 20);

    @TempDir
    private Path folder = Path.of("");

    @Test
    void from_the_start_to_the_first_served_request() throws Exception {
        Built.keeper();
        try (EmbeddedAlluxio alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults());
                Node node = new Node(folder)) {
            Files.write(Files.createDirectory(alluxio.ufs().resolve("start")).resolve("file"), new byte[100_000]);
            node.awaitReady();
            Path file = node.mount("start").resolve("file");
            node.control()
                    .attach(Node.request("start", alluxio.masters(), "/start").toBuilder()
                            .putOptions("metadata_ttl", "0")
                            .build());
            List<Long> first = new ArrayList<>();
            List<Long> read = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                Files.size(file);
                node.stopGateway();
                long began = System.nanoTime();
                node.startNextGateway();
                Files.size(file);
                first.add((System.nanoTime() - began) / 1_000_000);
                Files.readAllBytes(file);
                read.add((System.nanoTime() - began) / 1_000_000);
                node.prepareNextGateway();
                node.awaitReady();
            }
            new Report("start")
                    .with("rounds", ROUNDS)
                    .withMillis("first_request", first)
                    .withMillis("first_file_read", read)
                    .tell();
        }
    }
}

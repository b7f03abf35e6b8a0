package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Program;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Half a gateway is worse than none: without memory it ends, and says why. */
class OutOfMemoryFaultTest {
    private static final int OUT_OF_MEMORY = 3;

    @Test
    void a_gateway_whose_heap_is_full_ends(@TempDir Path folder) throws Exception {
        try (Program gateway = Program.start(
                folder,
                List.of(
                        "/usr/bin/env",
                        "POSIX_GATEWAY_HEAP=8m",
                        "POSIX_GATEWAY_JAVA_OPTS=-Xms4m",
                        Built.gateway().toString(),
                        "serve",
                        "--socket",
                        folder.resolve("control.sock").toString(),
                        "--keeper",
                        folder.resolve("keeper.sock").toString(),
                        "--http",
                        "127.0.0.1:0",
                        "--rehearse"))) {
            assertThat(gateway.await(Duration.ofMinutes(2)))
                    .as(gateway.output())
                    .isEqualTo(OUT_OF_MEMORY);
            assertThat(gateway.output()).contains("OutOfMemoryError");
        }
    }
}

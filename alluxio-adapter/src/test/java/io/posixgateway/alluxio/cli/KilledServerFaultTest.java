package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.Waiting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mount without a keeper ends with its process, however that ends. */
class KilledServerFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @ParameterizedTest
    @ValueSource(strings = {"devfuse", "libfuse"})
    void after_kill_9_nothing_stays_mounted(String transport, @TempDir Path folder) throws Exception {
        Path mount = Files.createDirectory(folder.resolve("mnt"));
        try (Program server =
                Program.gateway(folder, "testfs", "memory", mount.toString(), "-f", "--transport", transport)) {
            server.awaitOutput("transport " + transport, LIMIT);
            Files.writeString(mount.resolve("file"), "text");
            assertThat(Mounts.isMounted(mount)).isTrue();
            server.kill();
            Waiting.until("unmounted after kill -9", LIMIT, () -> !Mounts.isMounted(mount));
        } finally {
            Mounts.discard(mount);
        }
    }
}

package io.posixgateway.alluxio.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Alluxio's servers start, serve its own shell, and end with their parent however that ends. */
class EmbeddedAlluxioIT {
    /** A process that starts Alluxio, says where, and waits to be killed. */
    static final class Parent {
        private Parent() {}

        public static void main(String[] arguments) throws Exception {
            EmbeddedAlluxio alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults());
            Files.writeString(alluxio.ufs().resolve("greeting"), "hello from below");
            System.out.println(
                    "SHELL " + alluxio.shell("cat", "/greeting").output().trim());
            System.out.println("FOLDER " + alluxio.ufs().getParent());
            System.out.flush();
            Thread.sleep(TimeUnit.MINUTES.toMillis(5));
            alluxio.close();
        }
    }

    @Test
    void theServersEndWithAParentThatIsKilled() throws Exception {
        Process parent = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Parent.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader output = parent.inputReader()) {
            assertThat(output.readLine()).isEqualTo("SHELL hello from below");
            String folder = String.valueOf(output.readLine()).substring("FOLDER ".length());
            List<ProcessHandle> servers = parent.children().toList();
            assertThat(servers).hasSize(2);
            parent.destroyForcibly();
            for (ProcessHandle server : servers) {
                server.onExit().get(60, TimeUnit.SECONDS);
            }
            Waiting.until("their folder is gone", Duration.ofMinutes(1), () -> Files.notExists(Path.of(folder)));
        } finally {
            parent.destroyForcibly();
        }
    }
}

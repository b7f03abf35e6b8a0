package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The next gateway has another spool, while a program has a changed file open. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MovedSpoolFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** Writes; told so, writes more; told so, calls fsync; and says so each time. */
    private static final String WRITER = """
            import os, sys
            fd = os.open(sys.argv[1], os.O_WRONLY)
            os.write(fd, b'first')
            print('written', flush=True)
            sys.stdin.readline()
            os.write(fd, b', second')
            os.fsync(fd)
            print('synced', flush=True)
            sys.stdin.readline()
            """;

    @TempDir
    private Path folder = Path.of("");

    @Test
    void whatWasWritten_isNotAcknowledgedFromAnotherSpool_andIsThereFromTheFirst() throws Exception {
        Built.keeper();
        TestDirectory own = Clusters.directory(Clusters.killable());
        own.store("f", "old content".getBytes(StandardCharsets.UTF_8));
        try (Node node = new Node(folder)) {
            node.awaitReady();
            Path mount = node.mount("one");
            node.control().attach(Node.request("one", own));
            Process writer = new ProcessBuilder(
                            "python3", "-c", WRITER, mount.resolve("f").toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader says =
                    new BufferedReader(new InputStreamReader(writer.getInputStream(), StandardCharsets.UTF_8))) {
                assertThat(says.readLine()).isEqualTo("written");
                node.spoolAt(folder.resolve("big"));
                node.gateway().kill();
                node.startNextGateway();
                Waiting.until("the session is refused, or served", LIMIT, () -> {
                    String said = node.gateway().output();
                    return said.contains("cannot be served from") || said.contains("Volume one serves");
                });
                writer.getOutputStream().write('\n');
                writer.getOutputStream().flush();
                assertThat(node.gateway().output()).doesNotContain("Volume one serves");
                node.spoolAt(folder.resolve("spool"));
                node.gateway().kill();
                node.startNextGateway();
                node.awaitReady();
                assertThat(says.readLine()).isEqualTo("synced");
                assertThat(own.stored("f")).asString().isEqualTo("first, second");
            } finally {
                writer.destroyForcibly();
            }
        }
    }
}

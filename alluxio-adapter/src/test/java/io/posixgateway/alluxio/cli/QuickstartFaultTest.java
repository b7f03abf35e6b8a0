package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.fuse.conformance.Command;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of README.md and docs/quickstart-host.md, each run as it stands there; a gateway is killed by one of them. Those of
 * make are run by {@code make test} itself, those of Kubernetes by e2e/cases/14-page.sh; {@code .ci/docs.py} has them all.
 */
class QuickstartFaultTest {
    private static final int LIMIT_SECONDS = 300;
    /** What "localhost" is for these commands, so that an Alluxio of this machine is left alone. */
    private static final String LOCALHOST = "127.83.19.98";

    private static final String NOTHING_LEFT = "timeout 60 bash -c 'while pgrep -f posix-gateway-keepe[r] || find"
            + " /run/posix-gateway -name \"mount-*\" | grep .; do sleep 0.1; done' && echo 'nothing is left'";

    @TempDir
    private Path folder = Path.of("");

    /** Neither an end as it should be nor one after kill -9 leaves a socket, a record, a lock or a keeper. */
    @Test
    void quickstart_onHost_readsItsFileThoughTheGatewayIsKilled_andLeavesNothing() throws Exception {
        Built.keeper();
        List<String> commands = new ArrayList<>(commandsOf("docs/quickstart-host.md"));
        commands.add(NOTHING_LEFT);
        commands.add(only(commands, "posix-gateway mount"));
        commands.add(only(commands, "kill -9"));
        commands.add(only(commands, "posix-gateway umount"));
        commands.add(NOTHING_LEFT);
        String said = run(commands);
        assertThat(said.lines().filter("hello"::equals)).as(said).hasSize(2);
        assertThat(said.lines().filter("nothing is left"::equals)).as(said).hasSize(2);
    }

    private static String only(List<String> commands, String beginning) {
        return commands.stream()
                .filter(line -> line.startsWith(beginning))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void readme_onHost_mounts() throws Exception {
        String said = run(commandsOf("README.md"));
        assertThat(said).contains("alluxio://localhost:19998/ is mounted at /mnt/alluxio");
    }

    private String run(List<String> commands) throws Exception {
        assumeTrue(Built.isRoot(), "these mount as root");
        Built.gateway();
        assertThat(commands).isNotEmpty();
        Path script = Files.write(folder.resolve("commands"), commands);
        URL runner = Objects.requireNonNull(QuickstartFaultTest.class.getResource("/quickstart.sh"));
        String masters = Clusters.killable().masters();
        try (StoppableProxy way = new StoppableProxy(LOCALHOST + ":19998", masters)) {
            assertThat(way.address()).endsWith(":19998");
            String[] words = {
                "unshare",
                "--mount",
                "--pid",
                "--fork",
                "--mount-proc",
                "bash",
                Path.of(runner.toURI()).toString(),
                Built.root().toString(),
                script.toString(),
                LOCALHOST
            };
            String said = Command.run(LIMIT_SECONDS, words);
            assertThat(said).endsWith("done\n");
            return said;
        }
    }

    private static List<String> commandsOf(String page) throws IOException {
        List<String> commands = new ArrayList<>();
        boolean inside = false;
        for (String line : Files.readAllLines(Built.root().resolve(page))) {
            if (line.startsWith("```")) {
                inside = line.equals("```sh");
            } else if (inside && !line.matches("(make|helm|kubectl) .*")) {
                commands.add(line);
            }
        }
        return commands;
    }
}

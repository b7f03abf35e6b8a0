package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.Command;
import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs with the bypass library when the gateway is killed: they go on, and files opened later are bypassed again. */
class BypassFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Pattern OPENS =
            Pattern.compile("^posix_gateway_bypass_opens_total\\{[^}]*} ([0-9.E]+)$", Pattern.MULTILINE);

    @TempDir
    private Path folder = Path.of("");

    /** 0: or the gateway that begins has no page yet. */
    private static double opens(Node node) throws Exception {
        try {
            Matcher found = OPENS.matcher(node.page("/metrics").body());
            return found.find() ? Double.parseDouble(found.group(1)) : 0;
        } catch (ConnectException e) {
            return 0;
        }
    }

    @Test
    void programs_go_on_when_the_gateway_is_killed_and_bypass_its_successor() throws Exception {
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root can give block files away read-only");
        String script = Built.root()
                .resolve("fuse-core/src/test/python/bypass/endless.py")
                .toString();
        TestDirectory own = Clusters.directory(Clusters.killable());
        try (Node node = new Node(folder)) {
            node.awaitReady();
            Path mount = node.mount("vol");
            node.control()
                    .attach(Node.request("vol", own).toBuilder()
                            .putOptions("bypass", "on")
                            .putOptions("passthrough", "off")
                            .putOptions("consistency", "immutable")
                            .build());
            Command.run(120, "python3", script, "fill", mount.toString());
            Path bypass = folder.resolve("bypass");
            try (Command readers = new Command(
                    "env",
                    "LD_PRELOAD=" + bypass.resolve("libposixgw-bypass.so"),
                    "POSIX_GATEWAY_BYPASS=" + bypass.resolve("socket"),
                    "python3",
                    script,
                    "read",
                    mount.toString())) {
                for (int kills = 0; kills < 3; kills++) {
                    Waiting.until("files are bypassed", LIMIT, () -> opens(node) > 10);
                    node.killAndRestartGateway();
                    node.awaitReady();
                }
                Waiting.until("files are bypassed", LIMIT, () -> opens(node) > 10);
                readers.tell("stop");
                assertThat(readers.await(120)).as(readers::output).isZero();
                assertThat(readers.output()).contains("rounds without a fault");
            }
        }
    }
}

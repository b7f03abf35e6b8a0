package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metric of how long programs waited for a takeover. */
class TakeoverSecondsFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Pattern SECONDS = Pattern.compile("posix_gateway_takeover_seconds\\{[^}]*} (\\S+)");

    @TempDir
    private Path folder = Path.of("");

    @Test
    void takeoverSeconds_ofAStandby_excludeTheTimeForWhichItWaited() throws Exception {
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        TestDirectory own = Clusters.directory(Clusters.killable());
        try (Node node = new Node(folder)) {
            node.awaitReady();
            node.mount("volume");
            node.control().attach(Node.request("volume", own));
            node.startWaitingGateway();
            long before = Clock.system().nanos();
            node.killGatewayBeforeTheWaiting();
            node.awaitReady();
            double waited = (Clock.system().nanos() - before) / 1e9;
            double[] seconds = {0};
            Waiting.until("the takeover is measured", LIMIT, () -> {
                Matcher found = SECONDS.matcher(node.page("/metrics").body());
                seconds[0] = found.find() ? Double.parseDouble(found.group(1)) : 0;
                return seconds[0] > 0;
            });
            assertThat(seconds[0]).isLessThanOrEqualTo(waited);
            node.unmount("volume");
        }
    }
}

package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.control.proto.InvalidateReply;
import io.posixgateway.alluxio.control.proto.InvalidateRequest;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.FuseCalls;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Pause;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The kernel waits with a notification until requests are answered: whoever waits there with it cannot be killed. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NotificationFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder = Path.of("");

    @Test
    void a_gateway_that_is_killed_while_a_notification_waits_for_its_answer_ends_and_the_next_one_answers()
            throws Exception {
        Built.keeper();
        EmbeddedAlluxio alluxio = Clusters.killable();
        TestDirectory own = Clusters.directory(alluxio);
        try (Node node = new Node(folder)) {
            Path ufs = Files.createDirectory(own.ufs().resolve("dir"));
            Files.writeString(ufs.resolve("old"), "old");
            node.awaitReady();
            Path mount = node.mount("noticed");
            node.control().attach(Node.request("noticed", own));
            assertThat(mount.resolve("dir/old")).hasContent("old");

            String made = mount.resolve("dir/new").toString();
            try (Pause standing = Pause.of(alluxio.master());
                    Program program = Program.start(folder, List.of("/bin/sh", "-c", "echo new > \"$0\"", made))) {
                FuseCalls.awaitAny(program.pid()); // it has the directory's lock
                InvalidateRequest old = InvalidateRequest.newBuilder()
                        .setVolume("noticed")
                        .setPath("/dir/old")
                        .build();
                CompletableFuture<InvalidateReply> notification =
                        CompletableFuture.supplyAsync(() -> node.control().invalidate(old));
                assertThatThrownBy(() -> notification.get(1, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);

                node.killAndRestartGateway(); // fails when it does not end
                node.awaitReady();
                assertThat(program.isAlive()).isTrue();
                standing.end();
                assertThat(program.await(LIMIT)).as(program.output()).isZero();
            }
            assertThat(mount.resolve("dir/new")).hasContent("new\n");
            assertThat(mount.resolve("dir/old")).hasContent("old");
        }
    }
}

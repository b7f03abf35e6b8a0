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
import io.posixgateway.alluxio.harness.Waiting;
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

/**
 * While no keeper is there, a child of the gateway writes notifications. One that waits in the kernel cannot be killed, and holds the last
 * descriptor of the connection when the gateway is.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NotificationWriterFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder = Path.of("");

    @Test
    void killedGateway_whoseChildWaitsWithANotification_leavesNobodyHanging() throws Exception {
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
                node.killKeeper();
                InvalidateRequest old = InvalidateRequest.newBuilder()
                        .setVolume("noticed")
                        .setPath("/dir/old")
                        .build();
                CompletableFuture<InvalidateReply> notification =
                        CompletableFuture.supplyAsync(() -> node.control().invalidate(old));
                ProcessHandle child = awaitChild(node.gateway().pid());
                assertThatThrownBy(() -> notification.get(1, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);

                node.gateway().kill(); // fails when it does not end
                assertThat(child.isAlive()).as("the child, in the kernel").isTrue();
                assertThat(program.isAlive()).isTrue();
                node.startNextKeeper();
                assertThat(program.await(LIMIT)).as(program.output()).isNotZero();
                Waiting.until("the child ends", LIMIT, () -> !child.isAlive());
                standing.end();
            }
        }
    }

    private static ProcessHandle awaitChild(long gateway) throws Exception {
        ProcessHandle process = ProcessHandle.of(gateway).orElseThrow();
        Waiting.until("a child writes notices", LIMIT, () -> process.descendants()
                .anyMatch(NotificationWriterFaultTest::writes));
        return process.descendants()
                .filter(NotificationWriterFaultTest::writes)
                .findFirst()
                .orElseThrow();
    }

    private static boolean writes(ProcessHandle process) {
        return process.info().command().orElse("").contains("pgw-notice-writer");
    }
}

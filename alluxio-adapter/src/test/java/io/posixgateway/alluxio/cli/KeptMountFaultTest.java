package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code posix-gateway mount --keeper}: one mount that outlives its process. */
class KeptMountFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @Test
    void programs_wait_for_the_same_command_after_kill_9_and_an_unmount_ends_all(@TempDir Path folder)
            throws Exception {
        Path keeperProgram = Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        Path mount = Files.createDirectory(folder.resolve("mnt"));
        Path socket = folder.resolve("keeper.sock");
        TestDirectory own = Clusters.directory(Clusters.killable());
        Files.writeString(own.ufs().resolve("file"), "text");
        try (Program keeper = Program.start(folder, List.of(keeperProgram.toString(), "--socket", socket.toString()))) {
            Waiting.until("the keeper listens", LIMIT, () -> Files.exists(socket));
            String[] command = command(own, mount, folder, socket);
            try (Program first = Program.gateway(folder, command)) {
                first.awaitOutput("transport devfuse", LIMIT);
                assertThat(mount.resolve("file")).hasContent("text");
                first.kill();
            }
            try (Program second = Program.gateway(folder, command)) {
                assertThat(read(mount.resolve("file"))).isEqualTo("text");
                second.awaitOutput("transport devfuse", LIMIT);
                try (Program unmount = Program.gateway(folder, "umount", mount.toString())) {
                    assertThat(unmount.await(LIMIT)).as(unmount.output()).isZero();
                }
                assertThat(second.await(LIMIT)).as(second.output()).isZero();
            }
            assertThat(keeper.isAlive()).isTrue();
        } finally {
            Mounts.discard(mount);
        }
    }

    private static String[] command(TestDirectory own, Path mount, Path folder, Path socket) {
        return new String[] {
            "mount",
            own.uri(),
            mount.toString(),
            "-f",
            "-o",
            "spool=" + folder.resolve("spool"),
            "--keeper",
            socket.toString()
        };
    }

    /** Fails when nobody serves for long. */
    private static String read(Path file) throws Exception {
        CompletableFuture<String> text = new CompletableFuture<>();
        Thread reader = new Thread(() -> {
            try {
                text.complete(Files.readString(file));
            } catch (IOException e) {
                text.completeExceptionally(e);
            }
        });
        reader.setDaemon(true);
        reader.start();
        return text.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
}

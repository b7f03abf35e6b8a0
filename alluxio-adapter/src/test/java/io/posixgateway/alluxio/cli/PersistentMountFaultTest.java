package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.gateway.KeeperClient;
import io.posixgateway.alluxio.gateway.KeeperException;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code posix-gateway mount --keeper}: one mount that outlives its process. */
class PersistentMountFaultTest {
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
                assertThat(Path.of("/proc/mounts")).content().contains("\n" + own.uri() + " " + mount + " fuse");
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

    /** The gateway gives its session to the next keeper, or the mount would end with it. */
    @Test
    void a_mount_outlives_its_keeper_and_then_its_gateway(@TempDir Path folder) throws Exception {
        Path keeperProgram = Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        Path mount = Files.createDirectory(folder.resolve("mnt"));
        Path socket = folder.resolve("keeper.sock");
        List<String> keeper = List.of(keeperProgram.toString(), "--socket", socket.toString());
        TestDirectory own = Clusters.directory(Clusters.killable());
        Files.writeString(own.ufs().resolve("file"), "text");
        String[] command = command(own, mount, folder, socket);
        try (Program first = Program.start(folder, keeper)) {
            Waiting.until("the keeper listens", LIMIT, () -> Files.exists(socket));
            try (Program gateway = Program.gateway(folder, command)) {
                gateway.awaitOutput("transport devfuse", LIMIT);
                first.kill();
                try (Program second = Program.start(folder, keeper)) {
                    KeeperClient client = new KeeperClient(socket, 10_000, Clock.system());
                    Waiting.until("the next keeper has the session", LIMIT, () -> has(client));
                    assertThat(mount.resolve("file")).hasContent("text");
                    gateway.kill();
                    try (Program next = Program.gateway(folder, command)) {
                        assertThat(read(mount.resolve("file"))).isEqualTo("text");
                        next.awaitOutput("transport devfuse", LIMIT);
                    }
                    assertThat(second.isAlive()).isTrue();
                }
            }
        } finally {
            Mounts.discard(mount);
        }
    }

    /** What an earlier process served is not looked up again: programs wait, and get an error in time, or the file. */
    @Test
    void the_same_command_resumes_the_mount_while_alluxio_is_away(@TempDir Path folder) throws Exception {
        Path keeperProgram = Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        Path mount = Files.createDirectory(folder.resolve("mnt"));
        Path socket = folder.resolve("keeper.sock");
        TestDirectory own = Clusters.directory(Clusters.killable());
        Files.writeString(own.ufs().resolve("file"), "text");
        StoppableProxy way = new StoppableProxy(own.masters());
        String[] command = command("alluxio://" + way.address() + own.path(), mount, folder, socket);
        try (Program keeper = Program.start(folder, List.of(keeperProgram.toString(), "--socket", socket.toString()))) {
            Waiting.until("the keeper listens", LIMIT, () -> Files.exists(socket));
            try (Program first = Program.gateway(folder, command)) {
                first.awaitOutput("transport devfuse", LIMIT);
                assertThat(read(mount.resolve("file"))).isEqualTo("text");
                way.close();
                first.kill();
            }
            try (Program second = Program.gateway(folder, command)) {
                second.awaitOutput("transport devfuse", LIMIT);
                way = new StoppableProxy(way.address(), own.masters());
                Waiting.until("the file is read", LIMIT, () -> reads(mount.resolve("file")));
            }
            assertThat(keeper.isAlive()).isTrue();
        } finally {
            way.close();
            Mounts.discard(mount);
        }
    }

    private static boolean reads(Path file) throws Exception {
        try {
            return read(file).equals("text");
        } catch (ExecutionException notYet) {
            return false;
        }
    }

    private static boolean has(KeeperClient keeper) {
        try {
            return keeper.list().stream().anyMatch(KeeperClient.Session::mounted);
        } catch (KeeperException e) {
            return false;
        }
    }

    private static String[] command(TestDirectory own, Path mount, Path folder, Path socket) {
        return command(own.uri(), mount, folder, socket);
    }

    private static String[] command(String uri, Path mount, Path folder, Path socket) {
        return new String[] {
            "mount",
            uri,
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

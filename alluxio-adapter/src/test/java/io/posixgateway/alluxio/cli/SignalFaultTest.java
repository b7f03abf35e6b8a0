package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The exit code of commands that run until Ctrl-C says whether they did what they are for. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SignalFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    @TempDir
    private Path folder = Path.of("");

    private Path mount = Path.of("");
    private TestDirectory own;
    /** To the master, which is away while there is none. */
    private StoppableProxy way;

    @BeforeEach
    void prepare() throws Exception {
        Built.gateway();
        mount = Files.createDirectory(folder.resolve("mnt"));
        own = Clusters.directory(Clusters.killable());
        way = new StoppableProxy(own.masters());
    }

    @AfterEach
    void end() throws IOException {
        Mounts.discard(mount);
        if (way != null) {
            way.close();
        }
    }

    private Program mounted() throws Exception {
        return mounted("");
    }

    private Program mounted(String javaOptions) throws Exception {
        Program server = Program.gatewayWith(
                folder,
                javaOptions,
                "mount",
                "alluxio://" + way.address() + own.path(),
                mount.toString(),
                "--foreground",
                "-o",
                "spool=" + spool());
        server.awaitOutput("transport ", LIMIT);
        return server;
    }

    private Path spool() {
        return folder.resolve("spool");
    }

    private static void signal(Program program, String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(program.pid())).start();
        assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    /** A program that has written to a file, and keeps it open. A shell would close copies of it, and so upload it. */
    private Program writing(String name) throws Exception {
        String script = "import os, sys, time; f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY);"
                + " os.write(f, b'content'); print('written', flush=True); time.sleep(600)";
        Program writer = Program.start(
                folder, List.of("python3", "-c", script, mount.resolve(name).toString()));
        writer.awaitOutput("written", LIMIT);
        return writer;
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM"})
    void mount_endedBySignal_uploadsAndExitsWith0(String signal) throws Exception {
        try (Program server = mounted();
                Program writer = writing("open")) {
            signal(server, signal);
            assertThat(server.await(LIMIT)).as(server.output()).isZero();
            assertThat(writer.isAlive()).isTrue();
        }
        assertThat(own.ufs().resolve("open")).hasContent("content");
        assertThat(Mounts.isMounted(mount)).isFalse();
        assertThat(MountSocket.of(mount)).doesNotExist();
    }

    @Test
    void mount_endedBySignalWhileAlluxioIsAway_namesWhatStaysInTheSpoolAndExitsWith1() throws Exception {
        try (Program server = mounted("-Dalluxio.user.rpc.retry.max.duration=1sec");
                Program writer = writing("open")) {
            way.close();
            signal(server, "INT");
            assertThat(server.await(LIMIT)).as(server.output()).isEqualTo(1);
            assertThat(writer.isAlive()).isTrue();
            List<Path> kept = kept();
            assertThat(kept).hasSize(1);
            assertThat(kept.get(0)).hasContent("content");
            assertThat(server.output())
                    .contains("posix-gateway: a changed file could not be uploaded before the mount ended")
                    .contains("/open, whose content stays in " + kept.get(0));
        }
    }

    private List<Path> kept() throws IOException {
        try (Stream<Path> files = Files.list(spool())) {
            return files.filter(file -> file.getFileName().toString().startsWith("spool-"))
                    .toList();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stats", "accesslog show"})
    void commandThatShowsUntilCtrlC_exitsWith0(String command) throws Exception {
        try (Program server = mounted();
                Program shows = Program.gateway(folder, (command + " " + mount).split(" ", -1))) {
            if (command.equals("stats")) {
                shows.awaitOutput("ops/s", LIMIT);
            } else {
                AtomicInteger number = new AtomicInteger();
                Waiting.until("a request is shown", LIMIT, () -> {
                    // Another name each time: the kernel asks for one that is missing only once.
                    Files.exists(mount.resolve("no such file " + number.incrementAndGet()));
                    return shows.output().contains("lookup");
                });
            }
            signal(shows, "INT");
            assertThat(shows.await(LIMIT)).as(shows.output()).isZero();
            assertThat(server.isAlive()).isTrue();
        }
    }
}

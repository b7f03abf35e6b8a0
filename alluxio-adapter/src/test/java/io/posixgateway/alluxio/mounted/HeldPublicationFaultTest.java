package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** While a file is on its way to a worker that does not answer: who looks at it waits for nothing, and who waits can be killed. */
class HeldPublicationFaultTest {
    private static final int BYTES = 8 << 20;
    /** More than the pool has threads. */
    private static final int CROWD = 80;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** What is hoped for is a hundredth of it: machines that run tests are busy. */
    private static final Duration MOST = Duration.ofSeconds(3);
    /** A call whose program got a signal is interrupted after two seconds. */
    private static final Duration LONGEST_LIFE = Duration.ofSeconds(4);
    /** After the entries and attributes that the kernel may keep. */
    private static final Duration FORGOTTEN = Duration.ofMillis(1500);

    private static final String WRITER = """
            import os, sys, time
            path, go, size = sys.argv[1:]
            file = os.open(path, os.O_WRONLY | os.O_TRUNC)
            os.write(file, b"x" * int(size))
            print("written", flush=True)
            while not os.path.exists(go):
                time.sleep(0.05)
            os.close(file)
            """;

    private final Path folder;
    private final TestDirectory own;
    private final ServerProcess worker;
    private final List<Path> mounts = new ArrayList<>();

    HeldPublicationFaultTest(@TempDir Path folder) throws Exception {
        this.folder = folder;
        EmbeddedAlluxio alluxio = Clusters.killable();
        own = Clusters.directory(alluxio);
        worker = alluxio.workers().get(0);
    }

    @Test
    void whoLooksAtTheFileWaitsForNothingAndWhoChangesItCanBeKilled() throws Exception {
        byte[] content = new byte[BYTES];
        new Random(1).nextBytes(content);
        Path source = Files.write(folder.resolve("source"), content);
        Path file = mount().resolve("file");
        Files.writeString(file, "before");
        worker.pause();
        // By a process of its own: each child of this one would close, and so publish, what this one has open.
        try (Program writer = write(source, file)) {
            Waiting.until("all is written", PATIENCE, () -> Files.size(file) == BYTES);
            Thread.sleep(FORGOTTEN.toMillis());
            look(file);
            assertThat(killed("chmod", "600", file.toString())).isLessThan(LONGEST_LIFE);
            assertThat(writer.isAlive()).as("the writer waits").isTrue();
            worker.resume();
            assertThat(writer.await(PATIENCE)).as(writer.output()).isZero();
        } finally {
            worker.resume();
        }
        assertThat(file).hasBinaryContent(content);
    }

    @Test
    void whoTakesItsNameAwayWaitsAndCanBeKilled() throws Exception {
        Path source = Files.write(folder.resolve("source"), new byte[BYTES]);
        Path file = mount().resolve("file");
        Files.writeString(file, "before");
        worker.pause();
        try (Program writer = write(source, file)) {
            Waiting.until("all is written", PATIENCE, () -> Files.size(file) == BYTES);
            assertThat(killed("rm", "-f", file.toString())).isLessThan(LONGEST_LIFE);
            assertThat(killed("mv", file.toString(), file + "2")).isLessThan(LONGEST_LIFE);
            assertThat(writer.isAlive()).as("the writer waits").isTrue();
            worker.resume();
            assertThat(writer.await(PATIENCE)).as(writer.output()).isZero();
        } finally {
            worker.resume();
        }
        assertThat(file).hasBinaryContent(new byte[BYTES]);
    }

    /** Otherwise the worker would make the directory anew in the under file system, at the name that it had. */
    @Test
    void theFolderThatAnotherMountMovedTheFileToDoesNotMoveWhileTheFileIsPublishedThere() throws Exception {
        Path one = mount();
        Path other = mount();
        Path file = Files.writeString(Files.createDirectory(one.resolve("from")).resolve("file"), "before");
        Path to = one.resolve(Files.createDirectory(other.resolve("to")).getFileName());
        Path go = folder.resolve("go");
        String bytes = Integer.toString(BYTES);
        try (Program writer =
                Program.start(folder, List.of("python3", "-c", WRITER, file.toString(), go.toString(), bytes))) {
            writer.awaitOutput("written", PATIENCE);
            Files.move(other.resolve("from/file"), other.resolve("to/file"));
            worker.pause();
            Files.createFile(go);
            Thread.sleep(FORGOTTEN.toMillis());
            try (Program move = Program.start(
                    folder, List.of("mv", to.toString(), one.resolve("renamed").toString()))) {
                Thread.sleep(1000);
                assertThat(writer.isAlive()).as("the writer waits").isTrue();
                assertThat(move.isAlive()).as("the move waits").isTrue();
                worker.resume();
                assertThat(writer.await(PATIENCE)).as(writer.output()).isZero();
                assertThat(move.await(PATIENCE)).as(move.output()).isZero();
            }
        } finally {
            worker.resume();
        }
        assertThat(one.resolve("renamed/file")).hasSize(BYTES).hasContent("x".repeat(BYTES));
        assertThat(to).doesNotExist();
    }

    @AfterEach
    void unmount() throws Exception {
        for (Path mount : mounts) {
            Mounts.discard(mount);
        }
    }

    private Path mount() throws Exception {
        int number = mounts.size();
        Path mount = Files.createDirectory(folder.resolve("mnt" + number));
        mounts.add(mount);
        String options = "short_circuit=off,spool=" + folder.resolve("spool" + number);
        try (Program command = Program.gateway(folder, "mount", own.uri(), mount.toString(), "-o", options)) {
            assertThat(command.await(PATIENCE)).as(command.output()).isZero();
        }
        return mount;
    }

    private Program write(Path from, Path to) throws IOException {
        return Program.start(folder, List.of("dd", "if=" + from, "of=" + to, "bs=1M", "status=none"));
    }

    /** A crowd at once. */
    private static void look(Path file) throws Exception {
        ExecutorService crowd = Executors.newFixedThreadPool(CROWD);
        try {
            List<Callable<Long>> looks = new ArrayList<>();
            for (int i = 0; i < CROWD; i++) {
                looks.add(() -> lookOnce(file));
            }
            long began = System.nanoTime();
            List<Future<Long>> seen = crowd.invokeAll(looks, PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(Duration.ofNanos(System.nanoTime() - began))
                    .as("%d looked", CROWD)
                    .isLessThan(MOST);
            for (Future<Long> size : seen) {
                assertThat(size.get()).isEqualTo(BYTES);
            }
        } finally {
            crowd.shutdownNow();
        }
    }

    /** As {@code ls -l} of its directory; the length of the file. */
    private static long lookOnce(Path file) throws IOException {
        try (Stream<Path> all = Files.list(file.getParent())) {
            assertThat(all).contains(file);
        }
        Files.getAttribute(file, "unix:mode");
        return Files.readAttributes(file, BasicFileAttributes.class).size();
    }

    /** How long it lives after it was killed, which it is when it has waited for a second. */
    private Duration killed(String... command) throws Exception {
        try (Program waiting = Program.start(folder, List.of(command))) {
            Thread.sleep(1000);
            assertThat(waiting.isAlive()).as("%s waits", command[0]).isTrue();
            long began = System.nanoTime();
            waiting.kill();
            return Duration.ofNanos(System.nanoTime() - began);
        }
    }
}

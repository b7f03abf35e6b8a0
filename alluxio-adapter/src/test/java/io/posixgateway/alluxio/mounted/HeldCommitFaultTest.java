package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.FuseCalls;
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
class HeldCommitFaultTest {
    private static final int BYTES = 8 << 20;
    /** More than the pool has threads. */
    private static final int LOOKS = 80;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final String COPIER = """
            import os, sys
            source, path = sys.argv[1:]
            file = os.open(path, os.O_WRONLY | os.O_TRUNC)
            with open(source, "rb") as content:
                os.write(file, content.read())
            os.close(file)
            """;

    private final Path folder;
    private final TestDirectory own;
    private final ServerProcess worker;
    private final List<Path> mounts = new ArrayList<>();

    HeldCommitFaultTest(@TempDir Path folder) throws Exception {
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
        // By a process of its own: each child of this one would close, and so commit, what this one has open.
        try (Program writer = write(source, file)) {
            Waiting.until("all is written", PATIENCE, () -> Files.size(file) == BYTES);
            look(file, BYTES);
            assertThat(writer.isAlive())
                    .as("the writer waits longer than %d looked", LOOKS)
                    .isTrue();
            assertAreKilled(List.of("chmod", "600", file.toString()));
            assertThat(writer.isAlive())
                    .as("the writer waits longer than who was killed")
                    .isTrue();
            worker.resume();
            assertThat(writer.await(PATIENCE)).as(writer.output()).isZero();
        } finally {
            worker.resume();
        }
        assertThat(file).hasBinaryContent(content);
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
        String options = "short_circuit=off,metadata_ttl=0,spool=" + folder.resolve("spool" + number);
        try (Program command = Program.gateway(folder, "mount", own.uri(), mount.toString(), "-o", options)) {
            assertThat(command.await(PATIENCE)).as(command.output()).isZero();
        }
        return mount;
    }

    /** Unlike dd, which closes a copy of its descriptor first, and so commits the file while it is empty. */
    private Program write(Path from, Path to) throws IOException {
        return Program.start(folder, List.of("python3", "-c", COPIER, from.toString(), to.toString()));
    }

    /** A crowd at once, who all see this length. */
    private static void look(Path file, long bytes) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(LOOKS);
        try {
            List<Callable<Long>> looks = new ArrayList<>();
            for (int i = 0; i < LOOKS; i++) {
                looks.add(() -> lookOnce(file));
            }
            for (Future<Long> size : threads.invokeAll(looks, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                assertThat(size.get()).isEqualTo(bytes);
            }
        } finally {
            threads.shutdownNow();
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

    /** Each waits for a while, and ends when it is killed. All at once: a worker that stands for long is given up. */
    @SafeVarargs
    private void assertAreKilled(List<String>... commands) throws Exception {
        List<Program> waiting = new ArrayList<>();
        try {
            for (List<String> command : commands) {
                waiting.add(Program.start(folder, command));
            }
            for (Program program : waiting) {
                FuseCalls.awaitSteady(program.pid());
                assertThat(program.isAlive()).as("%s wait", waiting).isTrue();
            }
            waiting.parallelStream().forEach(HeldCommitFaultTest::kill);
        } finally {
            waiting.forEach(Program::close);
        }
    }

    private static void kill(Program program) {
        try {
            program.kill();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}

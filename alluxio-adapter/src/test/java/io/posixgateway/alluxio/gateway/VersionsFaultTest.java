package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Evidence;
import io.posixgateway.alluxio.harness.Load;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.OpenWriters;
import io.posixgateway.alluxio.harness.Report;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * From an earlier version to this one and back, by plan and after kill -9, gateway and keeper, under writers that keep their files
 * open all the while: no call fails, and no acknowledged byte is lost.
 *
 * <p>{@code -Dpgw.versions=FOLDER,…} names built trees of earlier versions ({@code make long TEST=versions}), {@code -Dpgw.rounds=N}
 * how often each way is gone.
 */
class VersionsFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int ROUNDS = Integer.getInteger("pgw.rounds", 2);
    private static final int READERS = 4;
    private static final int WRITERS = 1;
    private static final int CALLS_BETWEEN = 40;

    @TempDir
    private Path folder = Path.of("");

    /** None: then one row says so. */
    static Stream<Path> versions() {
        return Stream.of(System.getProperty("pgw.versions", "").split(",")).map(Path::of);
    }

    /** What changes while the programs work. */
    private interface Change {
        void run() throws Exception;
    }

    @ParameterizedTest
    @MethodSource("versions")
    void no_acknowledged_byte_is_lost_there_and_back(Path earlier) throws Exception {
        assumeTrue(!earlier.toString().isEmpty(), "the long form: make long TEST=versions");
        Built.keeper();
        assumeTrue(Built.isRoot(), "only root can run a keeper that mounts");
        TestDirectory own = Clusters.directory(Clusters.killable());
        String name = String.valueOf(earlier.getFileName());
        Load.prepare(own, name);
        try (Node node = Node.ofTree(Files.createDirectory(folder.resolve("n")), earlier)) {
            node.awaitReady();
            Path mount = node.mount(name);
            node.control()
                    .attach(Node.request(name, own.masters(), own.path() + "/" + name).toBuilder()
                            .putOptions("transport", "devfuse")
                            .build());
            try (Load load = Load.start(mount, READERS, WRITERS);
                    OpenWriters held = OpenWriters.start(own, name, mount)) {
                Programs programs = new Programs(name, mount, load, held);
                for (int round = 0; round < ROUNDS; round++) {
                    thereAndBack(node, earlier, programs);
                }
                held.stop();
                load.stop();
                programs.report();
            }
        }
    }

    private void thereAndBack(Node node, Path earlier, Programs programs) throws Exception {
        Path current = Built.root();
        programs.change("upgrade", () -> upgrade(node, current));
        programs.change("kill of the new", node::killAndRestartGateway);
        programs.change("rollback", () -> upgrade(node, earlier));
        programs.change("upgrade by a kill", () -> kill(node, current));
        programs.change("rollback by a kill", () -> kill(node, earlier));
        programs.change("upgrade", () -> upgrade(node, current));
        programs.change("upgrade of the keeper", node::replaceKeeper);
        programs.change("rollback beside the new keeper", () -> upgrade(node, earlier));
        programs.change("rollback of the keeper", node::replaceKeeper);
        programs.change("kill of the old", node::killAndRestartGateway);
    }

    private static void upgrade(Node node, Path tree) throws Exception {
        node.use(tree);
        node.startWaitingGateway();
        node.upgradeGateway();
    }

    private static void kill(Node node, Path tree) throws Exception {
        node.use(tree);
        node.killAndRestartGateway();
    }

    /** What works meanwhile. */
    private static final class Programs {
        private final String version;
        private final Path mount;
        private final Load load;
        private final OpenWriters held;
        private int changes;

        Programs(String version, Path mount, Load load, OpenWriters held) {
            this.version = version;
            this.mount = mount;
            this.load = load;
            this.held = held;
        }

        void change(String what, Change change) throws Exception {
            awaitWork("before: " + what);
            change.run();
            awaitWork("after: " + what);
            assertThat(Mounts.times(mount)).as("mounts after: " + what).isOne();
            changes++;
        }

        private void awaitWork(String when) throws Exception {
            long calls = held.calls() + CALLS_BETWEEN;
            long reads = load.reads() + CALLS_BETWEEN;
            long writes = load.writes() + 2L * WRITERS;
            try {
                Waiting.until("the programs continue " + when, LIMIT, () -> {
                    assertThat(failures()).as(version + ", " + when).isEmpty();
                    return held.calls() > calls && load.reads() > reads && load.writes() > writes;
                });
            } catch (AssertionError e) {
                new Evidence("versions-" + version)
                        .threads()
                        .text("failures.txt", failures())
                        .files(mount.getParent(), ".out");
                throw e;
            }
        }

        private List<String> failures() {
            return Stream.concat(load.failures().stream(), held.failures().stream())
                    .toList();
        }

        void report() throws Exception {
            new Report("versions-" + version)
                    .with("changes", changes)
                    .with("calls_on_held_files", held.calls())
                    .with("fsyncs", held.syncs())
                    .with("synced_bytes", held.syncedBytes())
                    .with("reads", load.reads())
                    .with("writes", load.writes())
                    .with("failed_or_lost", failures().size())
                    .tell();
            assertThat(failures()).as(version).isEmpty();
        }
    }
}

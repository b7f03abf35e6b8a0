package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.AcknowledgedFiles;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Evidence;
import io.posixgateway.alluxio.harness.FuseCalls;
import io.posixgateway.alluxio.harness.Load;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Report;
import io.posixgateway.alluxio.harness.StoppableProxy;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.QuietTime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three masters of Alluxio: the leader is killed, or stopped until another leads, and the gateway replaced while nobody leads, under
 * readers and writers. Programs see a pause and nothing else, and what was acknowledged is there.
 *
 * <p>{@code make long TEST=masters}; {@code -Dpgw.rounds=N} sets how often (2), {@code -Dpgw.readers} and {@code -Dpgw.writers} under
 * how many, {@code -Dpgw.gateway.options} options of the gateways' JVMs.
 */
@EnabledIfSystemProperty(
        named = "pgw.masters.long",
        matches = "true",
        disabledReason = "of the long form: make long TEST=masters")
@Timeout(value = 1800, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MasterFailoverFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final int ROUNDS = Integer.getInteger("pgw.rounds", 2);
    private static final int READERS = Integer.getInteger("pgw.readers", 8);
    private static final int WRITERS = Integer.getInteger("pgw.writers", 2);
    private static final long READS_BETWEEN = 200;
    private static final int CHANGES_BETWEEN = 5;

    @TempDir
    private Path folder = Path.of("");

    private EmbeddedAlluxio alluxio;
    private TestDirectory own;
    private Store other;
    private Node node;

    @BeforeEach
    void serve() throws Exception {
        Built.keeper();
        alluxio = Clusters.threeMasters();
        own = Clusters.directory(alluxio);
        other = connect(alluxio.masters());
        node = new Node(folder, System.getProperty("pgw.gateway.options", ""));
        node.awaitReady();
    }

    @AfterEach
    void end() throws Exception {
        if (node != null) {
            node.close();
        }
        if (other != null) {
            other.close();
        }
    }

    private static Store connect(String masters) throws StoreException {
        AdapterOptions options = AdapterOptions.of(AdapterOptions.TABLE.read(Map.of()));
        return AlluxioMount.connect(AlluxioOptions.ofUri("alluxio://" + masters + "/"), options);
    }

    /** What happens in a round. */
    private interface Act {
        void run(Programs programs) throws Exception;
    }

    @Test
    void calls_whileLeaderIsKilled_succeed() throws Exception {
        trial("leader-killed", true, programs -> {
            Clusters.awaitLeader(alluxio).kill();
            Clusters.awaitLeader(alluxio);
        });
    }

    /**
     * Without renames: of one that it had received the leader, when it continues, renames the file in the under file system, and only then
     * finds out that it leads no more. To the next leader, which is asked again, the file is lost.
     */
    @Test
    void calls_whileLeaderIsStoppedUntilAnotherLeads_succeed() throws Exception {
        trial("leader-stopped", false, programs -> {
            ServerProcess stopped = Clusters.awaitLeader(alluxio);
            stopped.pause();
            try {
                Clusters.awaitLeader(alluxio);
            } finally {
                stopped.resume();
            }
        });
    }

    @Test
    void takeover_whileNobodyLeads_failsNoCall() throws Exception {
        trial("takeover", true, programs -> {
            Clusters.awaitLeader(alluxio).kill();
            node.gateway().kill();
            node.startNextGateway();
            Clusters.awaitLeader(alluxio);
            node.awaitReady();
            node.prepareNextGateway();
        });
    }

    /** @param renames false: the programs read, and create files */
    private void trial(String name, boolean renames, Act act) throws Exception {
        Load.prepare(own, name);
        Path mount = attach(name, alluxio.masters());
        TestDirectory directory = new TestDirectory(alluxio, own.path() + "/" + name);
        int writers = renames ? WRITERS : 0;
        try (Load load = Load.start(mount, READERS, writers);
                AcknowledgedFiles files = new AcknowledgedFiles(mount, renames)) {
            long wanderer = id(directory, files.wanderer());
            files.start();
            Programs programs = new Programs(name, writers, load, files);
            for (int round = 1; round <= ROUNDS; round++) {
                programs.awaitWork("before round " + round);
                programs.takeLongestMillis();
                act.run(programs);
                programs.awaitWork("after round " + round);
                programs.pauses.add(programs.takeLongestMillis());
                assertThat(Mounts.times(mount)).as("mounts at " + mount).isOne();
                checkRenames(mount, directory);
                Clusters.heal(alluxio);
            }
            load.stop();
            List<String> differences = files.stop(directory);
            programs.report(differences);
            assertThat(id(directory, files.wanderer()))
                    .as("file id of the wanderer")
                    .isEqualTo(wanderer);
        }
    }

    private Path attach(String name, String masters) throws IOException {
        Path mount = node.mount(name);
        node.control().attach(Node.request(name, masters, own.path() + "/" + name));
        return mount;
    }

    private long id(TestDirectory directory, String name) throws StoreException {
        return other.status(directory.path() + "/" + name).id();
    }

    /** A rename to a free name and one over a file keep the file's id; the old name is free. */
    private void checkRenames(Path mount, TestDirectory directory) throws Exception {
        Path file = Files.writeString(mount.resolve("renamed-0"), "new");
        long id = id(directory, "renamed-0");
        Files.writeString(mount.resolve("renamed-2"), "old");
        for (int i = 1; i <= 2; i++) {
            file = Files.move(file, mount.resolve("renamed-" + i), StandardCopyOption.ATOMIC_MOVE);
            assertThat(id(directory, "renamed-" + i)).isEqualTo(id);
            assertThat(directory.stored("renamed-" + (i - 1))).isNull();
        }
        assertThat(file).hasContent("new");
        assertThat(directory.stored("renamed-2")).asString().isEqualTo("new");
        Files.delete(file);
        assertThat(directory.storedNames("")).noneMatch(name -> name.startsWith("renamed-"));
    }

    /** What works on the mount. */
    private final class Programs {
        private final String trial;
        private final int writers;
        private final Load load;
        private final AcknowledgedFiles files;
        private final List<Long> pauses = new ArrayList<>();

        Programs(String trial, int writers, Load load, AcknowledgedFiles files) {
            this.trial = trial;
            this.writers = writers;
            this.load = load;
            this.files = files;
        }

        /** Until all have done something since now; ends the trial at the first failure, and keeps what explains it. */
        void awaitWork(String when) throws Exception {
            long reads = load.reads() + READS_BETWEEN;
            long writes = load.writes() + 2L * writers;
            int changes = files.changes() + CHANGES_BETWEEN;
            try {
                Waiting.until("the programs continue " + when, LIMIT, () -> {
                    assertThat(failures()).as(trial + ", " + when).isEmpty();
                    return load.reads() > reads && load.writes() >= writes && files.changes() > changes;
                });
            } catch (AssertionError e) {
                new Evidence(trial)
                        .threads()
                        .text("failures.txt", failures().stream().limit(100).toList())
                        .files(folder, ".out")
                        .files(alluxio.logs(), ".out");
                throw e;
            }
        }

        long takeLongestMillis() {
            return Math.max(load.takeLongestMillis(), files.takeLongestMillis());
        }

        private List<String> failures() {
            return Stream.concat(load.failures().stream(), files.failures().stream())
                    .toList();
        }

        void report(List<String> differences) throws IOException {
            new Report("masters-" + trial)
                    .with("rounds", ROUNDS)
                    .with("readers", READERS)
                    .with("writers", writers)
                    .with("reads", load.reads())
                    .with("writes", load.writes())
                    .with("changes", files.changes())
                    .with("failed", failures().size())
                    .with("wrong", load.wrong() + differences.size())
                    .with("hung", load.hung())
                    .withMillis("longest", pauses)
                    .tell();
            assertThat(failures()).as(trial).isEmpty();
            assertThat(differences)
                    .as("what differs from what was acknowledged")
                    .isEmpty();
        }
    }

    /** The shell is there before, as a process is started by closing copies of files that are open here. */
    @Test
    void program_killedWhileNobodyLeads_endsWithinASecond() throws Exception {
        own.store("killed/file", new byte[1]);
        Path mount = attach("killed", alluxio.masters());
        List<ServerProcess> masters = alluxio.masterProcesses();
        Process program = new ProcessBuilder("sh", "-c", "read -r path && exec cat \"$path\"").start();
        try {
            masters.forEach(ServerProcess::kill);
            program.getOutputStream().write((mount.resolve("file") + "\n").getBytes(StandardCharsets.UTF_8));
            program.getOutputStream().flush();
            FuseCalls.awaitSteady(program.pid());
            QuietTime time = QuietTime.sinceNow();
            program.destroyForcibly();
            assertThat(program.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(time.quiet()).isLessThan(Duration.ofSeconds(1));
        } finally {
            program.destroyForcibly();
            Clusters.heal(alluxio);
        }
        Waiting.until("the file is read", LIMIT, () -> isRead(mount.resolve("file")));
    }

    private static boolean isRead(Path file) {
        try {
            return Files.readAllBytes(file).length == 1;
        } catch (IOException notYet) {
            return false;
        }
    }

    /** The leader has renamed, and says so to nobody. The next one is asked again, and knows it by the number of the operation. */
    @Test
    void rename_whoseAnswerIsLostWithLeader_isDoneOnce() throws Exception {
        List<StoppableProxy> ways = new ArrayList<>();
        try {
            for (ServerProcess master : alluxio.masterProcesses()) {
                ways.add(new StoppableProxy(master.hostAndPort()));
            }
            String masters = ways.stream().map(StoppableProxy::address).collect(Collectors.joining(","));
            try (Store client = connect(masters)) {
                loseAnswer(client, ways, "free", false);
                loseAnswer(client, ways, "replaced", true);
            }
        } finally {
            for (StoppableProxy way : ways) {
                way.close();
            }
        }
    }

    private void loseAnswer(Store client, List<StoppableProxy> ways, String name, boolean overFile) throws Exception {
        Clusters.heal(alluxio);
        String from = own.path() + "/" + name + "/from";
        String to = own.path() + "/" + name + "/to";
        own.store(name + "/from", new byte[] {1});
        if (overFile) {
            own.store(name + "/to", new byte[] {2});
        }
        client.deletesToReplace(to); // the mount table is known now, and the leader connected
        long id = other.status(from).id();
        ServerProcess leader = Clusters.awaitLeader(alluxio);
        StoppableProxy way = ways.get(alluxio.masterProcesses().indexOf(leader));
        way.loseAnswers();
        FutureTask<String> renaming = new FutureTask<>(() -> {
            client.rename(from, to, overFile);
            return "done";
        });
        Thread caller = new Thread(renaming, "caller");
        caller.setDaemon(true);
        caller.start();
        Waiting.until("the leader has renamed it", LIMIT, () -> other.pathOf(id).equals(to));
        other.makeDirectory(own.path() + "/after-" + name, 0777, Map.of()); // what the journal has, has the rename, too
        leader.kill();
        way.go();
        assertThat(renaming.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(other.pathOf(id)).isEqualTo(to);
        assertThat(own.stored(name + "/to")).containsExactly(1);
        assertThat(own.stored(name + "/from")).isNull();
        assertThatThrownBy(() -> other.status(from)).isInstanceOf(StoreException.class);
    }
}

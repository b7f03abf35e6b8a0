package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Evidence;
import io.posixgateway.alluxio.harness.FuseCalls;
import io.posixgateway.alluxio.harness.Load;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.Report;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The gateway is killed or replaced again and again, and the keeper replaced, under readers and writers: programs see a
 * pause, never a failure or a wrong byte.
 *
 * <p>{@code -Dpgw.kills=N} sets how often (20 in {@code make fault}; by default once, and twice where what was taken over is to be
 * taken over again), {@code -Dpgw.trials=kill,upgrade} which,
 * {@code -Dpgw.transports=devfuse,uring} over what, {@code -Dpgw.load.pause=N} how many ms lie between the pieces of a
 * checkpoint, {@code -Dpgw.apart=N} how many ms lie between two kills.
 */
class TakeoverFaultTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Set<String> TWICE = Set.of("kill", "keeper");
    private static final int READERS = Integer.getInteger("pgw.readers", 4);
    private static final int WRITERS = Integer.getInteger("pgw.writers", 1);
    private static final List<String> TRIALS =
            List.of(System.getProperty("pgw.trials", "kill,kill-while-master-stands,kill-one-waiting,upgrade,keeper")
                    .split(","));
    private static final List<String> TRANSPORTS =
            List.of(System.getProperty("pgw.transports", "devfuse").split(","));
    private static final Pattern TAKEN = Pattern.compile("Takeover finished in (\\d+) ms");
    private static final long READS_BETWEEN = 200;
    /** Milliseconds. */
    private static final int MIN_STANDING = 100;

    private static final int MORE_STANDING = 2500;
    /** Milliseconds; a takeover is over sooner. */
    private static final int LATEST_SECOND_KILL = 400;

    private static final Duration APART = Duration.ofMillis(Integer.getInteger("pgw.apart", 1000));

    private final Random random = new Random(20);

    @TempDir
    private Path folder = Path.of("");

    private EmbeddedAlluxio alluxio;
    private TestDirectory own;
    private Node node;

    @BeforeEach
    void serve() throws Exception {
        Built.keeper();
        alluxio = Clusters.killable();
        own = Clusters.directory(alluxio);
        node = new Node(folder);
        node.awaitReady();
    }

    @AfterEach
    void end() throws Exception {
        if (node != null) {
            node.close();
        }
    }

    /** What happens in a round, and what comes before. */
    private interface Act {
        void run() throws Exception;
    }

    @Test
    void programs_see_a_pause_and_nothing_else() throws Exception {
        for (String transport : TRANSPORTS) {
            Load.prepare(own, transport);
            Path mount = node.mount(transport);
            String line = node.control()
                    .attach(Node.request(transport, alluxio.masters(), own.path() + "/" + transport).toBuilder()
                            .putOptions("transport", transport)
                            .build())
                    .getSessionLine();
            assertThat(line).startsWith("transport " + transport);
            String suffix = transport.equals("devfuse") ? "" : "-" + transport;
            trial("kill", suffix, mount, () -> {}, node::killAndRestartGateway);
            trial("kill-while-master-stands", suffix, mount, () -> {}, this::killWhileTheMasterStands);
            trial("kill-one-waiting", suffix, mount, node::startWaitingGateway, node::killGatewayBeforeTheWaiting);
            trial("upgrade", suffix, mount, node::startWaitingGateway, node::upgradeGateway);
            trial("keeper", suffix, mount, () -> {}, node::replaceKeeper);
            trial("kill-successor", suffix, mount, () -> {}, this::killTheSuccessorToo);
            Act allKept = () -> node.awaitKept(TRANSPORTS.indexOf(transport) + 1);
            Act keeperKilled = () -> {
                node.killAndRestartKeeper();
                allKept.run();
            };
            Act waitsAndKept = () -> {
                node.startWaitingGateway();
                allKept.run();
            };
            trial("keeper-killed", suffix, mount, () -> {}, keeperKilled);
            trial("keeper-then-gateway", suffix, mount, waitsAndKept, () -> node.killKeeperThenGateway(APART));
            trial("gateway-then-keeper", suffix, mount, waitsAndKept, () -> node.killGatewayThenKeeper(APART));
        }
    }

    /** What the gateway asked Alluxio's master last is done after its death, while the next one is at work. */
    private void killWhileTheMasterStands() throws Exception {
        Process standing = alluxio.master().pauseFor(Duration.ofMillis(MIN_STANDING + random.nextInt(MORE_STANDING)));
        FuseCalls.awaitAny(ProcessHandle.current().pid());
        node.killAndRestartGateway();
        standing.waitFor();
    }

    private void killTheSuccessorToo() throws Exception {
        node.killGatewayAndItsSuccessor(Duration.ofMillis(random.nextInt(LATEST_SECOND_KILL)));
    }

    private void trial(String kind, String suffix, Path mount, Act before, Act act) throws Exception {
        if (!TRIALS.contains(kind)) {
            return;
        }
        String name = kind + suffix;
        int rounds = Integer.getInteger("pgw.kills", TWICE.contains(kind) ? 2 : 1);
        int left = node.leavingMillis().size();
        int taken = node.said(TAKEN).size();
        int adopted = node.adoptingMillis().size();
        try (Load load = Load.start(mount, READERS, WRITERS)) {
            List<Long> usual = new ArrayList<>();
            List<Long> pauses = new ArrayList<>();
            long waitingKb = 0;
            for (int round = 1; round <= rounds; round++) {
                before.run();
                Program waiting = node.waitingGateway();
                waitingKb = Math.max(waitingKb, waiting == null ? 0 : waiting.residentKb());
                load.takeLongestMillis();
                awaitWork(name, load);
                usual.add(load.takeLongestMillis());
                act.run();
                awaitWork(name, load);
                pauses.add(load.takeLongestMillis());
                node.awaitReady();
                assertThat(Mounts.times(mount)).as("mounts at " + mount).isOne();
            }
            load.stop();
            report(name, rounds, load)
                    .with("waiting_resident_kb", waitingKb)
                    .with("left", load.left())
                    .withMillis("longest_read_before", usual)
                    .withMillis("pause", pauses)
                    .withMillis("leaving", since(left, node.leavingMillis()))
                    .withMillis("taking", since(taken, node.said(TAKEN)))
                    .withMillis("adopting", since(adopted, node.adoptingMillis()))
                    .tell();
            assertThat(load.failures()).as(name).isEmpty();
        }
    }

    private static Report report(String name, int rounds, Load load) {
        return new Report(name)
                .with("rounds", rounds)
                .with("readers", READERS)
                .with("writers", WRITERS)
                .with("reads", load.reads())
                .with("writes", load.writes())
                .with("failed", load.failures().size())
                .with("wrong", load.wrong())
                .with("hung", load.hung());
    }

    /** What gateways took of a pause in this trial; nothing where none ended by plan. */
    private static List<Long> since(int before, List<Long> said) {
        return said.subList(before, said.size());
    }

    /** Until readers and writers have done something since now; ends the trial at the first failure, and keeps what tells why. */
    private void awaitWork(String trial, Load load) throws Exception {
        long reads = load.reads() + READS_BETWEEN;
        long writes = load.writes() + 2L * WRITERS;
        try {
            Waiting.until("the load goes on", LIMIT, () -> {
                assertThat(load.failures()).as(trial).isEmpty();
                return load.reads() > reads && load.writes() > writes;
            });
        } catch (AssertionError e) {
            keepEvidence(trial, load);
            throw e;
        }
    }

    private void keepEvidence(String trial, Load load) throws Exception {
        Evidence evidence = new Evidence(trial)
                .threads()
                .text("failures.txt", load.failures())
                .files(folder, ".out")
                .files(alluxio.logs(), ".log");
        for (String transport : TRANSPORTS) {
            if (own.storedNames("").contains(transport)) {
                EmbeddedAlluxio.ShellResult listed = alluxio.shell("ls", own.path() + "/" + transport);
                evidence.text("alluxio-lists-" + transport + ".txt", List.of(listed.output(), listed.errors()));
                evidence.text("behind-" + transport + ".txt", own.storedNames(transport));
            }
        }
    }
}

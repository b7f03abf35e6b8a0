package io.posixgateway.alluxio.harness;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.client.MasterProperties;
import io.posixgateway.alluxio.client.WorkerPorts;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.embedded.EmbeddedOptions.UnderStore;
import io.posixgateway.alluxio.embedded.HdfsServer;
import io.posixgateway.alluxio.embedded.S3Server;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The Alluxio clusters that all tests of a JVM share: each is started by its first user and ends with the JVM. A test works in a
 * {@link TestDirectory} of its own, so that nothing it leaves behind reaches another one.
 */
public final class Clusters {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long WORKER_BYTES = Long.getLong("pgw.worker.bytes", 3L << 30);
    private static final String WORKER_TIMEOUT = "alluxio.master.worker.timeout";
    /** More than a heartbeat takes on a loaded machine. */
    private static final String USUAL_TIMEOUT = "20sec";

    private static final String SHORT_TIMEOUT = "1sec";

    private static final Map<String, String> PROPERTIES = Map.of(
            WORKER_TIMEOUT,
            USUAL_TIMEOUT,
            "alluxio.master.lost.worker.detection.interval",
            "500ms",
            "alluxio.master.lost.worker.file.detection.interval",
            "500ms",
            "alluxio.conf.dynamic.update.enabled",
            "true");

    /**
     * The long form has Alluxio's own: 10 to 20 s until masters elect another leader, which then waits 5 s for workers. A leader that was
     * stopped must not take the workers for lost as soon as it continues: a worker that registers there just before it steps down waits
     * for minutes, in Alluxio 2.9.
     */
    private static final Map<String, String> ELECTIONS = Boolean.getBoolean("pgw.masters.long")
            ? Map.of(WORKER_TIMEOUT, "5min", "alluxio.master.worker.connect.wait.time", "5sec")
            : Map.of(
                    WORKER_TIMEOUT,
                    "5min",
                    "alluxio.master.embedded.journal.election.timeout.min",
                    "2sec",
                    "alluxio.master.embedded.journal.election.timeout.max",
                    "4sec");

    private static final AtomicInteger DIRECTORIES = new AtomicInteger();
    /** What all but {@link #onS3} and {@link #onHdfs} stand on: for the long form of tests that run on each kind. */
    private static final UnderStore UNDER_STORE =
            UnderStore.valueOf(System.getProperty("pgw.under.store", "local").toUpperCase(Locale.ROOT));

    private static final Cluster ONE_WORKER =
            new Cluster(EmbeddedOptions.defaults().withWorkers(1, WORKER_BYTES).on(UNDER_STORE));
    private static final Cluster THREE_MASTERS =
            new Cluster(EmbeddedOptions.defaults().withMasters(3).withProperties(ELECTIONS));
    private static final Cluster ON_S3 = new Cluster(EmbeddedOptions.defaults().on(UnderStore.S3));
    private static final Cluster ON_HDFS =
            new Cluster(EmbeddedOptions.defaults().on(UnderStore.HDFS));
    private static final Cluster TWO_WORKERS = new Cluster(EmbeddedOptions.defaults()
            .withWorkers(2, 1L << 30)
            .withStorageFolders(2)
            .on(UNDER_STORE));
    private static final Cluster KILLABLE =
            new Cluster(EmbeddedOptions.defaults().on(UNDER_STORE));

    private Clusters() {}

    /** One worker of 3 GiB, for tests that kill no server; whoever stops one for a while calls {@link #heal} afterwards. */
    public static EmbeddedAlluxio oneWorker() throws IOException {
        return ONE_WORKER.running();
    }

    /** One worker on an S3 server, for tests that kill no server. Skips the test as {@link #assumeS3} does. */
    public static EmbeddedAlluxio onS3() throws IOException {
        assumeS3();
        return UNDER_STORE == UnderStore.S3 ? oneWorker() : ON_S3.running();
    }

    /** One worker on an HDFS, for tests that kill no server. Skips the test as {@link #assumeHdfs} does. */
    public static EmbeddedAlluxio onHdfs() throws IOException {
        assumeHdfs();
        return UNDER_STORE == UnderStore.HDFS ? oneWorker() : ON_HDFS.running();
    }

    /** Skips the test, with the reason, where no S3 server is built. */
    public static void assumeS3() {
        assume(S3Server.isBuilt(), "there is no S3 server; make setup-s3 builds one");
    }

    /** Skips the test, with the reason, where the jars of HDFS are not there. */
    public static void assumeHdfs() {
        assume(HdfsServer.isFetched(), "there are no jars of HDFS; make setup-hdfs fetches them");
    }

    /** Skips the test where no server of such an under file system can be started. */
    public static void assumeThere(UnderStore kind) {
        switch (kind) {
            case S3 -> assumeS3();
            case HDFS -> assumeHdfs();
            case LOCAL -> {}
        }
    }

    private static void assume(boolean there, String reason) {
        if (!there) {
            System.out.println("SKIPPED: " + reason);
        }
        assumeTrue(there, reason);
    }

    /** Two workers, each with two storage folders. All servers are alive, and known to the master. */
    public static EmbeddedAlluxio twoWorkers() throws Exception {
        EmbeddedAlluxio running = TWO_WORKERS.running();
        heal(running);
        return running;
    }

    /** Three masters and a worker, for tests that kill them. All are alive, one leads, and knows the worker. */
    public static EmbeddedAlluxio threeMasters() throws Exception {
        EmbeddedAlluxio running = THREE_MASTERS.running();
        heal(running);
        return running;
    }

    /** The master that leads; waits until there is one. Where one that led is stopped, that is another. */
    public static ServerProcess awaitLeader(EmbeddedAlluxio alluxio) throws Exception {
        AtomicReference<@Nullable ServerProcess> leader = new AtomicReference<>();
        Waiting.until("a master leads", LIMIT, () -> {
            leader.set(alluxio.leader());
            return leader.get() != null;
        });
        return Objects.requireNonNull(leader.get());
    }

    /** One worker, for tests that kill servers. Both are alive, and the worker is known to the master. */
    public static EmbeddedAlluxio killable() throws Exception {
        EmbeddedAlluxio running = KILLABLE.running();
        heal(running);
        return running;
    }

    /** Brings back all servers: those that stopped continue, those that were killed start, and the master knows the workers. */
    public static void heal(EmbeddedAlluxio alluxio) throws Exception {
        List<ServerProcess> servers = new ArrayList<>(alluxio.workers());
        servers.addAll(0, alluxio.masterProcesses());
        for (ServerProcess server : servers) {
            if (server.isAlive()) {
                server.resume();
            } else {
                server.start();
            }
        }
        alluxio.awaitReady();
        Waiting.until(
                "the master knows its workers",
                LIMIT,
                () -> knownWorkers(alluxio) == alluxio.workers().size());
    }

    private static int knownWorkers(EmbeddedAlluxio alluxio) {
        try {
            return WorkerPorts.of(alluxio.masters()).size();
        } catch (IOException notYet) {
            return -1;
        }
    }

    /** Lets the master give up, at once, the workers that were killed; returns when it knows this many. */
    public static void awaitLoss(EmbeddedAlluxio alluxio, int remaining) throws Exception {
        MasterProperties.set(alluxio.masters(), WORKER_TIMEOUT, SHORT_TIMEOUT);
        try {
            Waiting.until(
                    "the master has given up the workers that were killed",
                    LIMIT,
                    () -> knownWorkers(alluxio) == remaining);
        } finally {
            MasterProperties.set(alluxio.masters(), WORKER_TIMEOUT, USUAL_TIMEOUT);
        }
    }

    /** A new, empty directory of this cluster, made in the UFS if that is a folder, and writable for everybody. */
    public static TestDirectory directory(EmbeddedAlluxio alluxio) throws IOException {
        String name = "own-" + DIRECTORIES.incrementAndGet();
        if (alluxio.isOnFolder()) {
            Path made = Files.createDirectory(alluxio.ufs().resolve(name));
            Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxrwxrwx"));
        } else {
            makeInAlluxio(alluxio, "/" + name);
        }
        return new TestDirectory(alluxio, "/" + name);
    }

    private static void makeInAlluxio(EmbeddedAlluxio alluxio, String path) throws IOException {
        AdapterOptions options = AdapterOptions.of(AdapterOptions.TABLE.read(Map.of()));
        try (Store store =
                AlluxioMount.connect(AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"), options)) {
            store.makeDirectory(path, 0777, Map.of());
        } catch (StoreException e) {
            throw new IOException(e);
        }
    }

    /** Starts with its first user. */
    private static final class Cluster {
        private final EmbeddedOptions options;
        private @Nullable EmbeddedAlluxio running;

        Cluster(EmbeddedOptions options) {
            this.options = options;
        }

        synchronized EmbeddedAlluxio running() throws IOException {
            EmbeddedAlluxio alluxio = running;
            if (alluxio == null) {
                Map<String, String> properties = new HashMap<>(PROPERTIES);
                properties.putAll(options.properties());
                alluxio = EmbeddedAlluxio.start(options.withProperties(properties));
                Runtime.getRuntime().addShutdownHook(new Thread(alluxio::close));
                running = alluxio;
            }
            return alluxio;
        }
    }
}

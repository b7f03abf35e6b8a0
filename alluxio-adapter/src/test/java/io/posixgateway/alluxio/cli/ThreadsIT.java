package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.AlluxioStore;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How many threads a gateway has while 64 readers read small files for the first time: those of the JVM included. On a busy machine
 * requests take longer than a second, and get threads in the place of theirs; how many, BlockingPoolTest says, on a clock of its own.
 */
class ThreadsIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int READERS = 64;
    private static final int FILES_EACH = 20;
    private static final int BYTES = 19_000;
    private static final int MAX_THREADS = 64;
    /** Of one session, without those in the place of others. */
    private static final int MAX_POOL_THREADS = 16;
    /** A master that so many readers leave no processor is slow, not away. */
    private static final String PATIENT = "-Dalluxio.user.rpc.retry.max.duration=60sec";

    private static TestDirectory own;

    @TempDir
    private Path folder = Path.of("");

    private Path mount = Path.of("");

    @BeforeAll
    static void startAlluxio() throws Exception {
        own = Clusters.directory(Clusters.oneWorker());
        for (int reader = 0; reader < READERS; reader++) {
            Path each = Files.createDirectory(own.ufs().resolve("d" + reader));
            for (int file = 0; file < FILES_EACH; file++) {
                Files.write(each.resolve("f" + file), content(reader, file));
            }
        }
        try (Store store = AlluxioStore.open(
                new StoreOptions(own.masters(), "", "CACHE_THROUGH", true, Map.of()), Clock.system())) {
            for (int reader = 0; reader < READERS; reader++) {
                store.list(own.path() + "/d" + reader, "", FILES_EACH); // the master loads what it knows of
            }
            assertThat(store.load(own.path())).isTrue();
            Waiting.until("the worker has all files", LIMIT, () -> store.loadState(own.path())
                    .done());
            assertThat(store.loadState(own.path()).loadedBytes()).isEqualTo((long) READERS * FILES_EACH * BYTES);
        }
    }

    @AfterEach
    void discardMount() throws Exception {
        Mounts.discard(mount);
    }

    @ParameterizedTest
    @CsvSource({"auto,on", "auto,off", "devfuse,on", "devfuse,off"})
    void theFirstEpochOf64ReadersTakesFewThreads(String transport, String shortCircuit) throws Exception {
        mount = Files.createDirectory(folder.resolve("mnt"));
        try (Program gateway = Program.gatewayWith(
                folder,
                PATIENT,
                "mount",
                own.uri(),
                mount.toString(),
                "-f",
                "-o",
                "transport=" + transport + ",short_circuit=" + shortCircuit)) {
            gateway.awaitOutput("is mounted at", LIMIT);
            Map<String, Integer> most = new TreeMap<>();
            ExecutorService readers = Executors.newFixedThreadPool(READERS);
            try {
                List<Future<?>> reading = new ArrayList<>();
                for (int reader = 0; reader < READERS; reader++) {
                    int number = reader;
                    reading.add(readers.submit(() -> {
                        readAll(number);
                        return number;
                    }));
                }
                while (!reading.stream().allMatch(Future::isDone)) {
                    Map<String, Integer> now = threads(gateway.pid());
                    most = sum(now) > sum(most) ? now : most;
                    TimeUnit.MILLISECONDS.sleep(5);
                }
                checkAll(reading);
            } finally {
                readers.shutdownNow();
            }
            assertThat(sum(most)).as("threads: %s", most).isLessThanOrEqualTo(MAX_THREADS);
        }
    }

    private static void checkAll(List<Future<?>> reading) throws InterruptedException, ExecutionException {
        for (Future<?> one : reading) {
            one.get();
        }
    }

    private void readAll(int reader) throws IOException {
        for (int file = 0; file < FILES_EACH; file++) {
            assertThat(mount.resolve("d" + reader).resolve("f" + file)).hasBinaryContent(content(reader, file));
        }
    }

    /** All but those in the place of others. */
    private static int sum(Map<String, Integer> counts) {
        int all = counts.values().stream().mapToInt(Integer::intValue).sum();
        return all - Math.max(0, counts.getOrDefault("fuse-pool-#", 0) - MAX_POOL_THREADS);
    }

    /** Threads by their names without numbers. */
    private static Map<String, Integer> threads(long pid) throws IOException {
        Map<String, Integer> found = new TreeMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
            for (Path task : tasks) {
                try {
                    String name = Files.readString(task.resolve("comm")).strip();
                    found.merge(name.replaceAll("[0-9]+", "#"), 1, Integer::sum);
                } catch (IOException e) {
                    // It has ended: before the file was opened, or while it was read (ESRCH).
                }
            }
        }
        return found;
    }

    private static byte[] content(int reader, int file) {
        byte[] content = new byte[BYTES];
        Arrays.fill(content, (byte) (31 * reader + file));
        return content;
    }
}

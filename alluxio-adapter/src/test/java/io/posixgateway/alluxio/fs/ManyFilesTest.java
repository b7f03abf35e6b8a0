package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FuseRequests;
import io.posixgateway.alluxio.store.FuseRequests.Opened;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.fuse.spi.Stat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many small files: what they cost in calls, and what stays of them. */
class ManyFilesTest {
    private static final Duration A_CALL = Duration.ofMillis(2);

    private static final int FILES = 10_000;
    private static final int THREADS = 8;
    private static final int BLOCK_FILES = 500;
    /** Of the JVM and of tests beside this one. */
    private static final int OTHER_DESCRIPTORS = 50;

    private static final long WORKER_BYTES = 1 << 30;

    /** Work on the file of a number. */
    private interface Work {
        void on(int number) throws Exception;
    }

    private static void inParallel(Work work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try {
            Stream<Future<?>> running = IntStream.range(0, THREADS)
                    .mapToObj(thread -> pool.submit(() -> {
                        for (int i = thread; i < FILES; i += THREADS) {
                            work.on(i);
                        }
                        return null;
                    }));
            for (Future<?> one : running.toList()) {
                one.get(4, TimeUnit.MINUTES);
            }
        } finally {
            pool.shutdownNow();
        }
    }

    private static String content(int number) {
        return ("content " + number + " ").repeat(1 + number % 50);
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    /** All open at the same time; nothing of them stays but block files for those who read next. */
    @Test
    void open_ofManyFiles_keepsNoMoreBlockFilesThanAllowed(@TempDir Path blocks) throws Exception {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL, 1, WORKER_BYTES, blocks);
        try (MemoryMount mount = MemoryMount.of(cluster.connect())
                .with("metadata_ttl", "1h")
                .with("open_trust", "1h")
                .with("block_files", Integer.toString(BLOCK_FILES))
                .open()) {
            inParallel(i -> mount.write("/f" + i, content(i)));
            assertThat(new HashSet<>(mount.list("/"))).hasSize(FILES);
            AlluxioFileSystem fileSystem = mount.fileSystem();
            assertThat(fileSystem.counts().openFiles()).isZero();
            long before = descriptors();
            Opened[] open = new Opened[FILES];
            inParallel(i -> open[i] = mount.requests().open(mount.lookup("/f" + i), Stat.O_RDONLY));
            assertThat(fileSystem.counts().openFiles()).isEqualTo(FILES);
            inParallel(i -> assertThat(mount.requests().read(open[i], 0, 1 << 16))
                    .asString()
                    .isEqualTo(content(i)));
            assertThat(fileSystem.counts().remoteReadBytes()).isZero();
            inParallel(i -> mount.requests().release(open[i]));
            assertThat(fileSystem.counts().openFiles()).isZero();
            assertThat(descriptors()).isLessThanOrEqualTo(before + BLOCK_FILES + OTHER_DESCRIPTORS);
            for (int i = 0; i < FILES; i += 5) {
                assertThat(cluster.ufs().read("/f" + i)).asString().isEqualTo(content(i));
            }
        }
    }

    /** Each call is a time to wait for every program that makes files. */
    @Test
    void create_ofSmallFile_asksMasterOnceMoreForItsTime() {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        try (MemoryMount mount =
                MemoryMount.of(cluster.connect()).with("metadata_ttl", "1h").open()) {
            mount.mkdir("/made");
            long made = mount.lookup("/made").id();
            write(mount, made, "first");
            mount.faults().forgetCounts();
            mount.faults().on(StoreCall.CREATE).always().after(() -> cluster.clock()
                    .advance(A_CALL));
            for (int i = 0; i < 40; i++) {
                assertThat(mount.requests().lookup(made, "f" + i).id()).isZero();
                write(mount, made, "f" + i);
            }
            assertThat(mount.faults().counts())
                    .isEqualTo(Map.of(
                            StoreCall.CREATE, 40,
                            StoreCall.CHANGE, 40,
                            StoreCall.WRITE, 40,
                            StoreCall.COMPLETE, 40));
            for (int i = 0; i < 40; i++) {
                assertThat(mount.read("/made/f" + i)).isEqualTo("content");
                assertThat(cluster.ufs().read("/made/f" + i)).asString().isEqualTo("content");
            }
        }
    }

    private static void write(MemoryMount mount, long directory, String name) {
        FuseRequests requests = mount.requests();
        Opened file = requests.create(directory, name, 0644, Stat.O_WRONLY | Stat.O_CREAT | Stat.O_EXCL);
        requests.write(file, 0, "content".getBytes(StandardCharsets.UTF_8));
        requests.flush(file);
        requests.release(file);
    }
}

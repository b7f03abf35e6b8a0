package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.nio.file.ExtendedOpenOption;
import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.ServerProcess;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.StoredBlocks;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.conformance.QuietTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The worker through which eight programs write files stops, or is killed, while they do: each close succeeds, since there is
 * another worker, and what was written is there, also after the first one has gone on with what it had been sent. Who reads
 * through it goes on, too.
 */
class CommitFaultTest {
    private static final int WRITERS = 8;
    private static final int SMALL_BYTES = 19_000;
    private static final int LARGE_BYTES = 3 << 20;

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    /** In {@link QuietTime}; less than Alluxio's own limit. What is hoped for is a quarter of it. */
    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(25);

    /** The same. */
    private static final Duration LONGEST_READ = Duration.ofSeconds(15);

    /** To stop the worker while something is sent to it. */
    private static final int MAX_TRIES = 5;

    private static final int PIECE_BYTES = 1 << 20;
    private static final int PIECES = 20;
    /** So many pieces may have been fetched before they were asked for. */
    private static final int READ_AHEAD = 8;

    private final byte[] readContent = readContent();
    private int pieces;
    private final Path folder;

    private final EmbeddedAlluxio alluxio;
    private final TestDirectory own;

    /** Without another worker, who closes a file would be told when one stops. */
    CommitFaultTest(@TempDir Path folder) throws Exception {
        this.folder = folder;
        alluxio = Clusters.twoWorkers();
        own = Clusters.directory(alluxio);
    }

    /** The worker that stops, or is killed. */
    private ServerProcess near() {
        return alluxio.workers().get(0);
    }

    @Test
    void whoClosesOrReadsFilesDoesNotSeeThatAWorkerStops() throws Exception {
        worksWithout("stopped", near()::pause, near()::resume);
    }

    @Test
    void whoClosesOrReadsFilesDoesNotSeeThatAWorkerIsKilled() throws Exception {
        worksWithout("killed", near()::kill, () -> {});
    }

    /** What is done to a worker. */
    private interface Step {
        void run() throws IOException;
    }

    private void worksWithout(String name, Step goes, Step comes) throws Exception {
        ConcurrentMap<Path, Long> written = new ConcurrentHashMap<>();
        try (MountedFileSystem mounted = FarMount.of(own, folder.resolve("spool"))) {
            awaitNear(mounted.root());
            Path read = Files.write(mounted.root().resolve("read-" + name), readContent);
            try (Writers writers = new Writers(mounted.root(), name, written);
                    FileChannel open = openUncached(read);
                    SteadyReader reader = new SteadyReader("reader", () -> readNext(open))) {
                writers.awaitMore("they write", 2);
                Waiting.until("it is read", PATIENCE, () -> reader.good() > 1);
                goes.run();
                try {
                    int before = reader.good();
                    writers.awaitMore("they write through the other worker", 1);
                    Waiting.until("the stream goes on", PATIENCE, () -> reader.good() > before + 2 * READ_AHEAD);
                } finally {
                    comes.run();
                }
                writers.end(LONGEST_CLOSE);
                reader.endHonestly(LONGEST_READ);
                assertThat(reader.failed()).isZero();
            }
            comparesWith(written, mounted.root());
        }
    }

    /** Whose close succeeded is there. */
    private void comparesWith(Map<Path, Long> written, Path root) throws Exception {
        for (Map.Entry<Path, Long> file : written.entrySet()) {
            String name = file.getKey().toString();
            Waiting.until(
                    name + " is whole", PATIENCE, () -> Arrays.equals(own.stored(name), content(file.getValue())));
            assertThat(root.resolve(file.getKey())).hasBinaryContent(content(file.getValue()));
        }
    }

    @Test
    void whatAWorkerThatStoppedWritesTooLateDoesNotStay() throws Exception {
        try (MountedFileSystem mounted = FarMount.of(own, folder.resolve("spool"));
                LogLines log = new LogLines()) {
            Path spool = folder.resolve("spool");
            writeWhileItStops(mounted.root(), "late-", spool, log::anyWith);
            Waiting.until("what was kept was published once more", PATIENCE, () -> spoolFiles(spool) == 0);
            holdWhatWasWrittenLast(mounted.root(), "late-");
        }
    }

    private void holdWhatWasWrittenLast(Path root, String prefix) throws IOException {
        try (Stream<Path> names = Files.list(root)) {
            List<Path> files = names.filter(
                            file -> file.getFileName().toString().startsWith(prefix))
                    .toList();
            assertThat(files).hasSizeGreaterThanOrEqualTo(WRITERS);
            for (Path file : files) {
                assertThat(own.stored(file.getFileName().toString())).asString().isEqualTo("second");
                assertThat(file).hasContent("second");
            }
        }
    }

    /** Did the gateway say this? */
    private interface Said {
        boolean contains(String text) throws IOException;

        /** That something stays in the spool whose path begins so. */
        default boolean stays(String path) throws IOException {
            for (int i = 0; i < WRITERS; i++) {
                if (contains(path + i + " stays in")) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Writes files, and each again, while the near worker is stopped, which then goes on. Again, until the content of one of them
     * was kept, as it had been sent to that worker: which worker gets a file is left to chance, as no client here is near any of
     * them.
     */
    private void writeWhileItStops(Path root, String prefix, Path spool, Said said) throws Exception {
        for (int tries = 0; tries < MAX_TRIES; tries++) {
            String names = prefix + tries + "-";
            awaitNear(root);
            near().pause();
            try {
                writeAll(root, names, "first");
                writeAll(root, names, "second");
                // Before the last handle is released, which nobody waits for, what is written is in the spool anyway.
                Waiting.until("all are released", PATIENCE, () -> spoolFiles(spool) == 0 || said.stays("/" + names));
                if (said.stays("/" + names)) {
                    return;
                }
            } finally {
                near().resume();
            }
        }
        throw new AssertionError("nothing was kept in " + MAX_TRIES + " tries");
    }

    /** At the same time, since what is written later goes past the worker. */
    private void writeAll(Path root, String prefix, String content) throws Exception {
        List<CompletableFuture<Void>> written = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try {
            for (int i = 0; i < WRITERS; i++) {
                Path file = root.resolve(prefix + i);
                written.add(CompletableFuture.runAsync(() -> write(file, content), threads));
            }
            for (CompletableFuture<Void> one : written) {
                one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        for (int i = 0; i < WRITERS; i++) {
            assertThat(own.stored(prefix + i)).asString().isEqualTo(content);
        }
    }

    private static void write(Path file, String content) {
        try {
            Files.writeString(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Files are written through it, as the mount has heard of it. */
    private void awaitNear(Path root) throws Exception {
        Waiting.until("the near worker is used", PATIENCE, () -> {
            // Written once: a file that is replaced keeps its node, whose number is no longer that of its block.
            Path file =
                    Files.writeString(root.resolve("near-" + UUID.randomUUID()), "x", StandardOpenOption.CREATE_NEW);
            return StoredBlocks.of(alluxio, 1).hold(file);
        });
    }

    private static long spoolFiles(Path spool) throws IOException {
        try (Stream<Path> files = Files.list(spool)) {
            return files.filter(file -> file.getFileName().toString().matches("spool-\\d+"))
                    .count();
        }
    }

    private static byte[] readContent() {
        byte[] content = new byte[PIECES * PIECE_BYTES];
        new Random(1).nextBytes(content);
        return content;
    }

    /** Past the kernel's page cache. */
    private static FileChannel openUncached(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
    }

    /** One after the other, and from the beginning again. */
    private void readNext(FileChannel file) throws IOException {
        int at = pieces++ % PIECES * PIECE_BYTES;
        ByteBuffer room =
                ByteBuffer.allocateDirect(PIECE_BYTES + 4096).alignedSlice(4096).limit(PIECE_BYTES);
        assertThat(file.read(room, at)).isEqualTo(PIECE_BYTES);
        assertThat(room.flip().equals(ByteBuffer.wrap(readContent, at, PIECE_BYTES)))
                .as("bytes at %d", at)
                .isTrue();
    }

    private static byte[] content(long seed) {
        Random random = new Random(seed);
        byte[] content = new byte[random.nextInt(6) == 0 ? LARGE_BYTES : SMALL_BYTES];
        random.nextBytes(content);
        return content;
    }

    /** Each makes new files, and replaces one of its own, until they are told to end. */
    private static final class Writers implements AutoCloseable {
        /** So that there are not too many files to be compared. */
        private static final long PAUSE_NANOS = 200_000_000;

        private static final AtomicLong SEEDS = new AtomicLong();

        private final Path root;
        private final ConcurrentMap<Path, Long> written;
        private final ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        private final AtomicInteger[] done = new AtomicInteger[WRITERS];
        private final Queue<String> failures = new ConcurrentLinkedQueue<>();
        private final AtomicLong longestNanos = new AtomicLong();
        private volatile boolean ended;

        Writers(Path root, String name, ConcurrentMap<Path, Long> written) {
            this.root = root;
            this.written = written;
            for (int i = 0; i < WRITERS; i++) {
                String own = name + "-" + i;
                AtomicInteger count = new AtomicInteger();
                done[i] = count;
                threads.execute(() -> work(own, count));
            }
        }

        private void work(String own, AtomicInteger count) {
            while (!ended) {
                int number = count.get();
                String name = number % 3 == 2 ? own : own + "-" + number;
                QuietTime time = QuietTime.sinceNow();
                try {
                    write(Path.of(name));
                } catch (IOException e) {
                    written.remove(Path.of(name));
                    failures.add(name + ": " + e);
                }
                longestNanos.accumulateAndGet(time.quiet().toNanos(), Math::max);
                count.incrementAndGet();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }

        private void write(Path name) throws IOException {
            long seed = SEEDS.incrementAndGet();
            Files.write(
                    root.resolve(name),
                    content(seed),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE);
            written.put(name, seed);
        }

        /** Each of them has written so many more. */
        void awaitMore(String what, int more) throws Exception {
            for (AtomicInteger count : done) {
                int before = count.get();
                Waiting.until(what, PATIENCE, () -> count.get() >= before + more);
            }
        }

        void finish() throws InterruptedException {
            ended = true;
            threads.shutdown();
            assertThat(threads.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }

        /** And nobody has seen anything. */
        void end(Duration longest) throws InterruptedException {
            finish();
            assertThat(failures).isEmpty();
            assertThat(Duration.ofNanos(longestNanos.get()))
                    .as("the longest from open to close")
                    .isLessThan(longest);
        }

        @Override
        public void close() {
            ended = true;
            threads.shutdownNow();
        }
    }
}

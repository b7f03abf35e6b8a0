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
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One of two workers stops to answer: who reads from the other goes on, and who reads from it finds the bytes
 * elsewhere, even while it hangs.
 */
class SlowWorkerFaultTest {
    private static final int BYTES = 64 << 10;
    private static final int FILES = 240;
    /** More than the pool has threads. */
    private static final int WAITING_READERS = 80;

    private static final int READERS = 8;
    private static final int READS = 40;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** In {@link QuietTime}. What is hoped for is a tenth of it. */
    private static final Duration MAX = Duration.ofSeconds(2);
    /** The same; whom Alluxio's client keeps waiting for the worker that hangs waits for five seconds at least. */
    private static final Duration MAX_ELSEWHERE = Duration.ofSeconds(4);

    private final Path folder;

    SlowWorkerFaultTest(@TempDir Path folder) {
        this.folder = folder;
    }

    @Test
    void whoReadsFromAnotherWorkerGoesOn() throws Exception {
        EmbeddedAlluxio alluxio = Clusters.twoWorkers();
        TestDirectory own = Clusters.directory(alluxio);
        write(own);
        Took took = goOn(own, alluxio.workers().get(1));
        assertThat(took.others).as("99 of 100 reads of another worker").isLessThan(MAX);
        assertThat(took.elsewhere).as("most who read elsewhere").isLessThan(MAX_ELSEWHERE);
    }

    private void write(TestDirectory own) throws Exception {
        try (MountedFileSystem mounted = FarMount.of(own, folder.resolve("spool"))) {
            for (int i = 0; i < FILES; i++) {
                Files.write(mounted.root().resolve("f" + i), content(i));
            }
        }
    }

    /**
     * How long they took, in {@link QuietTime}.
     *
     * @param others 99 of 100 reads of files that the worker does not hold
     * @param elsewhere three quarters of those who read what it holds
     */
    private record Took(Duration others, Duration elsewhere) {}

    private Took goOn(TestDirectory own, ServerProcess worker) throws Exception {
        try (MountedFileSystem mounted = FarMount.of(own, folder.resolve("spool"))) {
            List<Integer> slow = heldBy(own, mounted.root(), 2);
            List<Integer> others = heldBy(own, mounted.root(), 1);
            assertThat(slow).hasSizeGreaterThan(WAITING_READERS);
            assertThat(others).isNotEmpty();
            worker.pause();
            try {
                return goOn(mounted.root(), slow.subList(0, WAITING_READERS), others);
            } finally {
                worker.resume();
            }
        }
    }

    /** All of the first are read at once, while a few read the others again and again. */
    private static Took goOn(Path root, List<Integer> slow, List<Integer> others) throws Exception {
        CountDownLatch started = new CountDownLatch(READERS);
        List<Duration> elsewhere = Collections.synchronizedList(new ArrayList<>());
        List<Duration> each = Collections.synchronizedList(new ArrayList<>());
        try (Readers waiting = new Readers(slow.size());
                Readers readers = new Readers(READERS)) {
            for (int i = 0; i < READERS; i++) {
                int first = i;
                readers.run(() -> {
                    read(root, others.get(first));
                    started.countDown();
                    started.await();
                    for (int n = 0; n < READS; n++) {
                        QuietTime time = QuietTime.sinceNow();
                        read(root, others.get((first + n * READERS) % others.size()));
                        each.add(time.quiet());
                    }
                });
            }
            started.await();
            QuietTime time = QuietTime.sinceNow();
            for (int file : slow) {
                waiting.run(() -> {
                    read(root, file);
                    elsewhere.add(time.quiet());
                });
            }
            readers.await("those of the other worker have read");
            waiting.await("those of the worker that hangs have read");
        }
        return new Took(percentile(each, 99), percentile(elsewhere, 75));
    }

    private static Duration percentile(List<Duration> durations, int percent) {
        Collections.sort(durations);
        return durations.get((durations.size() - 1) * percent / 100);
    }

    private static byte[] content(int number) {
        byte[] content = new byte[BYTES];
        Arrays.fill(content, (byte) number);
        return content;
    }

    private static List<Integer> heldBy(TestDirectory own, Path root, int worker) throws IOException {
        StoredBlocks blocks = StoredBlocks.of(own.alluxio(), worker);
        List<Integer> held = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            if (blocks.hold(root.resolve("f" + i))) {
                held.add(i);
            }
        }
        return held;
    }

    /** Past the kernel's page cache. */
    private static void read(Path root, int number) throws IOException {
        ByteBuffer room =
                ByteBuffer.allocateDirect(2 * BYTES).alignedSlice(4096).limit(BYTES);
        try (FileChannel open = FileChannel.open(
                root.resolve("f" + number), Set.of(StandardOpenOption.READ, ExtendedOpenOption.DIRECT))) {
            assertThat(open.read(room)).isEqualTo(BYTES);
        }
        assertThat(room.flip().equals(ByteBuffer.wrap(content(number)))).isTrue();
    }

    /** What one of them does. */
    private interface Work {
        void run() throws Exception;
    }

    /** Many who each do something, and what went wrong first. */
    private static final class Readers implements AutoCloseable {
        private final AtomicInteger waiting = new AtomicInteger();
        private final AtomicReference<@Nullable Throwable> wrong = new AtomicReference<>();
        private final ExecutorService threads;

        Readers(int most) {
            threads = Executors.newFixedThreadPool(most);
        }

        void run(Work work) {
            waiting.incrementAndGet();
            threads.execute(() -> {
                try {
                    work.run();
                } catch (Exception | AssertionError e) {
                    wrong.compareAndSet(null, e);
                } finally {
                    waiting.decrementAndGet();
                }
            });
        }

        void await(String what) throws Exception {
            Waiting.until(what, PATIENCE, () -> waiting.get() == 0);
            assertThat(wrong.get()).as(what).isNull();
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }
}

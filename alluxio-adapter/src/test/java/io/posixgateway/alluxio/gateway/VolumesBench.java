package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Node;
import io.posixgateway.alluxio.harness.Report;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What volumes take of a gateway's memory that has as much as the chart gives it: idle, with their files known, and with readers on
 * all of them. The gateway is in a control group of that limit where this machine lets the bench make one (version 1).
 */
class VolumesBench {
    private static final int READERS = Integer.getInteger("pgw.readers", 64);
    private static final long SECONDS = Long.getLong("pgw.seconds", 60);
    private static final int FILES = Integer.getInteger("pgw.files", 20_000);
    private static final long LIMIT_MIB = Long.getLong("pgw.limit.mib", 1792);

    private static final int[] VOLUMES = {1, 10, 50};
    private static final int FILES_A_FOLDER = 1000;
    private static final int FILE_BYTES = 19_000;
    /** As the chart does. */
    private static final int HEAP_PERCENT = 45;

    private static final int DIRECT_PERCENT = 30;
    private static final double MAX_USED = 0.8;

    @TempDir
    private Path folder = Path.of("");

    private final List<Path> mounts = new ArrayList<>();
    private final AtomicLong largestKb = new AtomicLong();
    private final Report report = new Report("memory");

    @Test
    void fifty_volumes_under_readers_stay_within_the_limit() throws Exception {
        Built.keeper();
        String options = "-Xmx" + LIMIT_MIB * HEAP_PERCENT / 100 + "m -XX:MaxDirectMemorySize="
                + LIMIT_MIB * DIRECT_PERCENT / 100 + "m";
        try (EmbeddedAlluxio alluxio =
                        EmbeddedAlluxio.start(EmbeddedOptions.defaults().withJvmOptions(List.of("-Xmx1g")));
                Group group = Group.make(LIMIT_MIB << 20);
                Node node = group.around(() -> new Node(folder, options))) {
            fill(alluxio.ufs().resolve("files"));
            node.awaitReady();
            report.with("limit_mib", LIMIT_MIB)
                    .with("control_group", group.isThere())
                    .with("files", FILES);
            for (int count : VOLUMES) {
                attach(node, alluxio, count);
                report.with("idle_" + count + "_mib", used(node));
                know();
                report.with("known_" + count + "_mib", used(node));
            }
            long read = readOn(node);
            double largest = largestKb.get() / 1024.0 / LIMIT_MIB;
            report.with("readers", READERS)
                    .with("seconds", SECONDS)
                    .with("files_read", read)
                    .with("largest_percent", String.format(Locale.ROOT, "%.1f", 100 * largest))
                    .tell();
            assertThat(node.gateway().isAlive()).as("it did not restart").isTrue();
            assertThat(node.gateway().output()).doesNotContain("OutOfMemoryError");
            assertThat(largest).as("of the limit").isLessThan(MAX_USED);
        }
    }

    private static void fill(Path files) throws IOException {
        byte[] content = new byte[FILE_BYTES];
        for (int i = 0; i < FILES; i++) {
            Path in = files.resolve("d" + i / FILES_A_FOLDER);
            if (i % FILES_A_FOLDER == 0) {
                Files.createDirectories(in);
            }
            Files.write(in.resolve("f" + i), content);
        }
    }

    private void attach(Node node, EmbeddedAlluxio alluxio, int count) throws Exception {
        while (mounts.size() < count) {
            String volume = "v" + mounts.size();
            mounts.add(node.mount(volume));
            node.control().attach(Node.request(volume, alluxio.masters(), "/files"));
        }
    }

    private void know() throws IOException {
        for (Path mount : mounts) {
            try (Stream<Path> files = Files.walk(mount)) {
                assertThat(files.filter(Files::isRegularFile).count()).isEqualTo(FILES);
            }
        }
    }

    private long used(Node node) throws IOException {
        long kb = node.gateway().residentKb();
        largestKb.accumulateAndGet(kb, Math::max);
        return kb >> 10;
    }

    private long readOn(Node node) throws Exception {
        AtomicLong read = new AtomicLong();
        AtomicLong failed = new AtomicLong();
        long end = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < READERS; i++) {
            Random random = new Random(i);
            Thread thread = new Thread(() -> {
                while (System.nanoTime() < end) {
                    try {
                        int file = random.nextInt(FILES);
                        Path mount = mounts.get(random.nextInt(mounts.size()));
                        Path path = mount.resolve("d" + file / FILES_A_FOLDER).resolve("f" + file);
                        read.addAndGet(Files.readAllBytes(path).length / FILE_BYTES);
                    } catch (IOException e) {
                        failed.incrementAndGet();
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                used(node);
                thread.join(1000);
            }
        }
        assertThat(failed.get()).as("reads that failed").isZero();
        return read.get();
    }

    /** A control group of version 1; where none can be made, nothing. */
    private static final class Group implements AutoCloseable {
        private static final Path ALL = Path.of("/sys/fs/cgroup/memory");

        private final Path above;
        private final Path own;
        private final boolean there;

        private Group(Path above, Path own, boolean there) {
            this.above = above;
            this.own = own;
            this.there = there;
        }

        static Group make(long limitBytes) throws IOException {
            String membership = Files.readAllLines(Path.of("/proc/self/cgroup")).stream()
                    .filter(line -> line.contains(":memory:/"))
                    .map(line -> line.substring(line.indexOf(":/") + 2))
                    .findFirst()
                    .orElse("");
            Path above = ALL.resolve(membership);
            Path own = above.resolve("pgw-bench-" + ProcessHandle.current().pid());
            if (!Files.isWritable(above.resolve("tasks"))) {
                return new Group(above, own, false);
            }
            Files.createDirectory(own);
            Files.writeString(own.resolve("memory.limit_in_bytes"), String.valueOf(limitBytes));
            return new Group(above, own, true);
        }

        boolean isThere() {
            return there;
        }

        /** What a thread of the group starts is in it. */
        <T> T around(Callable<T> start) throws Exception {
            if (!there) {
                return start.call();
            }
            String thread =
                    Path.of("/proc/thread-self").toRealPath().getFileName().toString();
            Files.writeString(own.resolve("tasks"), thread);
            try {
                return start.call();
            } finally {
                Files.writeString(above.resolve("tasks"), thread);
            }
        }

        @Override
        public void close() throws IOException {
            if (there) {
                awaitEmpty();
                Files.delete(own);
            }
        }

        private void awaitEmpty() throws IOException {
            try {
                Waiting.until("the control group is empty", Duration.ofMinutes(1), () -> Files.readString(
                                own.resolve("tasks"))
                        .isBlank());
            } catch (IOException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException("the control group " + own + " stays", e);
            }
        }
    }
}

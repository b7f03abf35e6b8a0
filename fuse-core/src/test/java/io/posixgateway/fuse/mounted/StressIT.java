package io.posixgateway.fuse.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.conformance.Stress;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Random operations of several processes, compared with a model: one round in every build, and as many as fit into {@code
 * -Dpgw.stress.seconds} for {@code make stress}. Afterwards nothing is left over, and this process has not grown.
 */
class StressIT {
    private static final int PROCESSES = 3;
    private static final int OPERATIONS = 4_000;
    private static final long SECONDS = Integer.getInteger("pgw.stress.seconds", 0);
    private static final long SEED = Long.getLong("pgw.seed", System.nanoTime()) % 1_000_000;
    /** After so many the caches of the JVM and of the allocator are filled. */
    private static final int SETTLED_ROUNDS = 3;

    private static final long GROWTH_BYTES = 64 << 20;
    private static final int GROWTH_DESCRIPTORS = 4;
    /** So many looks at the memory must bring nothing lower. */
    private static final int LOOKS = 100;

    private final MemoryFileSystem memory = new MemoryFileSystem(1L << 30);

    /** What this process holds outside the heap, and its descriptors. */
    private record Held(long bytes, long descriptors) {
        static Held now() throws IOException {
            long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted();
            try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
                return new Held(residentBytes() - heap, open.count());
            }
        }

        /** The least seen until it no longer falls: the collector gives heap back after it has stopped counting it. */
        static Held settled() throws IOException, InterruptedException {
            System.gc();
            Held[] least = {now()};
            int[] higher = {0};
            Eventually.holds("memory does not fall any more", () -> {
                Held seen = now();
                if (seen.bytes < least[0].bytes) {
                    least[0] = seen;
                    higher[0] = 0;
                }
                return ++higher[0] > LOOKS;
            });
            return least[0];
        }

        boolean isLittleMoreThan(Held before) {
            return bytes < before.bytes + GROWTH_BYTES && descriptors <= before.descriptors + GROWTH_DESCRIPTORS;
        }

        private static long residentBytes() throws IOException {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
                }
            }
            throw new IOException("/proc/self/status tells no VmRSS");
        }
    }

    @EachTransport
    void mixedWorkAgreesWithAModelAndLeavesNothing(TransportChoice transport) throws Exception {
        long end = System.nanoTime() + SECONDS * 1_000_000_000L;
        Held settled = null;
        try (MountedFileSystem mounted = MountedFileSystem.mount(memory, transport)) {
            int round = 0;
            do {
                Stress.run(mounted.root(), PROCESSES, OPERATIONS, SEED + (long) PROCESSES * round);
                assertNothingLeft(mounted);
                round++;
                if (round == SETTLED_ROUNDS) {
                    settled = Held.settled();
                }
            } while (System.nanoTime() < end);
            if (settled != null) {
                Held before = settled;
                System.gc();
                System.out.printf(
                        "%s: %d rounds from seed %d; %s, after %d rounds %s%n",
                        transport, round, SEED, Held.now(), SETTLED_ROUNDS, settled);
                Eventually.holds("this process has not grown", () -> Held.now().isLittleMoreThan(before));
            }
        }
    }

    private void assertNothingLeft(MountedFileSystem mounted) throws InterruptedException {
        FuseSession session = mounted.session();
        assertThat(mounted.root()).isEmptyDirectory();
        Eventually.holds("every inode but the root is freed", () -> memory.inodes() == 1);
        Eventually.holds("their space is free again", () -> memory.usedBytes() <= 4096);
        Eventually.holds("every request is answered", () -> session.metrics().inFlight() == 0);
    }
}

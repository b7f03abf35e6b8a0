package io.posixgateway.fuse.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.conformance.EveryOperation;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.testing.FaultyFileSystem.Fault;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** File systems that throw, and file systems that are slow. */
class FaultyFileSystemIT {
    private static final int BLOCKED = 64;
    private static final int MEASURED = 400;
    private static final long DELAY_NANOS = 100_000_000;

    /** What comes before most operations: broken last, so that the others are reached. */
    private static final Set<Opcode> FINDING = EnumSet.of(Opcode.LOOKUP, Opcode.GETATTR);

    /** How long the kernel believes names: across a whole test. */
    private static final long VALID_NANOS = 3_600_000_000_000L;

    @EachTransport
    void whateverAFileSystemThrowsIsAnInputOutputErrorAndTheMountLives(TransportChoice transport) throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        AtomicBoolean found = new AtomicBoolean(true);
        Fault thrown = FaultyFileSystem.throwing();
        FaultyFileSystem fileSystem = new FaultyFileSystem(
                new MemoryFileSystem(64 << 20, VALID_NANOS, Clock.systemUTC()), (operation, request) -> {
                    boolean passes = !broken.get() || (found.get() && FINDING.contains(operation));
                    return passes ? 0 : thrown.strike(operation, request);
                });
        try (MountedFileSystem mounted = MountedFileSystem.mount(fileSystem, transport);
                EveryOperation operations = new EveryOperation(mounted.root())) {
            broken.set(true);
            Map<String, String> outcomes = operations.provoke();
            assertThat(outcomes).hasSizeGreaterThan(25);
            assertThat(outcomes)
                    .allSatisfy((operation, outcome) ->
                            assertThat(outcome).as(operation).isEqualTo("EIO"));
            found.set(false);
            assertThatThrownBy(() -> Files.size(mounted.root().resolve("never seen")))
                    .hasMessageContaining("Input/output error");
            broken.set(false);
            assertThat(Files.readAllBytes(mounted.root().resolve("file"))).hasSize(100_000);
            assertErrorsCounted(mounted.session().metrics());
        }
    }

    private static void assertErrorsCounted(SessionMetrics metrics) {
        for (Opcode opcode : List.of(Opcode.READ, Opcode.MKDIR, Opcode.UNLINK, Opcode.SETXATTR, Opcode.FLUSH)) {
            assertThat(metrics.errors(opcode, Errno.EIO)).as(opcode.label()).isPositive();
        }
    }

    @EachTransport
    void anInjectedErrorComesThroughAsItIs(TransportChoice transport) throws Exception {
        FaultyFileSystem fileSystem = new FaultyFileSystem(
                new MemoryFileSystem(64 << 20),
                FaultyFileSystem.failing(Errno.EDQUOT).only(Opcode.MKDIR));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fileSystem, transport)) {
            assertThatThrownBy(() -> Files.createDirectory(mounted.root().resolve("d")))
                    .hasMessageContaining("quota");
            Files.writeString(mounted.root().resolve("f"), "fine");
        }
    }

    /** Fsync takes 100 ms, and 64 threads do nothing else: stats and reads that need no waiting are not held up. */
    @EachTransport
    void slowNeighboursDoNotDelayWhatIsAnsweredAtOnce(TransportChoice transport) throws Exception {
        FaultyFileSystem fileSystem = new FaultyFileSystem(
                new MemoryFileSystem(64 << 20, 0, Clock.systemUTC()),
                FaultyFileSystem.delay(DELAY_NANOS).only(Opcode.FSYNC));
        ExecutorService pool = Executors.newFixedThreadPool(BLOCKED);
        AtomicBoolean enough = new AtomicBoolean();
        CountDownLatch began = new CountDownLatch(BLOCKED);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fileSystem, transport)) {
            List<Future<?>> slow = new ArrayList<>();
            for (int i = 0; i < BLOCKED; i++) {
                Path file = mounted.root().resolve("slow" + i);
                slow.add(pool.submit(() -> syncUntil(file, began, enough)));
            }
            began.await();
            Path quick = Files.writeString(mounted.root().resolve("quick"), "answered at once");
            long[] nanos = new long[MEASURED];
            for (int i = 0; i < MEASURED; i++) {
                long start = System.nanoTime();
                assertThat(Files.size(quick)).isEqualTo(16);
                assertThat(Files.readString(quick)).isEqualTo("answered at once");
                nanos[i] = System.nanoTime() - start;
            }
            Arrays.sort(nanos);
            assertThat(mounted.session().metrics().inFlight())
                    .as("others wait meanwhile")
                    .isGreaterThan(BLOCKED / 2);
            assertThat(nanos[MEASURED / 2]).as("median").isLessThan(DELAY_NANOS / 2);
            assertThat(nanos[MEASURED * 9 / 10]).as("90 %").isLessThan(DELAY_NANOS);
            enough.set(true);
            for (Future<?> one : slow) {
                one.get();
            }
            assertThat(mounted.session().metrics().handedOver()).isGreaterThanOrEqualTo(BLOCKED);
        } finally {
            enough.set(true);
            pool.shutdownNow();
        }
    }

    private static Void syncUntil(Path file, CountDownLatch began, AtomicBoolean enough) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            began.countDown();
            while (!enough.get()) {
                channel.force(true);
            }
        }
        return null;
    }
}

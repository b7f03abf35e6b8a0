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
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.time.FaultyClock;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** File systems that throw and fail. */
class FaultyFileSystemIT {
    /** What comes before most operations: broken last, so that the others are reached. */
    private static final Set<Opcode> FINDING = EnumSet.of(Opcode.LOOKUP, Opcode.GETATTR);

    private static final int FAULTS = 100;

    /** How long the kernel believes names: across a whole test. */
    private static final long VALID_NANOS = 3_600_000_000_000L;

    @EachTransport
    void whateverAFileSystemThrowsIsAnInputOutputErrorAndTheMountLives(TransportChoice transport) throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        AtomicBoolean found = new AtomicBoolean(true);
        Fault thrown = FaultyFileSystem.throwing();
        FaultyFileSystem fileSystem = new FaultyFileSystem(
                new MemoryFileSystem(64 << 20, VALID_NANOS, Clock.system()), (operation, request) -> {
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

    /** More than there are threads: each of them costs the request that it befell. */
    @EachTransport
    void whatIsThrownOutsideTheFileSystemCostsARequestAndNoThread(TransportChoice transport) throws Exception {
        FaultyClock clock = new FaultyClock();
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                new MemoryFileSystem(64 << 20), MountedFileSystem.options(transport, false), clock)) {
            Files.writeString(mounted.root().resolve("file"), "before");
            clock.fail("pgw-", 0, FAULTS);
            int failed = 0;
            for (int i = 0; clock.left() > 0; i++) {
                failed += fails(mounted.root().resolve("absent " + i)) ? 1 : 0;
            }
            assertThat(failed).isPositive();
            assertThat(Files.readString(mounted.root().resolve("file"))).isEqualTo("before");
            Files.writeString(mounted.root().resolve("file"), "after");
            SessionMetrics metrics = mounted.session().metrics();
            assertThat(FINDING.stream()
                            .mapToLong(each -> metrics.errors(each, Errno.EIO))
                            .sum())
                    .isEqualTo(failed);
        }
    }

    /** A look at what is not there. */
    private static boolean fails(Path path) throws IOException {
        try {
            Files.readAttributes(path, BasicFileAttributes.class);
            throw new AssertionError(path + " is there");
        } catch (NoSuchFileException e) {
            return false;
        } catch (FileSystemException e) {
            assertThat(e).hasMessageContaining("Input/output error");
            return true;
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
}

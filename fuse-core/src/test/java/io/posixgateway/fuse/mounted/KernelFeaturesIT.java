package io.posixgateway.fuse.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.time.ManualClock;
import io.posixgateway.fuse.wire.Opcode;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;

/** What goes beyond plain requests: notifications, passthrough, interrupts, locks, read-only sessions. */
class KernelFeaturesIT {
    private static final long MINUTE_NANOS = 60_000_000_000L;

    @EachTransport
    void anInvalidationMakesTheKernelAskAgain(TransportChoice transport) throws Exception {
        SwitchableFileSystem files = new SwitchableFileSystem();
        try (MountedFileSystem mounted = MountedFileSystem.mount(files, transport)) {
            Path file = mounted.root().resolve("file");
            assertThat(file).hasContent("first");
            files.content = "second one".getBytes(StandardCharsets.UTF_8);
            assertThat(file).hasSize(5);
            assertThat(files.startedKernel().invalidateInode(2, 0, 0)).isZero();
            assertThat(file).hasContent("second one");
        }
    }

    @EachTransport
    void whatIsStoredIsReadWithoutAskingTheFileSystem(TransportChoice transport) throws Exception {
        SwitchableFileSystem files = new SwitchableFileSystem();
        files.content = new byte[300_001];
        byte[] stored = new byte[files.content.length];
        new Random(7).nextBytes(stored);
        try (MountedFileSystem mounted = MountedFileSystem.mount(files, transport)) {
            Path file = mounted.root().resolve("file");
            assertThat(file).hasSize(stored.length);
            // The kernel may drop pages for reasons of its own.
            Eventually.holds("what was stored is read", () -> {
                assertThat(files.startedKernel().store(2, 0, ByteBuffer.wrap(stored)))
                        .isZero();
                return Arrays.equals(bytes(file), stored);
            });
            assertThat(files.startedKernel().store(99, 0, ByteBuffer.wrap(stored)))
                    .isEqualTo(-Errno.ENOENT);
        }
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @EachTransport
    void anInvalidatedNameIsLookedUpAgain(TransportChoice transport) throws Exception {
        SwitchableFileSystem files = new SwitchableFileSystem();
        Name name = Name.of("file");
        files.present = false;
        try (MountedFileSystem mounted = MountedFileSystem.mount(files, transport)) {
            Path file = mounted.root().resolve("file");
            assertThatThrownBy(() -> Files.size(file)).isInstanceOf(NoSuchFileException.class);
            files.present = true;
            assertThatThrownBy(() -> Files.size(file)).isInstanceOf(NoSuchFileException.class);
            assertThat(files.startedKernel().invalidateEntry(1, name)).isZero();
            assertThat(file).hasSize(5);
            files.present = false;
            assertThat(files.startedKernel().notifyDelete(1, 2, name)).isZero();
            assertThatThrownBy(() -> Files.size(file)).isInstanceOf(NoSuchFileException.class);
        }
    }

    /** More of them than one message holds. */
    @EachTransport
    void manyNamesAreInvalidatedTogether(TransportChoice transport) throws Exception {
        int names = 100;
        SwitchableFileSystem files = new SwitchableFileSystem();
        try (MountedFileSystem mounted = MountedFileSystem.mount(files, transport)) {
            SessionMetrics metrics = mounted.session().metrics();
            lookFor(mounted.root(), names);
            long asked = metrics.requests(Opcode.LOOKUP);
            lookFor(mounted.root(), names);
            assertThat(metrics.requests(Opcode.LOOKUP)).isEqualTo(asked);
            try (Kernel.Batch batch = files.startedKernel().batch()) {
                for (int i = 0; i < names; i++) {
                    batch.invalidateEntry(1, Name.of(longName(i)));
                }
                batch.invalidateInode(2, 0, 0);
            }
            lookFor(mounted.root(), names);
            assertThat(metrics.requests(Opcode.LOOKUP)).isEqualTo(asked + names);
        }
    }

    private static void lookFor(Path root, int names) {
        for (int i = 0; i < names; i++) {
            assertThat(Files.exists(root.resolve(longName(i)))).isFalse();
        }
    }

    private static String longName(int number) {
        return "n".repeat(240) + number;
    }

    /** stat(1) asks for the time of birth, so that all it prints came by STATX. */
    @EachTransport
    void aFileKeepsItsTimeOfBirth(TransportChoice transport) throws Exception {
        ManualClock clock = new ManualClock(Instant.ofEpochSecond(1_000_000_000));
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(new MemoryFileSystem(64 << 20, MINUTE_NANOS, clock), transport)) {
            Path file = Files.writeString(mounted.root().resolve("file"), "1234567");
            String device = mounted.root().resolve("device").toString();
            Command.run(60, "mknod", device, "c", "1000", "300000");
            clock.advance(Duration.ofSeconds(100));
            Files.writeString(file, "12345678");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
            String told = Command.run(60, "stat", "-c", "%W %Y %s %f %h", file.toString());
            assumeTrue(mounted.session().metrics().requests(Opcode.STATX) > 0, "this kernel asks for no time of birth");
            assertThat(told.strip()).isEqualTo("1000000000 1000000100 8 81a0 1");
            assertThat(Command.run(60, "stat", "-c", "%W %t %T", device).strip())
                    .isEqualTo("1000000000 3e8 493e0");
        }
    }

    @EachTransport
    void aBackedFileIsReadByTheKernelItself(TransportChoice transport, @TempDir Path local) throws Exception {
        Path backing = Files.writeString(local.resolve("backing"), "x".repeat(100_000));
        SwitchableFileSystem files = new SwitchableFileSystem();
        files.content = Files.readAllBytes(backing);
        try (MountedFileSystem mounted = MountedFileSystem.mount(files, transport)) {
            assumeTrue(files.startedKernel().features().passthrough(), "passthrough was not negotiated");
            try (FileInputStream open = new FileInputStream(backing.toFile())) {
                files.backingId = files.startedKernel().openBacking(open.getFD());
            }
            assertThat(files.backingId).isPositive();
            assertThat(mounted.root().resolve("file")).hasSameBinaryContentAs(backing);
            assertThat(mounted.session().metrics().requests(Opcode.READ)).isZero();
            assertThat(files.startedKernel().closeBacking(files.backingId)).isZero();
        }
    }

    /** An fsync that takes ten minutes ends with the signal. */
    @EachTransport
    void anInterruptReachesABlockedOperation(TransportChoice transport) throws Exception {
        FaultyFileSystem slow = new FaultyFileSystem(
                new MemoryFileSystem(1 << 20),
                FaultyFileSystem.delay(10 * MINUTE_NANOS).only(Opcode.FSYNC));
        try (MountedFileSystem mounted = MountedFileSystem.mount(slow, transport)) {
            Path file = Files.writeString(mounted.root().resolve("f"), "x");
            SessionMetrics metrics = mounted.session().metrics();
            // A program that is slow to start gets the signal before it has asked for anything.
            for (int seconds = 1; metrics.errors(Opcode.FSYNC, Errno.EINTR) == 0; seconds *= 4) {
                assertThat(seconds).as("seconds without an fsync").isLessThan(60);
                try (Command sync =
                        new Command("timeout", "--signal=INT", Integer.toString(seconds), "sync", file.toString())) {
                    assertThat(sync.await(60)).isNotZero();
                }
            }
            assertThat(metrics.errors(Opcode.FSYNC, Errno.EINTR)).isEqualTo(1);
            Eventually.holds("the interrupt is counted", () -> metrics.requests(Opcode.INTERRUPT) > 0);
        }
    }

    @EachTransport
    void locksAreTheFileSystemsWhenItHandlesThem(TransportChoice transport) throws Exception {
        String script = """
                import fcntl, sys
                first, second = open(sys.argv[1], 'rb'), open(sys.argv[1], 'rb')
                fcntl.flock(first, fcntl.LOCK_EX)
                try:
                    fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    sys.exit('locked twice')
                except BlockingIOError:
                    pass
                first.close()
                fcntl.flock(second, fcntl.LOCK_EX)
                second.close()
                fcntl.lockf(open(sys.argv[1], 'rb'), fcntl.LOCK_SH, 1)
                """;
        try (MountedFileSystem mounted = MountedFileSystem.mount(new SwitchableFileSystem(), transport)) {
            Command.run(
                    60, "python3", "-c", script, mounted.root().resolve("file").toString());
            assertThat(mounted.session().metrics().requests(Opcode.SETLK)).isPositive();
            assertThat(mounted.session().metrics().requests(Opcode.SETLKW)).isPositive();
        }
    }

    @EachTransport
    void aReadOnlySessionIsReadOnly(TransportChoice transport) throws Exception {
        try (MountedFileSystem mounted =
                MountedFileSystem.mount(new MemoryFileSystem(1 << 20), MountedFileSystem.options(transport, true))) {
            assertThatThrownBy(() -> Files.createFile(mounted.root().resolve("f")))
                    .hasMessageContaining("Read-only");
            assertThat(mounted.root()).isEmptyDirectory();
        }
    }
}

package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.bypass.BypassServer;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user shows the bypass socket files of a file system that lets nobody close them: others get their answers. */
class StuckBypassPeerIT {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static final String SHOWS = """
            import os, sys
            sys.path.insert(0, sys.argv[1])
            import peers
            os.mknod(sys.argv[3], 0o100644)
            fd = os.open(sys.argv[3], os.O_RDONLY)
            os.setuid(7001)
            verdicts = [peers.ask(sys.argv[2], [fd])[0] for _ in range(400)]
            print(f"foreign {'foreign' in verdicts}, last {verdicts[-1]}", flush=True)
            sys.stdin.readline()
            """;

    private static final String OTHER = """
            import os, sys
            sys.path.insert(0, sys.argv[1])
            import peers
            peers.expect("devices", sys.argv[2], [])
            for _ in range(100):
                peers.expect("foreign", sys.argv[2], [os.open("/dev/null", os.O_RDONLY)])
            """;

    private final CountDownLatch stuck = new CountDownLatch(1);

    @Test
    void othersAreAnswered(@TempDir Path folder) throws Exception {
        assumeTrue(Built.isRoot(), "only root can be several users");
        Path socket = folder.resolve("socket");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        FaultyFileSystem fileSystem = new FaultyFileSystem(
                new MemoryFileSystem(1 << 20, 0, Clock.system()),
                ((FaultyFileSystem.Fault) (operation, request) -> stuck(request)).only(Opcode.FLUSH));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fileSystem, TransportChoice.DEVFUSE);
                BypassServer server = BypassServer.start(socket, List::of, Clock.system())) {
            Path file = mounted.root().resolve("file");
            Command peer = started(SHOWS, socket, file);
            try {
                Waiting.until("all are shown", LIMIT, () -> peer.output().contains("foreign"));
                assertThat(peer.output()).contains("foreign True, last limited");
                Command other = started(OTHER, socket, file);
                assertThat(other.await(60)).as(other::output).isZero();
                assertThat(server.strangers()).isGreaterThan(400);
            } finally {
                stuck.countDown();
                peer.close();
            }
        }
    }

    private static Command started(String program, Path socket, Path file) throws Exception {
        return new Command(
                "python3", "-c", program, BypassedMount.script("python/bypass"), socket.toString(), file.toString());
    }

    private int stuck(Request request) {
        if (!request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        try {
            return stuck.await(3, TimeUnit.MINUTES) ? 0 : -Errno.EIO;
        } catch (InterruptedException e) {
            return -Errno.EINTR;
        }
    }
}

package io.posixgateway.fuse.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.memory.MemoryFileSystem;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.testing.FaultyFileSystem;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A slow operation never delays a quick one: with 64 requests under way that do not come back, what can be answered at once
 * is, on the thread that received it. A transport that let the slow ones in the way would answer nothing.
 */
class SlowNeighboursIT {
    private static final int BLOCKED = 64;
    private static final int QUICK = 200;

    private final CountDownLatch free = new CountDownLatch(1);

    @EachTransport
    void quickRequestsAreAnsweredBesideBlockedOnes(TransportChoice transport) throws Exception {
        FaultyFileSystem fileSystem = new FaultyFileSystem(
                new MemoryFileSystem(64 << 20, 0, Clock.system()),
                ((FaultyFileSystem.Fault) (operation, request) -> blocked(request)).only(Opcode.FSYNC));
        ExecutorService pool = Executors.newFixedThreadPool(BLOCKED);
        try (MountedFileSystem mounted = MountedFileSystem.mount(fileSystem, transport)) {
            try {
                beside(mounted, pool);
            } finally {
                free.countDown();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    private void beside(MountedFileSystem mounted, ExecutorService pool) throws Exception {
        SessionMetrics metrics = mounted.session().metrics();
        Path quick = Files.writeString(mounted.root().resolve("quick"), "answered at once");
        List<Future<?>> neighbours = new ArrayList<>();
        for (int i = 0; i < BLOCKED; i++) {
            Path file = mounted.root().resolve("slow" + i);
            neighbours.add(pool.submit(() -> sync(file)));
        }
        Eventually.holds("the slow requests are under way", () -> metrics.handedOver() >= BLOCKED);
        long handedOver = metrics.handedOver();
        for (int i = 0; i < QUICK; i++) {
            assertThat(Files.size(quick)).isEqualTo(16);
            assertThat(Files.readString(quick)).isEqualTo("answered at once");
        }
        assertThat(metrics.inFlight()).as("the slow ones are under way").isGreaterThanOrEqualTo(BLOCKED);
        assertThat(metrics.handedOver()).as("quick ones wait for no thread").isEqualTo(handedOver);
        free.countDown();
        for (Future<?> neighbour : neighbours) {
            neighbour.get();
        }
    }

    /** With a limit, so that a transport that lets it in the way fails and does not hang. */
    private int blocked(Request request) {
        if (!request.mayWait()) {
            return FileSystem.WOULD_WAIT;
        }
        try {
            return free.await(3, TimeUnit.MINUTES) ? 0 : -Errno.EIO;
        } catch (InterruptedException e) {
            return -Errno.EINTR;
        }
    }

    private static Void sync(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        return null;
    }
}

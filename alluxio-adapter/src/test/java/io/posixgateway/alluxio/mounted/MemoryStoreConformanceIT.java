package io.posixgateway.alluxio.mounted;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.conformance.ConformanceSuite;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/**
 * Every operation with its exact error number, on the store in memory, over each transport: the adapter and the kernel are real,
 * and whatever the store does otherwise than Alluxio shows as a case that {@link AlluxioConformanceIT} judges otherwise.
 */
class MemoryStoreConformanceIT {
    private static final long TICK_MILLIS = 5;
    private static final Duration STEP = Duration.ofMillis(1);
    private static final Duration MIN = Duration.of(1, ChronoUnit.MICROS);
    /** Each takes a millisecond, as at a real master: two changes are not of the same time. */
    private static final List<StoreCall> CHANGES =
            List.of(StoreCall.CREATE, StoreCall.MAKE_DIRECTORY, StoreCall.DELETE, StoreCall.RENAME, StoreCall.CHANGE);

    @TestFactory
    Stream<DynamicContainer> conformance(@TempDir Path spool) {
        return Stream.of(TransportChoice.LIBFUSE, TransportChoice.DEVFUSE, TransportChoice.URING)
                .map(transport -> dynamicContainer(transport.name(), over(transport, spool)));
    }

    private static List<DynamicTest> over(TransportChoice transport, Path spool) {
        MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
        TimePasses passes = new TimePasses(cluster);
        try (passes;
                MountedFileSystem mounted = MountedFileSystem.mount(open(cluster, passes, spool), transport)) {
            return ConformanceSuite.run(mounted.root(), AlluxioConformanceIT.exceptions());
        } catch (TestAbortedException missing) {
            return List.of(dynamicTest("available", () -> {
                throw missing;
            }));
        } catch (IOException | StoreException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private static AlluxioFileSystem open(MemoryCluster cluster, Clock clock, Path spool) throws StoreException {
        AdapterOptions options = AdapterOptions.of(AdapterOptions.TABLE.read(Map.of("spool", spool.toString())));
        MemoryStore store = cluster.connect();
        for (StoreCall change : CHANGES) {
            store.faults().on(change).always().delay(Duration.ofMillis(1));
        }
        return AlluxioMount.open(StoreParts.metered(store, clock), "/", options, clock);
    }

    /**
     * Keeps the cluster's clock at the time of the machine, by which the kernel and the programs go. What the changes take has it run
     * ahead; it goes slower then. The time of the day that it tells goes on with each look, as that of a machine does, also where the
     * thread that advances it has no turn for a while.
     */
    private static final class TimePasses implements Clock, AutoCloseable {
        private final ManualClock clock;
        private final Timer timer = new Timer("time-passes", true);
        private Instant last = Instant.MIN;

        TimePasses(MemoryCluster cluster) {
            clock = cluster.clock();
            tick();
            timer.schedule(
                    new TimerTask() {
                        @Override
                        public void run() {
                            tick();
                        }
                    },
                    TICK_MILLIS,
                    TICK_MILLIS);
        }

        private void tick() {
            Duration behind = Duration.between(clock.instant(), Instant.now());
            clock.advance(behind.compareTo(STEP) < 0 ? STEP : behind);
        }

        @Override
        public synchronized Instant instant() {
            last = latest(last.plus(MIN), latest(clock.instant(), Instant.now()));
            return last;
        }

        private static Instant latest(Instant one, Instant other) {
            return one.isAfter(other) ? one : other;
        }

        @Override
        public long nanos() {
            return clock.nanos();
        }

        @Override
        public void waitOn(Object monitor, long nanos) throws InterruptedException {
            clock.waitOn(monitor, nanos);
        }

        @Override
        public boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
            return clock.await(latch, nanos);
        }

        @Override
        public void sleep(long nanos) throws InterruptedException {
            clock.sleep(nanos);
        }

        @Override
        public void close() {
            timer.cancel();
        }
    }
}

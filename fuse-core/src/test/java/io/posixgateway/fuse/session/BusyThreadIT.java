package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.conformance.UringSupport;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.Entry;
import io.posixgateway.fuse.spi.Name;
import io.posixgateway.fuse.spi.Request;
import io.posixgateway.fuse.time.OffsetClock;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A session ends while a thread of its transport is busy, as with a local disk that hangs, and that thread continues later. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BusyThreadIT {
    /** More than the session had descriptors. */
    private static final int FILES = 64;

    private static final int MEMORY_BYTES = 1 << 20;

    /** Kept open for good, as the session closes the number of its descriptor. */
    private static final List<RandomAccessFile> MEMORIES = new ArrayList<>();

    private final OffsetClock clock = new OffsetClock();
    private final CountDownLatch busy = new CountDownLatch(1);
    private final CountDownLatch diskReturns = new CountDownLatch(1);

    /** Its lookups of "slow" wait on the transport's own thread. */
    private final class HungDisk extends ForwardingFileSystem {
        HungDisk() {
            super(new TinyFileSystem());
        }

        @Override
        public int lookup(Request request, long parent, Name name, Entry entry) {
            if (name.equals(Name.of("slow"))) {
                busy.countDown();
                awaitDisk();
            }
            return super.lookup(request, parent, name, entry);
        }
    }

    /** Whatever interrupts it. */
    private void awaitDisk() {
        boolean returned = false;
        while (!returned) {
            try {
                diskReturns.await();
                returned = true;
            } catch (InterruptedException e) {
                returned = false;
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void close_ofMountWithBusyThread_endsItsCallsAndLeavesOtherFilesAlone(
            TransportChoice choice, @TempDir Path mountPoint, @TempDir Path others) throws Exception {
        assumeUsable(choice);
        FuseSession session = FuseSession.mount(new HungDisk(), mountPoint, Sessions.options(choice), clock);
        endBusySession(session, mountPoint, others, choice != TransportChoice.URING || canAbort());
    }

    @ParameterizedTest
    @EnumSource(names = {"DEVFUSE", "URING"})
    void close_ofPersistentSessionWithBusyThread_leavesOtherFilesAlone(
            TransportChoice choice, @TempDir Path mountPoint, @TempDir Path others, @TempDir Path memory)
            throws Exception {
        assumeUsable(choice);
        Mounter.Mounted mounted = Mounter.mount(mountPoint, Sessions.options(choice));
        try {
            PersistentSession kept = new PersistentSession(
                    mounted.fd(),
                    -1,
                    -1,
                    memory(memory.resolve("memory")),
                    mountPoint.toString(),
                    false,
                    0,
                    mounted.device(),
                    null,
                    null);
            FuseSession session = FuseSession.serve(new HungDisk(), kept, Sessions.options(choice), clock);
            endBusySession(session, mountPoint, others, false);
        } finally {
            Mounter.unmount(mounted);
        }
    }

    /** Entries of a ring hold the connection, which fusectl alone can end then. */
    private static boolean canAbort() throws IOException {
        try (Stream<Path> connections = Files.list(KernelConnection.CONTROL)) {
            return connections.findAny().isPresent();
        }
    }

    private static void assumeUsable(TransportChoice choice) {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        if (choice == TransportChoice.URING) {
            UringSupport.assume();
        }
    }

    /** @param endsCalls nobody else serves the mount afterwards, so what waits there has to end before the disk returns */
    private void endBusySession(FuseSession session, Path mountPoint, Path others, boolean endsCalls) throws Exception {
        Thread caller = new Thread(() -> Files.exists(mountPoint.resolve("slow")));
        caller.setDaemon(true);
        List<FileChannel> opened = new ArrayList<>();
        try {
            caller.start();
            busy.await();
            Thread closing = new Thread(session::close);
            closing.start();
            while (closing.isAlive()) {
                clock.advance(Duration.ofSeconds(1));
                closing.join(10);
            }
            if (endsCalls) {
                Eventually.holds("the call ends with the session", () -> !caller.isAlive());
            }
            for (int i = 0; i < FILES; i++) {
                opened.add(FileChannel.open(
                        others.resolve(Integer.toString(i)), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
            }
        } finally {
            diskReturns.countDown();
        }
        Eventually.holds("the busy thread ends", () -> session.metrics().workersAlive() == 0);
        for (FileChannel file : opened) {
            assertThat(file.size()).isZero();
            file.close();
        }
    }

    /** The number of a descriptor of a new file. */
    private static int memory(Path path) throws IOException {
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
        MEMORIES.add(file);
        file.setLength(MEMORY_BYTES);
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .filter(descriptor -> leadsTo(descriptor, path))
                    .mapToInt(descriptor -> Integer.parseInt(String.valueOf(descriptor.getFileName())))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static boolean leadsTo(Path descriptor, Path file) {
        try {
            return Files.readSymbolicLink(descriptor).equals(file.toRealPath());
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }
}

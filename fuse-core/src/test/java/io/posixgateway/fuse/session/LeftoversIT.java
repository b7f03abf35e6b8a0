package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is left when a session has ended, in whichever way: no thread, no descriptor, no mapping, no mount, nobody hanging. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeftoversIT {
    private static final int ROUNDS = 20;
    private static final int LOAD_THREADS = 4;

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void mountingAgainAndAgainKeepsThreadsAndDescriptorsFlat(TransportChoice choice, @TempDir Path mountPoint)
            throws Exception {
        mountOnce(choice, mountPoint);
        long descriptors = entries("/proc/self/fd");
        long threads = sessionThreads();
        long mappings = mappings();
        for (int i = 0; i < ROUNDS; i++) {
            mountOnce(choice, mountPoint);
        }
        Eventually.holds("the threads of ended sessions", () -> sessionThreads() <= threads);
        Eventually.holds("the descriptors of ended sessions", () -> entries("/proc/self/fd") <= descriptors + 5);
        Eventually.holds("the mappings of ended sessions", () -> mappings() <= mappings + ROUNDS);
    }

    private static void mountOnce(TransportChoice choice, Path mountPoint) throws IOException {
        try (FuseSession session = Sessions.mount(new TinyFileSystem(), mountPoint, choice)) {
            Files.write(mountPoint.resolve("data"), new byte[100_000]);
            assertThat(Files.readAllBytes(mountPoint.resolve("data"))).hasSize(100_000);
            assertThat(session.metrics().workersAlive()).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void closingUnderLoadHangsNobody(TransportChoice choice, @TempDir Path mountPoint) throws Exception {
        FuseSession session = Sessions.mount(new TinyFileSystem(), mountPoint, choice);
        underLoad(session, mountPoint, session::close);
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void abortingTheConnectionUnderLoadHangsNobody(TransportChoice choice, @TempDir Path mountPoint) throws Exception {
        FuseSession session = Sessions.mount(new TinyFileSystem(), mountPoint, choice);
        // A forced unmount aborts the connection first, and then mostly finds the mount busy.
        underLoad(session, mountPoint, () -> new ProcessBuilder("umount", "-f", mountPoint.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor());
    }

    private interface End {
        void run() throws Exception;
    }

    /** Ends a session whose mount is in heavy use, and waits until every user has got an answer or an error. */
    private static void underLoad(FuseSession session, Path mountPoint, End end) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        List<Thread> users = new ArrayList<>();
        try {
            for (int i = 0; i < LOAD_THREADS; i++) {
                Thread user = new Thread(() -> use(mountPoint.resolve("data"), calls));
                users.add(user);
                user.start();
            }
            Eventually.holds("the load to begin", () -> calls.get() > 500);
            end.run();
            assertThat(session.await(Duration.ofSeconds(60))).isTrue();
        } finally {
            session.close();
        }
        for (Thread user : users) {
            user.join(60_000);
            assertThat(user.isAlive()).isFalse();
        }
        assertThat(MountTable.at(mountPoint.toRealPath())).isNull();
        Eventually.holds("the threads of the session", () -> session.metrics().workersAlive() == 0);
    }

    /** Until an error, or until the file of the mount is gone. */
    private static void use(Path file, AtomicInteger calls) {
        try {
            for (; ; ) {
                Files.write(file, new byte[5000]);
                Files.readAllBytes(file);
                calls.incrementAndGet();
                if (calls.get() > 500 && !Files.exists(file.resolveSibling("slow"))) {
                    return;
                }
            }
        } catch (IOException e) {
            calls.incrementAndGet();
        }
    }

    @Test
    void theGuardUnmountsWhenTheServerIsKilled(@TempDir Path mountPoint) throws Exception {
        killGuarded(mountPoint, mountPoint.toString());
    }

    /** The kernel asks the killed server itself to flush that file, and waits for the answer before it closes its pipe. */
    @Test
    void theGuardUnmountsWhenTheKilledServerHasAFileOfItsOwnMountOpen(@TempDir Path mountPoint) throws Exception {
        killGuarded(mountPoint, mountPoint.toString(), "data");
    }

    private static void killGuarded(Path mountPoint, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                GuardedServer.class.getName()));
        command.addAll(List.of(arguments));
        Process server = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            byte[] line = server.getInputStream().readNBytes(7);
            assertThat(new String(line, StandardCharsets.US_ASCII)).isEqualTo("mounted");
            assertThat(MountTable.at(mountPoint.toRealPath())).isNotNull();
        } finally {
            server.destroyForcibly();
        }
        try {
            Eventually.holds("the guard to unmount " + mountPoint, () -> !mounted(mountPoint));
            assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            if (mounted(mountPoint)) {
                new ProcessBuilder("umount", "-f", "-l", mountPoint.toString())
                        .start()
                        .waitFor();
            }
        }
    }

    private static boolean mounted(Path mountPoint) throws IOException {
        Path parent = mountPoint.toAbsolutePath().getParent();
        return parent != null && MountTable.at(parent.toRealPath().resolve(mountPoint.getFileName())) != null;
    }

    private static long entries(String folder) throws IOException {
        try (Stream<Path> found = Files.list(Path.of(folder))) {
            return found.count();
        }
    }

    private static long sessionThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("pgw-"))
                .count();
    }

    private static long mappings() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)
                .size();
    }
}

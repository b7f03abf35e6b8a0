package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A file system of two files, mounted over each transport: what a user of the mount sees. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LoopSmokeIT {
    private static final int ROUNDS = 20;

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void whatIsWrittenIsReadAgain(TransportChoice choice, @TempDir Path mountPoint) throws IOException {
        TinyFileSystem files = new TinyFileSystem();
        try (FuseSession session = Sessions.mount(files, mountPoint, choice)) {
            assertThat(session.line()).startsWith("transport " + session.transportName() + " ");
            assertThat(session.transportName()).isEqualToIgnoringCase(choice.name());
            byte[] content = new byte[3_000_001];
            new Random(7).nextBytes(content);
            Files.write(mountPoint.resolve("data"), content);
            assertThat(Files.size(mountPoint.resolve("data"))).isEqualTo(content.length);
            assertThat(Files.readAllBytes(mountPoint.resolve("data"))).isEqualTo(content);
            try (Stream<Path> listed = Files.list(mountPoint)) {
                assertThat(listed.map(path -> path.getFileName().toString())).containsExactlyInAnyOrder("data", "slow");
            }
            assertThatThrownBy(() -> Files.size(mountPoint.resolve("missing"))).isInstanceOf(NoSuchFileException.class);
        }
        assertThat(files.closed).isTrue();
        assertThat(MountTable.at(mountPoint.toRealPath())).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void aReadThatWaitsLetsOthersPassAndIsAnsweredLater(TransportChoice choice, @TempDir Path mountPoint)
            throws Exception {
        TinyFileSystem files = new TinyFileSystem();
        try (FuseSession session = Sessions.mount(files, mountPoint, choice)) {
            CompletableFuture<byte[]> slow = CompletableFuture.supplyAsync(() -> readAll(mountPoint.resolve("slow")));
            for (int i = 0; i < 100; i++) {
                assertThat(Files.size(mountPoint.resolve("slow"))).isEqualTo(1);
            }
            assertThat(slow).isNotDone();
            files.letGo.release();
            assertThat(slow.get(60, TimeUnit.SECONDS)).containsExactly('s');
            assertThat(session.ended()).isFalse();
        }
    }

    /** A reply that is left lying goes with the next request, which on a busy machine somebody makes once in a while. */
    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void eachReadThatWaitsIsAnsweredThoughNoOtherRequestComes(TransportChoice choice, @TempDir Path mountPoint)
            throws Exception {
        TinyFileSystem files = new TinyFileSystem();
        try (FuseSession session = Sessions.mount(files, mountPoint, choice)) {
            for (int round = 1; round <= ROUNDS; round++) {
                int expected = round;
                CompletableFuture<byte[]> slow =
                        CompletableFuture.supplyAsync(() -> readAll(mountPoint.resolve("slow")));
                Eventually.holds("it waits", () -> files.slowReads.get() == expected);
                files.letGo.release();
                assertThat(slow.get(60, TimeUnit.SECONDS)).containsExactly('s');
            }
            assertThat(session.ended()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void anUnmountFromOutsideEndsTheSession(TransportChoice choice, @TempDir Path mountPoint) throws Exception {
        try (FuseSession session = Sessions.mount(new TinyFileSystem(), mountPoint, choice)) {
            Process unmount = new ProcessBuilder("umount", mountPoint.toString())
                    .inheritIO()
                    .start();
            assertThat(unmount.waitFor()).isZero();
            assertThat(session.await(Duration.ofSeconds(60))).isTrue();
            assertThat(session.ended()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LIBFUSE", "DEVFUSE", "URING"})
    void closingABusySessionLeavesNothingMountedAndNobodyHanging(TransportChoice choice, @TempDir Path mountPoint)
            throws Exception {
        TinyFileSystem files = new TinyFileSystem();
        FuseSession session = Sessions.mount(files, mountPoint, choice);
        RandomAccessFile open = new RandomAccessFile(mountPoint.resolve("data").toFile(), "rw");
        try {
            open.write(1);
            session.close();
            assertThat(MountTable.at(mountPoint.toRealPath())).isNull();
            assertThatThrownBy(() -> open.write(1)).isInstanceOf(IOException.class);
        } finally {
            session.close();
            assertThatThrownBy(open::close).isInstanceOf(IOException.class);
        }
    }

    private static byte[] readAll(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}

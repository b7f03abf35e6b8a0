package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel tells of a connection, and its end, without touching the mount. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KernelConnectionIT {
    @Test
    void theKernelCountsAndAbortsTheConnectionOfASession(@TempDir Path mountPoint, @TempDir Path control)
            throws Exception {
        assumeTrue(run("mount", "-t", "fusectl", "fusectl", control.toString()), "fusectl can be mounted by root only");
        try (FuseSession session = Sessions.mount(new TinyFileSystem(), mountPoint, TransportChoice.DEVFUSE)) {
            long number = session.kernelConnection().number();
            MountTable.Mount mount = Objects.requireNonNull(MountTable.at(mountPoint.toRealPath()));
            assertThat(mount.device()).isEqualTo("0:" + number);
            KernelConnection connection = withControl(session, control);
            Eventually.holds("every request is answered", () -> connection.waiting() == 0);
            connection.abort();
            assertThat(session.await(Duration.ofSeconds(60))).isTrue();
        } finally {
            run("umount", control.toString());
        }
    }

    /** The kernel gives the number of a mount that has ended to the next one. */
    @Test
    void anEndedConnectionLeavesTheMountAloneThatGotItsNumber(
            @TempDir Path mountPoint, @TempDir Path other, @TempDir Path control) throws Exception {
        assumeTrue(run("mount", "-t", "fusectl", "fusectl", control.toString()), "fusectl can be mounted by root only");
        try (FuseSession ended = Sessions.mount(new TinyFileSystem(), mountPoint, TransportChoice.DEVFUSE)) {
            KernelConnection connection = withControl(ended, control);
            assertThat(run("umount", mountPoint.toString())).isTrue();
            assertThat(ended.await(Duration.ofSeconds(60))).isTrue();
            try (FuseSession next = Sessions.mount(new TinyFileSystem(), other, TransportChoice.DEVFUSE)) {
                assumeSameNumber(ended, next);
                connection.abort();
                assertThat(connection.waiting()).isEqualTo(-1);
                assertThat(next.kernelConnection().isConnected()).isTrue();
                assertThat(run("stat", other.toString())).isTrue();
                end(ended);
                connection.abort();
                assertThat(run("stat", other.toString())).isTrue();
            }
        } finally {
            run("umount", control.toString());
        }
    }

    /** It ends, and its number is another's, right after it was seen to be there: the file that was opened before is still its own. */
    @Test
    void aConnectionThatEndsWhileItIsAbortedDoesNotTakeTheNextOneWithIt(
            @TempDir Path mountPoint, @TempDir Path other, @TempDir Path control) throws Exception {
        assumeTrue(run("mount", "-t", "fusectl", "fusectl", control.toString()), "fusectl can be mounted by root only");
        AtomicReference<FuseSession> next = new AtomicReference<>();
        try (FuseSession ended = Sessions.mount(new TinyFileSystem(), mountPoint, TransportChoice.DEVFUSE)) {
            KernelConnection connection =
                    new KernelConnection(ended.kernelConnection().number(), control, () -> {
                        end(ended);
                        next.set(mounted(other));
                        return true;
                    });
            connection.abort();
            assumeSameNumber(ended, Objects.requireNonNull(next.get()));
            assertThat(run("stat", other.toString())).isTrue();
        } finally {
            FuseSession open = next.get();
            if (open != null) {
                open.close();
            }
            run("umount", control.toString());
        }
    }

    private static void end(FuseSession session) {
        session.close();
    }

    private static KernelConnection withControl(FuseSession session, Path control) {
        KernelConnection its = session.kernelConnection();
        return new KernelConnection(its.number(), control, its::isConnected);
    }

    private static FuseSession mounted(Path at) {
        try {
            return Sessions.mount(new TinyFileSystem(), at, TransportChoice.DEVFUSE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assumeSameNumber(FuseSession ended, FuseSession next) {
        assumeTrue(
                ended.kernelConnection().number() == next.kernelConnection().number(),
                "the next mount got another number");
    }

    @Test
    void withoutTheControlFileSystemNothingIsToldAndAnAbortSaysWhatIsMissing(@TempDir Path empty) {
        KernelConnection connection = new KernelConnection(7, empty, () -> true);
        assertThat(connection.waiting()).isEqualTo(-1);
        assertThatThrownBy(connection::abort).isInstanceOf(IOException.class).hasMessageContaining("mount fusectl");
        KernelConnection unknown = new KernelConnection(KernelConnection.UNKNOWN, empty, () -> true);
        assertThat(unknown.waiting()).isEqualTo(-1);
        assertThatThrownBy(unknown::abort).isInstanceOf(IOException.class).hasMessageContaining("umount -f");
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor() == 0;
    }
}

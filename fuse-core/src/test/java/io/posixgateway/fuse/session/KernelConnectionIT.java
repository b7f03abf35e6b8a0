package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.Eventually;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
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
            KernelConnection connection = new KernelConnection(number, control);
            Eventually.holds("every request is answered", () -> connection.waiting() == 0);
            connection.abort();
            assertThat(session.await(Duration.ofSeconds(60))).isTrue();
        } finally {
            run("umount", control.toString());
        }
    }

    @Test
    void withoutTheControlFileSystemNothingIsToldAndAnAbortSaysWhatIsMissing(@TempDir Path empty) {
        KernelConnection connection = new KernelConnection(7, empty);
        assertThat(connection.waiting()).isEqualTo(-1);
        assertThatThrownBy(connection::abort).isInstanceOf(IOException.class).hasMessageContaining("mount fusectl");
        KernelConnection unknown = new KernelConnection(KernelConnection.UNKNOWN, empty);
        assertThat(unknown.waiting()).isEqualTo(-1);
        assertThatThrownBy(unknown::abort).isInstanceOf(IOException.class).hasMessageContaining("umount -f");
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor() == 0;
    }
}

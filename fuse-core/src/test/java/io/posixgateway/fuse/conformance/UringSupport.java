package io.posixgateway.fuse.conformance;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether tests over io_uring can run on this machine. */
public final class UringSupport {
    private static final Path ENABLE_URING = Path.of("/sys/module/fuse/parameters/enable_uring");

    private UringSupport() {}

    /** Skips the test, with the reason, where FUSE over io_uring cannot be had. */
    public static void assume() {
        assumeTrue(Files.exists(ENABLE_URING), "this kernel has no FUSE over io_uring");
        assumeIoUring();
    }

    /** Skips the test, with the reason, where the machine refuses io_uring itself to this process. */
    public static void assumeIoUring() {
        int probed = Uring.probe();
        boolean refused = probed == -Errno.ENOSYS || probed == -Errno.EPERM;
        assumeTrue(!refused, () -> "this process may not use io_uring: " + Native.errorText(probed));
    }
}

package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Why the kernel does not let this process use io_uring: a line for an operator. Any thread. */
public final class UringRefusal {
    private static final Path PROC = Path.of("/proc");
    private static final String FILTERED = "Seccomp:\t2";

    private UringRefusal() {}

    /** Asks the kernel; null: it does. */
    public static @Nullable String ofThisProcess() {
        return of(Uring.probe(), PROC);
    }

    /**
     * What an answer of io_uring_setup(2) means.
     *
     * @param result 0 or a negative errno
     * @param proc where to find /proc
     */
    static @Nullable String of(int result, Path proc) {
        if (result == 0) {
            return null;
        }
        if (result == -Errno.ENOSYS) {
            return "this kernel has no io_uring";
        }
        String refused = "this process may not use io_uring: " + Native.errorText(result);
        if (result != -Errno.EPERM) {
            return refused;
        }
        String disabled = text(proc.resolve("sys/kernel/io_uring_disabled")).strip();
        if (disabled.equals("1") || disabled.equals("2")) {
            return refused + ", because kernel.io_uring_disabled is " + disabled + ": set it to 0";
        }
        boolean filtered = text(proc.resolve("self/status")).lines().anyMatch(FILTERED::equals);
        return filtered
                ? refused + ", because of the container's seccomp profile: use one that allows io_uring (the chart's"
                        + " node.gateway.uringProfile, or node.gateway.seccompProfile)"
                : refused;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException missing) {
            return "";
        }
    }
}

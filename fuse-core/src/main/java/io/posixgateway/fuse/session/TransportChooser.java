package io.posixgateway.fuse.session;

import io.posixgateway.fuse.jni.Libfuse;
import io.posixgateway.fuse.jni.Uring;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.Feature;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.transport.DevFuseTransport;
import io.posixgateway.fuse.transport.LibfuseTransport;
import io.posixgateway.fuse.transport.Transport;
import io.posixgateway.fuse.transport.TransportConfig;
import io.posixgateway.fuse.transport.UringTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which transports to try, and why one cannot be had: found out by asking the kernel, never by its version. */
final class TransportChooser {
    private static final Path ENABLE_URING = Path.of("/sys/module/fuse/parameters/enable_uring");

    private final SessionOptions options;

    TransportChooser(SessionOptions options) {
        this.options = options;
    }

    /** In the order in which they are to be tried. */
    List<TransportChoice> candidates() {
        return options.transport() == TransportChoice.AUTO
                ? List.of(TransportChoice.URING, TransportChoice.DEVFUSE, TransportChoice.LIBFUSE)
                : List.of(options.transport());
    }

    /** Why this transport cannot be had here, or null. Turns enable_uring on where the options allow it. */
    @Nullable
    String refusal(TransportChoice choice) {
        return switch (choice) {
            case URING -> uringRefusal();
            case LIBFUSE -> Libfuse.probe() == 0 ? null : "no libfuse.so.2 on this machine: install libfuse2";
            case DEVFUSE, AUTO -> null;
        };
    }

    private @Nullable String uringRefusal() {
        try {
            if (!uringEnabled()) {
                if (!options.enableUring()) {
                    return "enable_uring is N: write Y to " + ENABLE_URING + " or set the option enable_uring";
                }
                Files.writeString(ENABLE_URING, "Y");
            }
        } catch (IOException e) {
            return Files.exists(ENABLE_URING)
                    ? ENABLE_URING + " cannot be set: " + e.getMessage()
                    : "this kernel has no FUSE over io_uring";
        }
        return UringRefusal.ofThisProcess();
    }

    private static boolean uringEnabled() throws IOException {
        return Files.readString(ENABLE_URING).strip().equals("Y");
    }

    /** A transport over a mounted connection. */
    Transport make(TransportChoice choice, int fd, SessionMetrics metrics) {
        return switch (choice) {
            case URING -> new UringTransport(fd, sizes(), metrics, null);
            case LIBFUSE -> new LibfuseTransport(fd, sizes(), metrics);
            case DEVFUSE, AUTO -> DevFuseTransport.own(fd, sizes(), metrics);
        };
    }

    TransportConfig sizes() {
        int cpus = Runtime.getRuntime().availableProcessors();
        int threads = options.threads() > 0 ? options.threads() : Math.min(2 * cpus, 16);
        int depth = options.queueDepth() > 0 ? options.queueDepth() : Math.min(80, Math.max(8, 320 / Uring.queues()));
        boolean standBack = !options.off().containsKey(Feature.STAND_BACK);
        return new TransportConfig(options.maxWriteBytes(), threads, depth, options.spinMicros(), standBack);
    }
}

package io.posixgateway.fuse.session;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.conformance.UringSupport;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.FileSystem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Mounts for tests, over one transport; skips with the reason where this machine cannot. */
final class Sessions {
    private Sessions() {}

    static SessionOptions options(TransportChoice choice) {
        SessionOptions defaults = SessionOptions.defaults();
        return new SessionOptions(
                choice,
                "tiny",
                false,
                false,
                true,
                defaults.flags(),
                defaults.maxWriteBytes(),
                defaults.threads(),
                defaults.queueDepth(),
                defaults.poolThreads(),
                defaults.spinMicros(),
                true,
                false,
                defaults.off());
    }

    static FuseSession mount(FileSystem fileSystem, Path mountPoint, TransportChoice choice) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        if (choice == TransportChoice.URING) {
            UringSupport.assume();
        }
        return FuseSession.mount(fileSystem, mountPoint, options(choice));
    }
}

package io.posixgateway.fuse.session;

import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A program that mounts with a guard and waits to be killed: MOUNT_POINT [a file to write and keep open]. */
final class GuardedServer {
    private GuardedServer() {}

    @SuppressWarnings("SystemOut")
    public static void main(String[] args) throws Exception {
        SessionOptions plain = Sessions.options(TransportChoice.DEVFUSE);
        SessionOptions guarded = new SessionOptions(
                plain.transport(),
                "guarded",
                false,
                false,
                true,
                plain.flags(),
                plain.maxWriteBytes(),
                0,
                0,
                8,
                0,
                false,
                true,
                plain.off());
        try (FuseSession session = FuseSession.mount(new TinyFileSystem(), Path.of(args[0]), guarded)) {
            if (args.length == 1) {
                beKilled(session);
                return;
            }
            try (OutputStream open = Files.newOutputStream(Path.of(args[0], args[1]))) {
                open.write(new byte[5000]);
                beKilled(session);
            }
        }
    }

    @SuppressWarnings("SystemOut")
    private static void beKilled(FuseSession session) throws InterruptedException {
        System.out.print("mounted");
        System.out.flush();
        session.await(Duration.ofMinutes(2));
    }
}

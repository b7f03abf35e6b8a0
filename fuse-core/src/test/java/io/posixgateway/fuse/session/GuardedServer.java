package io.posixgateway.fuse.session;

import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Path;
import java.time.Duration;

/** A program that mounts with a guard and waits to be killed: MOUNT_POINT. */
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
            System.out.print("mounted");
            System.out.flush();
            session.await(Duration.ofMinutes(2));
        }
    }
}

package io.posixgateway.fuse.session;

import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/** A program that serves a persistent session until it is killed or told to end: FUSE_FD MEMORY_FD MOUNT_POINT TAKES FOLDER TRANSPORT [CLONE_FD]. */
final class KeptServer {
    private KeptServer() {}

    @SuppressWarnings("SystemOut")
    public static void main(String[] args) throws Exception {
        PersistentSession kept = new PersistentSession(
                Integer.parseInt(args[0]),
                args.length > 6 ? Integer.parseInt(args[6]) : -1,
                -1,
                Integer.parseInt(args[1]),
                args[2],
                false,
                Integer.parseInt(args[3]),
                null,
                null,
                null);
        FolderFileSystem files = new FolderFileSystem(Path.of(args[4]));
        TransportChoice transport = TransportChoice.valueOf(args[5].toUpperCase(Locale.ROOT));
        try (FuseSession session = FuseSession.serve(files, kept, Sessions.options(transport))) {
            Runtime.getRuntime().addShutdownHook(new Thread(session::close));
            System.out.println("serving " + session.line());
            session.await(Duration.ofMinutes(10));
        }
    }
}

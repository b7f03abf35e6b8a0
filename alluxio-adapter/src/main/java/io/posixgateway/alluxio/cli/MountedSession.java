package io.posixgateway.alluxio.cli;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.MountException;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.spi.FileSystem;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** Serves one mount in this process until it is unmounted, by whom ever, or the process is told to end. */
final class MountedSession implements AutoCloseable {
    /** So many of the files that could not be uploaded a message names. */
    private static final int MAX_NAMED = 3;

    private final FuseSession session;
    private final EndOnSignal signals;

    private MountedSession(FuseSession session) {
        this.session = session;
        this.signals = EndOnSignal.with("unmount", session::close);
    }

    /**
     * What is mounted.
     *
     * @param name e.g. "alluxio://host:19998/data"
     * @param files makes the file system, in the process that serves it
     * @param steering how it takes orders while it is mounted
     */
    record Served(String name, Supplier<FileSystem> files, Steering steering) {}

    /** Lets others steer a session. */
    interface Steering {
        /** Takes no orders. */
        Steering NONE = (files, session) -> () -> {};

        Steered begin(FileSystem files, FuseSession session);
    }

    /** Until it is closed. */
    interface Steered {
        void close();
    }

    /** Mounts; Ctrl-C and SIGTERM unmount from now on. The session owns the file system. */
    static MountedSession mount(FileSystem files, Path mountPoint, SessionOptions options) {
        return new MountedSession(start(files, mountPoint, options));
    }

    /** Mounts; the file system is closed with the session, or now if there is none. */
    static FuseSession start(FileSystem files, Path mountPoint, SessionOptions options) {
        try {
            return FuseSession.mount(files, mountPoint, options);
        } catch (MountException e) {
            files.close();
            throw new CommandException(String.valueOf(e.getMessage()), e);
        } catch (RuntimeException e) {
            files.close();
            throw e;
        }
    }

    /**
     * The whole life of a mounting command: in the background by default, here with {@code --foreground}.
     *
     * @param what for the first line printed, e.g. "alluxio://host:19998/data"
     */
    static int run(Served what, Path mountPoint, SessionOptions options, MountFlags flags, PrintWriter out) {
        if (!flags.serveHere()) {
            return behind(what.name(), mountPoint, flags, out);
        }
        FileSystem files = what.files().get();
        try (MountedSession mounted = mount(files, mountPoint, options)) {
            if (Background.isChild()) {
                Background.reportReady(mounted.session().line());
            } else {
                out.println(what.name() + " is mounted at " + mountPoint + "; Ctrl-C unmounts");
                out.println(mounted.session().line());
                out.flush();
            }
            Steered steered = what.steering().begin(files, mounted.session());
            try {
                mounted.await();
            } finally {
                steered.close();
            }
        }
        checkUploaded(files);
        return 0;
    }

    /** After the end of a mount: what could not be uploaded is told to who ended it, and where it is. */
    static void checkUploaded(FileSystem files) {
        List<String> failed = files instanceof AlluxioFileSystem alluxio ? alluxio.failedAtEnd() : List.of();
        if (!failed.isEmpty()) {
            String some = String.join("; ", failed.subList(0, Math.min(failed.size(), MAX_NAMED)));
            String what = failed.size() == 1 ? "a changed file" : failed.size() + " changed files";
            throw new CommandException(what + " could not be uploaded before the mount ended: " + some
                    + (failed.size() > MAX_NAMED ? "; the log names the others" : "")
                    + ". Copy their content to its destination, then delete it from the spool");
        }
    }

    /** Has this command served in the background, and says how to find it. */
    static int behind(String what, Path mountPoint, MountFlags flags, PrintWriter out) {
        Path log = flags.logFile(mountPoint);
        String line = Background.start(log);
        out.println(what + " is mounted at " + mountPoint);
        out.println(line);
        out.println("log " + log);
        out.flush();
        return 0;
    }

    FuseSession session() {
        return session;
    }

    /** Waits until the session has ended. */
    void await() {
        try {
            while (!session.await(Duration.ofHours(1))) {
                // A mount may last for years.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        session.close();
        signals.close();
    }
}

package io.posixgateway.fuse.conformance;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.fuse.session.FuseSession;
import io.posixgateway.fuse.session.SessionOptions;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A file system mounted for a test, in a temporary folder of its own. It is unmounted by {@link #close}, and at the latest
 * after a few minutes: a test that hangs in a system call then fails instead.
 */
public final class MountedFileSystem implements AutoCloseable {
    private static final long MOUNT_SECONDS = 5;
    private static final long LONGEST_MILLIS = 300_000 + 1_000L * Integer.getInteger("pgw.stress.seconds", 0);

    /** None may outlive a run of tests that is ended: nobody would serve it. */
    private static final Set<MountedFileSystem> OPEN = ConcurrentHashMap.newKeySet();

    /** Held while one is mounted; for good once this JVM ends, as tests go on meanwhile. */
    private static final ReentrantLock MOUNTING = new ReentrantLock();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(MountedFileSystem::abortAll));
    }

    private final Path folder;
    private final FuseSession session;
    private final Timer watchdog = new Timer("mount-watchdog", true);

    private MountedFileSystem(Path folder, FuseSession session) {
        this.folder = folder;
        this.session = session;
        OPEN.add(this);
        watchdog.schedule(
                new TimerTask() {
                    @Override
                    public void run() {
                        session.close();
                    }
                },
                LONGEST_MILLIS);
    }

    /** Mounts over this very transport; skips the test, with the reason, where the machine has it not. */
    public static MountedFileSystem mount(FileSystem fileSystem, TransportChoice transport) throws IOException {
        return mount(fileSystem, options(transport, false));
    }

    /** Mounts with these options, and makes sure that the transport asked for is the one that serves. */
    public static MountedFileSystem mount(FileSystem fileSystem, SessionOptions options) throws IOException {
        return mount(fileSystem, options, Clock.system());
    }

    /** The same, with a clock for all that the session measures. */
    public static MountedFileSystem mount(FileSystem fileSystem, SessionOptions options, Clock clock)
            throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "this machine has no /dev/fuse");
        if (options.transport() == TransportChoice.URING) {
            UringSupport.assume();
        }
        Path folder = Files.createTempDirectory("posix-gateway-mount");
        try {
            MountedFileSystem mounted = open(fileSystem, folder, options, clock);
            mounted.requireTransport(options.transport());
            return mounted;
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(folder);
            throw e;
        }
    }

    private static MountedFileSystem open(FileSystem fileSystem, Path folder, SessionOptions options, Clock clock)
            throws IOException {
        MOUNTING.lock();
        try {
            return new MountedFileSystem(folder, FuseSession.mount(fileSystem, folder, options, clock));
        } finally {
            MOUNTING.unlock();
        }
    }

    /** Options of tests: other users may enter, the kernel checks permissions, io_uring may be enabled. */
    public static SessionOptions options(TransportChoice transport, boolean readOnly) {
        SessionOptions defaults = SessionOptions.defaults();
        return new SessionOptions(
                transport,
                "posix-gateway-test",
                readOnly,
                true,
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

    private void requireTransport(TransportChoice asked) throws IOException {
        String wanted = "transport " + asked.name().toLowerCase(Locale.ROOT) + " ";
        if (asked != TransportChoice.AUTO && !session.line().startsWith(wanted)) {
            String line = session.line();
            close();
            throw new AssertionError("asked for " + asked + ", served by: " + line);
        }
    }

    /** The mount point. */
    public Path root() {
        return folder;
    }

    public FuseSession session() {
        return session;
    }

    private static void abortAll() {
        try {
            if (!MOUNTING.tryLock(MOUNT_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("a test has been mounting for " + MOUNT_SECONDS + " s");
            }
            OPEN.forEach(MountedFileSystem::abort);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends the kernel's connection before the session: a thread of this JVM that waits for an answer of this very mount would keep the
     * connection open, and thereby itself, also after SIGKILL.
     */
    private void abort() {
        try {
            new ProcessBuilder("umount", "-f", "-l", folder.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
            close();
        } catch (IOException | InterruptedException e) {
            System.err.println(folder + " may still be mounted: " + e);
        }
    }

    @Override
    public void close() throws IOException {
        watchdog.cancel();
        session.close();
        OPEN.remove(this);
        Files.deleteIfExists(folder);
    }
}

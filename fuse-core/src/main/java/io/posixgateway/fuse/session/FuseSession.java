package io.posixgateway.fuse.session;

import io.posixgateway.fuse.dispatch.DispatchOptions;
import io.posixgateway.fuse.dispatch.Dispatcher;
import io.posixgateway.fuse.jni.NativeLoader;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.transport.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A mounted file system and all that serves it. Any thread.
 *
 * <p>It ends when it is closed, when somebody unmounts it, or when the kernel aborts the connection; in every case
 * {@link #close} is still to be called, and closes the file system too.
 */
public final class FuseSession implements AutoCloseable {
    private static final long READY_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long UNMOUNTED_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final FileSystem fileSystem;
    private final Connection connection;
    private final KernelLink kernel;
    private final Handshake handshake;
    private final SessionMetrics metrics = new SessionMetrics();
    private final Transport transport;
    private final Dispatcher dispatcher;
    private final List<String> refused;
    private boolean closed;

    /** Makes the transport of a session. */
    @FunctionalInterface
    private interface TransportMaker {
        Transport make(int fd, SessionMetrics metrics);
    }

    private FuseSession(FileSystem fileSystem, Connection connection, Setup setup, TransportMaker maker) {
        this.fileSystem = fileSystem;
        this.connection = connection;
        this.kernel = setup.kernel;
        this.handshake = setup.handshake;
        this.refused = setup.refused;
        transport = maker.make(connection.fd(), metrics);
        SessionOptions options = setup.options;
        dispatcher = new Dispatcher(
                fileSystem, handshake, metrics, new DispatchOptions(options.readOnly(), options.poolThreads()));
    }

    /** What is there before the connection is. */
    private record Setup(SessionOptions options, KernelLink kernel, Handshake handshake, List<String> refused) {}

    /**
     * Mounts, and returns when the mount answers.
     *
     * @param fileSystem the session's from here on; still the caller's when this throws
     * @throws MountException saying what to do; nothing stays mounted then
     */
    public static FuseSession mount(FileSystem fileSystem, Path mountPoint, SessionOptions options)
            throws MountException {
        options.check();
        requireNative();
        TransportChooser chooser = new TransportChooser(options);
        KernelLink kernel = new KernelLink(fileSystem);
        List<String> refused = new ArrayList<>();
        for (TransportChoice choice : chooser.candidates()) {
            String reason = chooser.refusal(choice);
            if (reason == null) {
                boolean uring = choice == TransportChoice.URING;
                Handshake handshake = new Handshake(options, uring, fileSystem.handlesLocks(), kernel::negotiated);
                MountedConnection connection = MountedConnection.mount(mountPoint, options);
                FuseSession session = new FuseSession(
                        fileSystem,
                        connection,
                        new Setup(options, kernel, handshake, refused),
                        (fd, metrics) -> chooser.make(choice, fd, metrics));
                try {
                    session.begin();
                    connection.raiseReadahead(options.maxWriteBytes());
                    return session;
                } catch (IOException e) {
                    session.end();
                    reason = e.getMessage();
                }
            }
            refused.add(choice.name().toLowerCase(Locale.ROOT) + "(" + reason + ")");
        }
        throw new MountException(
                "no transport can serve " + mountPoint,
                String.join(", ", refused) + "; do what is said here, or choose another with the option transport");
    }

    private static void requireNative() throws MountException {
        if (!NativeLoader.isAvailable()) {
            throw new MountException(
                    "the native library is missing (" + NativeLoader.unavailabilityCause() + ")",
                    "give a folder that allows programs with -Djava.io.tmpdir=DIR, and a build for this machine");
        }
    }

    private void begin() throws IOException {
        kernel.connect(transport, connection.fd());
        transport.start(dispatcher);
        try {
            transport.awaitReady(READY_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the session began", e);
        }
        if (handshake.negotiated() == null) {
            throw new IOException("the kernel and this library did not come to terms; the log says why");
        }
    }

    /** All that is known of how the session is served, in one line. */
    public String line() {
        String line = "transport " + transport.name() + " " + transport.geometry() + " " + handshake.describe();
        return refused.isEmpty() ? line : line + " refused " + String.join(",", refused);
    }

    /** "libfuse", "devfuse" or "uring". */
    public String transportName() {
        return transport.name();
    }

    /** The line to the kernel that the file system was given. */
    public Kernel kernel() {
        return kernel;
    }

    public SessionMetrics metrics() {
        return metrics;
    }

    /** Has the connection ended? */
    public boolean ended() {
        return transport.ended();
    }

    /** Waits for the connection's end; false on time-out. */
    public boolean await(Duration timeout) throws InterruptedException {
        return transport.await(timeout.toNanos());
    }

    /**
     * Unmounts (lazily when it is busy; who still uses it then gets errors), ends all threads, closes the file system. Waits
     * for requests under way, for a bounded time. Idempotent.
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        end();
        fileSystem.close();
    }

    private void end() {
        if (connection.unmount()) {
            awaitQuietly();
        }
        transport.close();
        dispatcher.close();
        kernel.disconnect();
        connection.close();
    }

    private void awaitQuietly() {
        try {
            transport.await(UNMOUNTED_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

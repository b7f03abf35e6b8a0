package io.posixgateway.fuse.session;

import io.posixgateway.fuse.dispatch.DispatchOptions;
import io.posixgateway.fuse.dispatch.Dispatcher;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.dispatch.RequestRecord;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.jni.NativeLoader;
import io.posixgateway.fuse.metrics.SessionMetrics;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import io.posixgateway.fuse.spi.FileSystem;
import io.posixgateway.fuse.spi.Kernel;
import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.transport.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mounted file system and all that serves it. Any thread.
 *
 * <p>It ends when it is closed, when somebody unmounts it, or when the kernel aborts the connection; in every case
 * {@link #close} is still to be called, and closes the file system too.
 */
public final class FuseSession implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FuseSession.class);
    private static final long READY_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long UNMOUNTED_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long FINISH_SECONDS = 8;
    /** Where requests would fail that this process does not answer. It is killed some time after it was told to end. */
    private static final long FINISH_ALL_SECONDS = 40;

    private final FileSystem fileSystem;
    private final Connection connection;
    private final KernelLink kernel;
    private final Handshake handshake;
    private final SessionMetrics metrics;
    private final Transport transport;
    private final Dispatcher dispatcher;
    private final List<String> refused;
    private final KernelConnection kernelConnection;
    private final int poolThreads;
    private final @Nullable PersistentTransport kept;
    private final Object descriptorLock = new Object();
    /** The connection's descriptor may be another file's. Guarded by descriptorLock. */
    private boolean descriptorClosed;

    private boolean closed;

    /** Makes the transport of a session. */
    @FunctionalInterface
    private interface TransportMaker {
        Transport make(int fd, SessionMetrics metrics);
    }

    private FuseSession(FileSystem fileSystem, Connection connection, Setup setup, TransportMaker maker) {
        this.metrics = new SessionMetrics(setup.clock);
        this.fileSystem = fileSystem;
        this.connection = connection;
        this.kernel = setup.kernel;
        this.handshake = setup.handshake;
        this.refused = setup.refused;
        this.kept = setup.kept;
        transport = maker.make(connection.fd(), metrics);
        SessionOptions options = setup.options;
        poolThreads = options.poolThreads();
        dispatcher = new Dispatcher(
                fileSystem,
                handshake,
                metrics,
                new DispatchOptions(options.readOnly(), options.poolThreads(), options.sourceName(), options.limit()));
        kernel.connect(transport, connection.fd());
        kernelConnection = KernelConnection.of(connection, this::isConnected);
        transport.whenBroken(this::abort);
    }

    /** Calls that nobody answers would hang. */
    private void abort(String reason) {
        LOG.error(
                "Aborting the connection, which cannot be served any more; all use of the mount now fails: {}", reason);
        try {
            kernelConnection.abort();
        } catch (IOException e) {
            LOG.error("The connection cannot be aborted: {}", e.getMessage());
        }
    }

    /** One that cannot be made takes the mount with it. */
    private static FuseSession over(
            MountedConnection connection, FileSystem fileSystem, Setup setup, TransportMaker maker) {
        try {
            return new FuseSession(fileSystem, connection, setup, maker);
        } catch (RuntimeException | Error e) {
            connection.unmount();
            connection.close(true);
            throw e;
        }
    }

    /** What is there before the connection is. */
    private record Setup(
            SessionOptions options,
            KernelLink kernel,
            Handshake handshake,
            List<String> refused,
            @Nullable PersistentTransport kept,
            Clock clock) {}

    /**
     * Mounts, and returns when the mount answers.
     *
     * @param fileSystem the session's from here on; still the caller's when this throws
     * @throws MountException saying what to do; nothing stays mounted then
     */
    public static FuseSession mount(FileSystem fileSystem, Path mountPoint, SessionOptions options)
            throws MountException {
        return mount(fileSystem, mountPoint, options, Clock.system());
    }

    /** As {@link #mount(FileSystem, Path, SessionOptions)}, with a clock for all that the session measures. */
    public static FuseSession mount(FileSystem fileSystem, Path mountPoint, SessionOptions options, Clock clock)
            throws MountException {
        options.check();
        requireNative();
        TransportChooser chooser = new TransportChooser(options);
        KernelLink kernel = new KernelLink(fileSystem, options.readOnly(), null);
        List<String> refused = new ArrayList<>();
        for (TransportChoice choice : chooser.candidates()) {
            String reason = chooser.refusal(choice);
            if (reason == null) {
                boolean uring = choice == TransportChoice.URING;
                Handshake handshake =
                        new Handshake(options, uring, null, Native.pageBytes(), fileSystem, kernel::negotiated);
                MountedConnection connection = MountedConnection.mount(mountPoint, options);
                FuseSession session = over(
                        connection,
                        fileSystem,
                        new Setup(options, kernel, handshake, refused, null, clock),
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
                String.join(", ", refused) + "; fix one of these causes, or choose another transport with the option"
                        + " transport");
    }

    /**
     * Serves a session that a keeper mounted; what another process had begun there is asked for again where the kernel can be
     * ({@link PersistentTransport} has the rest). Closing it later
     * leaves the mount as it is, waiting for the next one to serve.
     *
     * @param fileSystem the session's from here on; still the caller's when this throws
     * @param kept its descriptors are the session's from here on, and closed when this throws
     * @param options the transport may be auto (devfuse), devfuse or uring; of a session that was served before, it stays as it
     *     was
     */
    public static FuseSession serve(FileSystem fileSystem, PersistentSession kept, SessionOptions options)
            throws MountException {
        return serve(fileSystem, kept, options, Clock.system());
    }

    /** As {@link #serve(FileSystem, PersistentSession, SessionOptions)}, with a clock for all that the session measures. */
    public static FuseSession serve(FileSystem fileSystem, PersistentSession kept, SessionOptions options, Clock clock)
            throws MountException {
        SessionMemory memory = openMemory(kept, options);
        Negotiated earlier = memory.negotiated();
        FuseSession session = over(kept, memory, fileSystem, options, clock);
        try {
            session.resume(earlier, kept.takes() > 0);
            return session;
        } catch (IOException e) {
            session.end();
            throw new MountException(
                    "the session at " + kept.target() + " could not be taken over (" + e.getMessage() + ")",
                    "unmount it and mount it again");
        } catch (RuntimeException | Error e) {
            session.end(); // it is tried again, and must not leave its descriptors and memory each time
            throw e;
        }
    }

    /** All that the session has is closed when this throws: it is tried again, and another process may claim it. */
    private static FuseSession over(
            PersistentSession kept, SessionMemory memory, FileSystem fileSystem, SessionOptions options, Clock clock)
            throws MountException {
        PersistentConnection connection = new PersistentConnection(kept, memory);
        PersistentTransport way = null;
        try {
            SessionOptions fitting = options.forKept(kept.readOnly(), memory.negotiated());
            way = PersistentTransport.choose(fitting, kept, memory);
            FileSystem journaled = new JournaledFileSystem(fileSystem, memory.journal(), memory::note);
            KernelLink kernel = new KernelLink(journaled, fitting.readOnly(), kept.notifications());
            Handshake handshake =
                    new Handshake(fitting, way.uring(), way.resends(), Native.pageBytes(), fileSystem, outcome -> {
                        memory.store(outcome);
                        kernel.negotiated(outcome);
                    });
            Setup setup = new Setup(fitting, kernel, handshake, List.of(), way, clock);
            return new FuseSession(journaled, connection, setup, way::make);
        } catch (MountException | RuntimeException | Error e) {
            connection.close(true);
            int clone = way == null ? kept.cloneFd() : way.unusedClone();
            if (clone >= 0) {
                Native.close(clone);
            }
            throw e;
        }
    }

    private static SessionMemory openMemory(PersistentSession kept, SessionOptions options) throws MountException {
        try {
            requireNative();
            options.check();
            if (options.transport() == TransportChoice.LIBFUSE) {
                throw new MountException(
                        "the session at " + kept.target()
                                + " is held by a keeper, and transport libfuse cannot be taken over",
                        "choose auto, devfuse or uring for it");
            }
            return SessionMemory.open(kept.memoryFd());
        } catch (MountException | RuntimeException | Error e) {
            kept.close();
            throw e;
        }
    }

    private void resume(@Nullable Negotiated earlier, boolean servedBefore) throws IOException {
        if (!isConnected()) {
            throw new IOException("its connection has ended");
        }
        if (earlier != null) {
            handshake.resume(earlier);
        }
        if (servedBefore && kept != null && kept.resends()) {
            int result = kernel.resend();
            if (result < 0) {
                throw new IOException(
                        "the kernel refused to resend the requests in flight: " + Native.errorText(result));
            }
        }
        begin();
    }

    private static void requireNative() throws MountException {
        if (!NativeLoader.isAvailable()) {
            throw new MountException(
                    "the native library is missing (" + NativeLoader.unavailabilityCause() + ")",
                    "give a folder that is not mounted noexec with -Djava.io.tmpdir=DIR, and use a build for this"
                            + " architecture");
        }
    }

    private void begin() throws IOException {
        transport.start(dispatcher);
        try {
            transport.awaitReady(READY_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the session was starting", e);
        }
        if (handshake.negotiated() == null) {
            throw new IOException("the kernel and the gateway could not agree on a protocol; see the log");
        }
    }

    /** All that is known of how the session is served, in one line. */
    public String line() {
        String line = "transport " + transport.name() + " " + transport.geometry() + " " + handshake.describe();
        String takeover = kept == null ? "" : " " + kept.describe();
        return line + takeover + (refused.isEmpty() ? "" : " refused " + String.join(",", refused));
    }

    /** "libfuse", "devfuse" or "uring". */
    public String transportName() {
        return transport.name();
    }

    /** The line to the kernel that the file system was given. */
    public Kernel kernel() {
        return kernel;
    }

    /** See {@link Dispatcher#inFlight}. */
    public List<InFlightRequest> inFlight(long atLeastNanos) {
        return dispatcher.inFlight(atLeastNanos);
    }

    /** See {@link Dispatcher#interruptRemote}. */
    public boolean interruptRemote(long unique, long atLeastNanos) {
        return dispatcher.interruptRemote(unique, atLeastNanos);
    }

    /** See {@link Dispatcher#listen}. */
    public void listen(@Nullable Consumer<RequestRecord> told) {
        dispatcher.listen(told);
    }

    /**
     * Is every call answered, that of an earlier process, too, which had received it and holds on to it, as it was killed and the kernel
     * does not end it? Not where the kernel resends none, nor over io_uring: what was in its entries comes with its end.
     */
    public boolean answersEarlier() {
        return kept != null && kept.resends() && !kept.uring();
    }

    /** How many requests may wait at the same time. */
    public int poolThreads() {
        return poolThreads;
    }

    /** See {@link #lend}. */
    @FunctionalInterface
    public interface Borrower<E extends Exception> {
        void borrow(PersistentSession session) throws E;
    }

    /**
     * Lends the descriptors of a persistent session that is open; they stay open while the borrower has them, and closing waits for it.
     *
     * @return false: the session is closed, or not a kept one
     */
    public synchronized <E extends Exception> boolean lend(Borrower<E> borrower) throws E {
        if (closed || !(connection instanceof PersistentConnection persistentConnection)) {
            return false;
        }
        borrower.borrow(persistentConnection.kept());
        return true;
    }

    /** The kernel's account of the connection. */
    public KernelConnection kernelConnection() {
        return kernelConnection;
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
        if (kept != null && kept.leavesRequests()) {
            dispatcher.leaveWaiting(connection::leaveRequests);
        }
        dispatcher.endLimits();
        transport.stop();
        boolean loses = kept != null && !kept.leavesRequests();
        boolean unused = dispatcher.close(loses ? FINISH_ALL_SECONDS : FINISH_SECONDS);
        unused &= transport.close();
        unused &= kernel.disconnect();
        if (!unused && kept == null) {
            abort("a thread is still busy at the end of the session"); // the entries of a ring hold the connection, too
        }
        synchronized (descriptorLock) {
            descriptorClosed = true;
        }
        connection.close(unused);
    }

    /** Not under the session's own lock, which its end holds while it waits. */
    private boolean isConnected() {
        synchronized (descriptorLock) {
            return !descriptorClosed && Native.isConnected(connection.fd());
        }
    }

    private void awaitQuietly() {
        try {
            transport.await(UNMOUNTED_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

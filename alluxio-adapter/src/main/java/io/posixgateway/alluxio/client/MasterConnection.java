package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.exception.ServiceNotFoundException;
import alluxio.exception.status.AlluxioStatusException;
import alluxio.exception.status.DeadlineExceededException;
import alluxio.exception.status.NotFoundException;
import alluxio.exception.status.UnauthenticatedException;
import alluxio.exception.status.UnavailableException;
import alluxio.grpc.GetServiceVersionPRequest;
import alluxio.grpc.GrpcChannel;
import alluxio.grpc.GrpcChannelBuilder;
import alluxio.grpc.GrpcServerAddress;
import alluxio.grpc.ServiceType;
import alluxio.grpc.ServiceVersionClientServiceGrpc;
import alluxio.master.MasterClientContext;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.util.ConfigurationUtils;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection to the leading master of Alluxio that all calls of a volume share. Any thread; waits.
 *
 * <pre>
 *   none ──a call──► connecting ──► connected ──a call was not answered──► none
 *    ▲                   │
 *    └─refused, or silent┘
 * </pre>
 *
 * <p>Alluxio's library finds the leader, fetches the cluster's settings for clients and authenticates, without a deadline and in part
 * under a lock. So it does that on a thread of its own, which is given up after a while, and another one begins, with twice the time: a
 * master that is merely slow is heard at last.
 *
 * <p>A connection that is dropped is closed when its last call has ended, as the master may still answer others.
 */
final class MasterConnection implements AutoCloseable {
    private static final long FIRST_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long LONGEST_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Failures to connect after which nobody has said anything of the call. */
    private static final Set<Status.Code> UNREACHED =
            EnumSet.of(Status.Code.UNAVAILABLE, Status.Code.INTERNAL, Status.Code.UNKNOWN, Status.Code.CANCELLED);

    private final FileSystemContext context;
    private final Clock clock;
    private final long limitNanos;
    /** True if no other master can become the leader. */
    private final boolean alone;

    // Guarded by this.
    private @Nullable Use current;
    private @Nullable Attempt attempt;
    private long timeoutNanos = FIRST_TIMEOUT_NANOS;
    private boolean closed;

    private volatile boolean hasSettings;
    private volatile boolean wasConnected;
    private volatile Runnable absent = () -> {};

    /** @param limitNanos for which a call tries to connect */
    MasterConnection(FileSystemContext context, long limitNanos, Clock clock) {
        this.context = context;
        this.limitNanos = limitNanos;
        this.clock = clock;
        this.alone = !ConfigurationUtils.isHaMode(context.getClusterConf());
    }

    /** One connection; each call closes it when it has ended. */
    final class Use implements AutoCloseable {
        final GrpcChannel channel;

        // Guarded by the outer object.
        private int calls;
        private boolean dropped;

        private Use(GrpcChannel channel) {
            this.channel = channel;
        }

        /** The next call makes another one. */
        void drop() {
            synchronized (MasterConnection.this) {
                dropped = true;
                current = current == this ? null : current;
                endIfUnused();
            }
        }

        @Override
        public void close() {
            synchronized (MasterConnection.this) {
                calls--;
                endIfUnused();
            }
        }

        private void endIfUnused() {
            if (dropped && calls == 0) {
                new UnpinnedThread(channel::shutdown, "alluxio-master-end").start(); // waits for seconds
            }
        }
    }

    /** An attempt to connect, and its end. */
    private final class Attempt {
        private final CountDownLatch over = new CountDownLatch(1);
        private final UnpinnedThread thread = new UnpinnedThread(this::run, "alluxio-master");
        private final long timeoutNanos;
        private volatile AlluxioStatusException failure =
                new DeadlineExceededException("Alluxio's master does not answer");

        Attempt(long timeoutNanos) {
            this.timeoutNanos = timeoutNanos;
        }

        private void run() {
            try {
                connected(connect());
            } catch (AlluxioStatusException e) {
                failure = e;
                if (alone && ErrnoTable.isNobodyListening(e)) {
                    absent.run();
                }
            } finally {
                over.countDown();
            }
        }

        /** Returns when it is over, at the latest when nobody should wait for it any longer. */
        void await() throws InterruptedException {
            if (!clock.await(over, timeoutNanos)) {
                giveUp();
            }
        }

        /** Nobody waits for it any longer. */
        void giveUp() {
            thread.interrupt();
            over.countDown();
        }
    }

    /** As {@link Store#onMasterAbsent}. */
    void onAbsent(Runnable listener) {
        absent = listener;
    }

    /** True if another one than the leading master can lead later. */
    boolean hasOtherMasters() {
        return !alone;
    }

    /** True if the cluster's settings for clients are known. */
    boolean hasSettings() {
        return hasSettings;
    }

    /**
     * The connection, for one call.
     *
     * @throws AlluxioStatusException what keeps the master from answering
     */
    Use use() throws AlluxioStatusException, InterruptedException {
        long began = clock.nanos();
        for (int rounds = 0; ; rounds++) {
            Attempt connecting;
            synchronized (this) {
                Use known = useCurrent();
                if (known != null) {
                    return known;
                }
                connecting = attempt();
            }
            connecting.await();
            Use made = useCurrent(); // however late
            if (made != null) {
                return made;
            }
            AlluxioStatusException failure = connecting.failure;
            boolean wrongServer = alone && failure.getCause() instanceof ServiceNotFoundException;
            boolean wrongLogin = rounds > 0 && !wasConnected && failure instanceof UnauthenticatedException;
            if (wrongServer || wrongLogin || clock.nanos() - began > limitNanos) {
                throw failure;
            }
            clock.sleep(PAUSE_NANOS);
        }
    }

    private synchronized @Nullable Use useCurrent() {
        Use known = current;
        if (known != null && !known.channel.isHealthy()) {
            known.drop();
            known = null;
        }
        if (known != null) {
            known.calls++;
        }
        return known;
    }

    private Attempt attempt() throws UnavailableException {
        if (closed) {
            throw new UnavailableException("The volume has ended");
        }
        Attempt known = attempt;
        if (known == null || known.over.getCount() == 0) {
            known = new Attempt(timeoutNanos);
            attempt = known;
            timeoutNanos = Math.max(timeoutNanos, Math.min(2 * timeoutNanos, longestTimeoutNanos()));
            known.thread.start();
        }
        return known;
    }

    private long longestTimeoutNanos() {
        return Math.min(limitNanos, LONGEST_TIMEOUT_NANOS);
    }

    private synchronized void connected(GrpcChannel channel) {
        Use made = new Use(channel);
        timeoutNanos = FIRST_TIMEOUT_NANOS;
        if (closed || current != null) {
            made.drop();
        } else {
            current = made;
            wasConnected = true;
        }
    }

    private GrpcChannel connect() throws AlluxioStatusException {
        MasterClientContext master = context.getMasterClientContext();
        InetSocketAddress leader = null;
        GrpcChannel channel = null;
        try {
            leader = master.getMasterInquireClient().getPrimaryRpcAddress();
            master.loadConfIfNotLoaded(leader);
            hasSettings = true;
            channel = GrpcChannelBuilder.newBuilder(GrpcServerAddress.create(leader), master.getClusterConf())
                    .setSubject(master.getSubject())
                    .build();
            ServiceVersionClientServiceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(Math.max(limitNanos, FIRST_TIMEOUT_NANOS), TimeUnit.NANOSECONDS)
                    .getServiceVersion(GetServiceVersionPRequest.newBuilder()
                            .setServiceType(ServiceType.FILE_SYSTEM_MASTER_CLIENT_SERVICE)
                            .build());
            return channel;
        } catch (AlluxioStatusException | RuntimeException e) {
            if (channel != null) {
                channel.shutdown();
            }
            throw failure(master, leader, AlluxioStatusException.fromThrowable(e));
        }
    }

    private static AlluxioStatusException failure(
            MasterClientContext master, @Nullable InetSocketAddress leader, AlluxioStatusException cause)
            throws UnauthenticatedException {
        String where = leader == null ? "" : " at " + leader;
        String text = "Failed to connect to Alluxio's master" + where + ": " + cause.getMessage();
        if (cause instanceof UnauthenticatedException) {
            master.getUserState().relogin(); // the credentials may have expired
        }
        if (cause instanceof NotFoundException) { // it does not lead
            return new UnavailableException(text, new ServiceNotFoundException(text, cause));
        }
        return UNREACHED.contains(cause.getStatusCode()) ? new UnavailableException(text, cause) : cause;
    }

    /** No call begins any more. */
    @Override
    public synchronized void close() {
        closed = true;
        if (current != null) {
            current.drop();
        }
        if (attempt != null) {
            attempt.giveUp();
        }
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.exception.status.AlluxioStatusException;
import alluxio.exception.status.DeadlineExceededException;
import alluxio.exception.status.UnauthenticatedException;
import alluxio.exception.status.UnavailableException;
import alluxio.grpc.GrpcChannel;
import alluxio.grpc.GrpcChannelBuilder;
import alluxio.grpc.GrpcNetworkGroup;
import alluxio.grpc.GrpcServerAddress;
import alluxio.security.user.UserState;
import alluxio.util.network.NetworkAddressUtils;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one worker that the calls of a volume share. Any thread.
 *
 * <p>There are a few, since each is served by one thread of the network. A call that does not take what comes holds up no other on its
 * connection: each has a window of its own, and gRPC refills that of the connection.
 *
 * <p>Alluxio's library authenticates without a deadline. So connections are opened on a thread of their own, one at a time, when they are
 * needed; who has to wait for one can give it up. One that broke, or was silent, is closed when its last call has ended.
 */
final class WorkerConnection implements AutoCloseable {
    /** One that was not used for so long is closed when another is used. */
    static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(5);
    /** So long a connection is waited for. */
    static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Connecting connecting;
    private final String name;
    private final int most;
    private final Clock clock;

    // Guarded by this.
    private final List<Use> open = new ArrayList<>(2);
    private @Nullable Attempt attempt;
    private boolean closed;

    /** Opens a connection, authenticated; waits. */
    interface Connecting {
        GrpcChannel connect() throws IOException;
    }

    /** @param most so many connections share all calls */
    WorkerConnection(FileSystemContext context, WorkerNetAddress worker, int most, Clock clock) {
        this(() -> connect(context, worker), worker.getHost() + ":" + worker.getDataPort(), most, clock);
    }

    WorkerConnection(Connecting connecting, String name, int most, Clock clock) {
        this.connecting = connecting;
        this.name = name;
        this.most = most;
        this.clock = clock;
    }

    /** One connection, as one call has it; the call closes it when it has ended. */
    final class Use implements AutoCloseable {
        final GrpcChannel channel;

        // Guarded by the outer object.
        private int calls;
        private boolean dropped;
        private long idleNanos = clock.nanos();

        private Use(GrpcChannel channel) {
            this.channel = channel;
        }

        private boolean isIdleFor(long nanos) {
            return calls == 0 && clock.nanos() - idleNanos >= nanos;
        }

        /** A call on it failed: one that may be broken is not used again. */
        void failed(Throwable failure) {
            if (ErrnoTable.isConnectionLost(failure)) {
                drop();
            }
        }

        /** The next call gets another one. */
        void drop() {
            synchronized (WorkerConnection.this) {
                dropped = true;
                open.remove(this);
                endIfUnused();
            }
        }

        @Override
        public void close() {
            synchronized (WorkerConnection.this) {
                calls--;
                idleNanos = clock.nanos();
                endIfUnused();
            }
        }

        private void endIfUnused() {
            if (dropped && calls == 0) {
                new UnpinnedThread(channel::shutdown, "alluxio-worker-end").start(); // waits for seconds
            }
        }
    }

    /** Opening one, and how that ended. */
    private final class Attempt {
        private final UnpinnedThread thread = new UnpinnedThread(this::run, "alluxio-worker");
        private final long beganNanos = clock.nanos();

        // Guarded by the outer object.
        private boolean over;
        private @Nullable IOException failure;

        private void run() {
            GrpcChannel channel = null;
            IOException why = null;
            try {
                channel = connecting.connect();
            } catch (IOException e) {
                why = e;
            } catch (RuntimeException | LinkageError e) { // of a class that only a log line needs
                why = new UnavailableException("Connecting to " + name + " failed: " + e, e);
            }
            opened(channel, why);
        }

        private void opened(@Nullable GrpcChannel channel, @Nullable IOException why) {
            synchronized (WorkerConnection.this) {
                if (channel != null) {
                    Use made = new Use(channel);
                    open.add(made);
                    if (closed) {
                        made.drop();
                    }
                }
                end(why);
            }
        }

        private void end(@Nullable IOException why) {
            if (!over) {
                over = true;
                failure = why;
                attempt = null;
                WorkerConnection.this.notifyAll();
            }
        }

        /** For the next call another is begun. */
        private void giveUp(IOException why) {
            end(why);
            thread.interrupt();
        }
    }

    /**
     * A connection, for one call; waits until there is one.
     *
     * @param call ends the wait when it is given up; null: nothing does
     * @param mostNanos the longest wait
     * @throws IOException why there is none
     */
    Use use(@Nullable CancellableCall call, long mostNanos) throws IOException, InterruptedException {
        Use known = useKnown();
        if (known != null) {
            return known;
        }
        if (call != null) {
            call.cancelBy(this::wake);
        }
        long end = clock.nanos() + mostNanos;
        synchronized (this) {
            for (known = useKnown(); known == null; known = useKnown()) {
                await(attempt(), call, end);
            }
            return known;
        }
    }

    private synchronized void wake() {
        notifyAll();
    }

    /** Returns when it may be that there is a connection. The caller holds the lock. */
    private void await(Attempt one, @Nullable CancellableCall call, long end) throws IOException, InterruptedException {
        long now = clock.nanos();
        if (call != null && call.isGivenUp()) {
            throw new UnavailableException("Worker " + name + " does not answer");
        }
        if (end - now <= 0 || now - one.beganNanos >= LIMIT_NANOS) {
            DeadlineExceededException late =
                    new DeadlineExceededException("Connecting to worker " + name + " takes too long");
            if (now - one.beganNanos >= LIMIT_NANOS) {
                one.giveUp(late);
            }
            throw late;
        }
        clock.waitOn(this, Math.min(end - now, one.beganNanos + LIMIT_NANOS - now));
        if (one.failure != null) {
            throw one.failure;
        }
    }

    private synchronized @Nullable Use useKnown() throws UnavailableException {
        if (closed) {
            throw new UnavailableException(notUsed());
        }
        Use best = best();
        if (best == null) {
            return null;
        }
        if (best.calls > 0 && open.size() < most) {
            attempt(); // for those who come next
        }
        best.calls++;
        return best;
    }

    /** The one that serves the fewest calls. */
    private @Nullable Use best() {
        Use best = null;
        for (int i = open.size() - 1; i >= 0; i--) {
            Use one = open.get(i);
            if (!one.channel.isHealthy() || (i > 0 && one.isIdleFor(IDLE_NANOS))) {
                one.drop();
            } else if (best == null || one.calls <= best.calls) {
                best = one;
            }
        }
        return best;
    }

    private Attempt attempt() {
        Attempt known = attempt;
        if (known == null) {
            known = new Attempt();
            attempt = known;
            known.thread.start();
        }
        return known;
    }

    private static GrpcChannel connect(FileSystemContext context, WorkerNetAddress worker)
            throws AlluxioStatusException {
        UserState user = context.getClientContext().getUserState();
        GrpcServerAddress address = GrpcServerAddress.create(
                worker.getHost(), NetworkAddressUtils.getDataPortSocketAddress(worker, context.getClusterConf()));
        try {
            return GrpcChannelBuilder.newBuilder(address, context.getClusterConf())
                    .setSubject(user.getSubject())
                    .setNetworkGroup(GrpcNetworkGroup.STREAMING)
                    .build();
        } catch (UnauthenticatedException e) {
            user.relogin(); // the credentials may have expired
            throw e;
        }
    }

    private String notUsed() {
        return "Worker " + name + " is not used any more: it is gone, or the volume has ended";
    }

    /** No call begins any more. */
    @Override
    public synchronized void close() {
        closed = true;
        for (Use one : List.copyOf(open)) {
            one.drop();
        }
        if (attempt != null) {
            attempt.giveUp(new UnavailableException(notUsed()));
        }
        notifyAll();
    }
}

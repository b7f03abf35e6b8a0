package io.posixgateway.alluxio.client;

import alluxio.client.file.FileSystemContext;
import alluxio.conf.PropertyKey;
import alluxio.exception.status.AlluxioStatusException;
import alluxio.exception.status.UnavailableException;
import alluxio.metrics.MetricsSystem;
import alluxio.shaded.client.io.grpc.CallOptions;
import alluxio.shaded.client.io.grpc.Context;
import alluxio.shaded.client.io.grpc.MethodDescriptor;
import alluxio.shaded.client.io.grpc.Status;
import alluxio.shaded.client.io.grpc.StatusRuntimeException;
import alluxio.shaded.client.io.grpc.stub.ClientCalls;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends calls to the leading master of Alluxio. Any thread; waits, and an interrupt ends that at once.
 *
 * <p>A call that nobody answered is sent again, to whichever master leads by then, for as long as {@code
 * alluxio.user.rpc.retry.max.duration} says. By the operation id of a change a master knows that it did it already.
 */
final class MasterClient implements AutoCloseable {
    /** A listing that took so long reached the master. */
    static final long WORKED_NANOS = TimeUnit.SECONDS.toNanos(30);

    static final int MAX_CUT_OFF = 4;
    /** So often in a row a master may not know a call since it leads no more: each is asked on a new connection. */
    static final int MAX_UNKNOWN = 2;
    /** So long a master is waited for that does not answer while its connection lives. */
    private static final long DEADLINE_NANOS = TimeUnit.MINUTES.toNanos(5);
    /** The same of what takes as long as the under file system needs: a directory of many millions of names, or a copy. */
    static final long LONG_DEADLINE_NANOS = TimeUnit.HOURS.toNanos(24);

    private static final Logger LOG = LoggerFactory.getLogger(MasterClient.class);

    private final MasterConnection connection;
    private final Clock clock;
    private final Semaphore free;
    private final long limitNanos;
    private final long firstPauseNanos;
    private final long longestPauseNanos;
    /** What all calls are part of. */
    private final Context.CancellableContext calls = Context.ROOT.withCancellation();

    /** When to send a call again. */
    enum Repeat {
        UNANSWERED,
        /**
         * The same of a change, which a master refuses once it is done. And what it does first (the time of a directory, what it loads, the
         * entry in its journal before the under file system is told) has the operation id, too: by that alone the next leader, or the
         * same master that was killed, takes it for done, which is EIO here. In both cases {@link StoreException#isOfRepetition}.
         */
        UNANSWERED_CHANGE,
        /**
         * What was cut off after a while, too: a master that loads a large directory may pause for so long (its heap is collected,
         * another one takes over) that the keepalive of the connection fails. What it has loaded by then is kept.
         */
        CUT_OFF,
        /** Only what a master refused that does not know the connection, as after it began anew. */
        REFUSED
    }

    /** @param mostCalls so many may be in flight; more wait */
    MasterClient(FileSystemContext context, int mostCalls, Clock clock) {
        this.clock = clock;
        this.free = new Semaphore(mostCalls);
        this.limitNanos = nanos(context, PropertyKey.USER_RPC_RETRY_MAX_DURATION);
        this.firstPauseNanos = nanos(context, PropertyKey.USER_RPC_RETRY_BASE_SLEEP_MS);
        this.longestPauseNanos = nanos(context, PropertyKey.USER_RPC_RETRY_MAX_SLEEP_MS);
        this.connection = new MasterConnection(context, limitNanos, clock);
    }

    private static long nanos(FileSystemContext context, PropertyKey duration) {
        return context.getClusterConf().getDuration(duration).toNanos();
    }

    /** Returns when the cluster's settings for clients are known, which is at the first connection. */
    void awaitSettings() throws StoreException {
        if (!connection.hasSettings()) {
            connect();
        }
    }

    /** As {@link Store#onMasterAbsent}. */
    void onAbsent(Runnable listener) {
        connection.onAbsent(listener);
    }

    /** Returns when the master can be called. */
    void connect() throws StoreException {
        try {
            connection.use().close();
        } catch (InterruptedException e) {
            throw interrupted("connect", e);
        } catch (AlluxioStatusException e) {
            throw ErrnoTable.exception("connect", e);
        }
    }

    /** As {@link #send(String, MethodDescriptor, Object, Repeat)}, again if it is unanswered. */
    <Q, R> R send(String what, MethodDescriptor<Q, R> method, Q request) throws StoreException {
        return send(what, method, request, Repeat.UNANSWERED);
    }

    /**
     * Sends a call and waits for its answer.
     *
     * @param what it does, for the text of a failure
     * @throws StoreException what the master said, or that none did; EINTR: the thread was interrupted, which it stays
     */
    <Q, R> R send(String what, MethodDescriptor<Q, R> method, Q request, Repeat repeat) throws StoreException {
        boolean isLong = RemoteCalls.ofThread().isUnlimited();
        Tries tries = new Tries(what, repeat, isLong ? LONG_DEADLINE_NANOS : DEADLINE_NANOS);
        try {
            free.acquire();
            try {
                R answer = exchange(tries, method, request);
                tries.checkDone();
                return answer;
            } finally {
                free.release();
            }
        } catch (InterruptedException e) {
            throw interrupted(what, e);
        } catch (AlluxioStatusException | RuntimeException e) {
            StoreException failure = ErrnoTable.exception(what, e);
            throw tries.isRepetitionRefused ? failure.ofRepetition() : failure;
        }
    }

    /**
     * As {@link #send}, for what a master that lives responds to at once: takes no place of other calls. Where another master may lead by
     * then, a connection that brought no response in time is not used again.
     *
     * @param deadlineNanos the longest wait for a response
     */
    <Q, R> R sendAside(String what, MethodDescriptor<Q, R> method, Q request, long deadlineNanos)
            throws IOException, InterruptedException {
        Tries tries = new Tries(what, Repeat.UNANSWERED, deadlineNanos);
        tries.isAside = true;
        return exchange(tries, method, request);
    }

    private <Q, R> R exchange(Tries tries, MethodDescriptor<Q, R> method, Q request)
            throws AlluxioStatusException, InterruptedException {
        while (true) {
            try (MasterConnection.Use use = connection.use()) {
                tries.begin();
                return call(use, tries, method, request);
            } catch (StatusRuntimeException e) {
                tries.failed(AlluxioStatusException.fromStatusRuntimeException(e));
            } catch (AlluxioStatusException e) {
                throw tries.count == 0 ? e : tries.unknown(e);
            }
        }
    }

    private <Q, R> R call(MasterConnection.Use use, Tries tries, MethodDescriptor<Q, R> method, Q request) {
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(tries.deadlineNanos, TimeUnit.NANOSECONDS);
        Context before = calls.attach();
        long beganNanos = clock.nanos();
        try {
            return ClientCalls.blockingUnaryCall(use.channel, method, options, request);
        } catch (StatusRuntimeException e) {
            Status.Code code = ErrnoTable.codeOf(e);
            boolean isSilent = tries.isAside && code == Status.Code.DEADLINE_EXCEEDED && connection.hasOtherMasters();
            if ((isUnanswered(code) || code == Status.Code.UNIMPLEMENTED || wasDeposed(code, e) || isSilent)
                    && !Thread.currentThread().isInterrupted()) {
                use.drop();
            }
            throw e;
        } finally {
            calls.detach(before);
            MetricsSystem.timer(method.getBareMethodName()).update(clock.nanos() - beganNanos, TimeUnit.NANOSECONDS);
        }
    }

    private static boolean isUnanswered(Status.@Nullable Code code) {
        return code == Status.Code.UNAVAILABLE || code == Status.Code.CANCELLED || code == Status.Code.UNAUTHENTICATED;
    }

    /**
     * True if the leader was deposed while it worked on the call, such as one that was stopped: whatever it did, the next one knows
     * nothing of it. By the words of the journal, which the master gives another code.
     */
    private static boolean wasDeposed(Status.@Nullable Code code, Exception failure) {
        return code == Status.Code.INTERNAL
                && String.valueOf(failure.getMessage()).contains("is not the leader");
    }

    /** How often one call was sent. */
    private final class Tries {
        private final String what;
        private final Repeat repeat;
        /** Of each. */
        private final long deadlineNanos;

        private boolean isAside;
        /** A master that did not answer may have done it. */
        private boolean mayBeDone;

        private boolean isRepetitionRefused;
        private long firstNanos = clock.nanos();
        private long sentNanos;
        private long pauseNanos = firstPauseNanos;
        private int count;
        private int cutOff;
        /** In a row. */
        private int unimplemented;

        private Tries(String what, Repeat repeat, long deadlineNanos) {
            this.what = what;
            this.repeat = repeat;
            this.deadlineNanos = deadlineNanos;
        }

        private void begin() {
            sentNanos = clock.nanos();
            count++;
        }

        /** By a master that does not know the connection, or leads no more: nothing is done. */
        private boolean wasRefused(Status.Code code) {
            return code == Status.Code.UNIMPLEMENTED || code == Status.Code.UNAUTHENTICATED;
        }

        /** A master said that it is done. */
        private void checkDone() throws StoreException {
            if (mayBeDone) {
                String text = what
                        + ": the master that had it first did not answer; another one says that it is done, which may be"
                        + " true of its first part alone";
                throw new StoreException(Errno.EIO, text, null).ofRepetition();
            }
        }

        /** It was sent, and nobody said what came of it. */
        private UnavailableException unknown(AlluxioStatusException last) {
            return new UnavailableException("Failed after " + count + " attempts: " + last, last);
        }

        /**
         * A master that leads no more has no services, or says that it is not the leader; without authentication nothing else tells the
         * first of a connection.
         */
        private boolean mayBeAnotherMasters(AlluxioStatusException failure) {
            boolean unknown = failure.getStatusCode() == Status.Code.UNIMPLEMENTED;
            unimplemented = unknown ? unimplemented + 1 : 0;
            return (unknown && unimplemented <= MAX_UNKNOWN) || wasDeposed(failure.getStatusCode(), failure);
        }

        /** Returns when it may be sent again. */
        private void failed(AlluxioStatusException failure) throws AlluxioStatusException, InterruptedException {
            if (!mayBeAnotherMasters(failure) && !isUnanswered(ErrnoTable.codeOf(failure))) {
                isRepetitionRefused = mayBeDone;
                throw failure;
            }
            mayBeDone |= repeat == Repeat.UNANSWERED_CHANGE && !wasRefused(failure.getStatusCode());
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedException(failure.getMessage());
            }
            long now = clock.nanos();
            if (repeat == Repeat.CUT_OFF && now - sentNanos >= WORKED_NANOS && cutOff++ < MAX_CUT_OFF) {
                LOG.warn(
                        "Retrying {} because the connection to Alluxio's master broke after {} s: {}",
                        what,
                        TimeUnit.NANOSECONDS.toSeconds(now - sentNanos),
                        failure.getMessage());
                firstNanos = now;
            }
            boolean may = repeat != Repeat.REFUSED || wasRefused(failure.getStatusCode());
            if (!may || now - firstNanos > limitNanos || calls.isCancelled()) {
                throw unknown(failure);
            }
            clock.sleep(pauseNanos);
            pauseNanos = Math.min(2 * pauseNanos, longestPauseNanos);
        }
    }

    private static StoreException interrupted(String what, InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new StoreException(Errno.EINTR, "Interrupted while waiting for Alluxio's master: " + what, cause);
    }

    /** Ends the calls in flight, and begins none. */
    @Override
    public void close() {
        calls.cancel(null);
        connection.close();
    }
}

package io.posixgateway.alluxio.client;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.metrics.RemoteCalls;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds all calls of a volume that shuts down, whichever thread makes them: a server that hangs, but lives, holds none of them for good,
 * nor does one that answers now and then, while nothing comes of it.
 *
 * <pre>
 *   open ──begin──► ending ──nothing answered for SILENCE at two looks, or nothing changed for STANDSTILL──► over
 *                    ▲  └─answered, changed─┐
 *                    └──────────────────────┘
 * </pre>
 *
 * <p>An upload of any length is finished as long as bytes are taken meanwhile. When it is over no call begins, and those in flight are
 * interrupted, again and again, as Alluxio's client may send by itself what was interrupted. Any thread; has one of its own from begin
 * to close.
 */
final class ShutdownLimit implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ShutdownLimit.class);

    static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);
    /** While an under file system stores, or copies, a whole file within one call. */
    static final long LONG_SILENCE_NANOS = TimeUnit.MINUTES.toNanos(5);

    /** Without a change in Alluxio, such as bytes that were taken. */
    static final long STANDSTILL_NANOS = TimeUnit.MINUTES.toNanos(30);

    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Clock clock;
    /** Those in flight, by their threads. */
    private final Set<RemoteCalls> inFlight = ConcurrentHashMap.newKeySet();

    private volatile boolean ending;
    private volatile boolean over;
    private volatile long answeredNanos;
    private volatile long changedNanos;
    private volatile boolean closed;
    // Guarded by this.
    private @Nullable Thread thread;

    ShutdownLimit(Clock clock) {
        this.clock = clock;
    }

    /** From now on silence counts. Idempotent. */
    synchronized void begin() {
        if (thread != null || closed) {
            return;
        }
        answeredNanos = clock.nanos();
        changedNanos = answeredNanos;
        ending = true;
        Thread started = new Thread(this::run, "shutdown-limit");
        started.setDaemon(true);
        started.start();
        thread = started;
    }

    /**
     * A call begins, on its thread; {@link #ended} follows unless this throws.
     *
     * @throws StoreException ETIMEDOUT: it is over
     */
    void began(RemoteCalls call) throws StoreException {
        inFlight.add(call);
        if (over) {
            inFlight.remove(call);
            throw new StoreException(
                    Errno.ETIMEDOUT,
                    "Alluxio had stopped responding when the mount ended; no further call is made",
                    null);
        }
    }

    /**
     * @param answered by Alluxio, be it with a refusal
     * @param changed Alluxio has done what it was asked to, and that was a change
     */
    void ended(RemoteCalls call, boolean answered, boolean changed) {
        if (answered && ending) {
            answeredNanos = clock.nanos();
            changedNanos = changed ? answeredNanos : changedNanos;
        }
        inFlight.remove(call);
    }

    private void run() {
        boolean wasSilent = false;
        long lastAnswered = 0;
        while (waited()) {
            long answered = answeredNanos;
            long now = clock.nanos();
            boolean silent = now - answered >= limitNanos();
            // A call that returns is no longer unlimited shortly before it counts as answered, so one look is not
            // enough.
            if (silent && wasSilent && answered == lastAnswered) {
                end("answered", now - answered);
            } else if (now - changedNanos >= STANDSTILL_NANOS) {
                end("changed", now - changedNanos);
            }
            wasSilent = silent;
            lastAnswered = answered;
            if (over) {
                inFlight.forEach(call -> call.interrupt(0));
            }
        }
    }

    private void end(String lacking, long nanos) {
        if (!over) {
            LOG.error(
                    "Alluxio has {} nothing for {} s while the mount ends; no further call is made, and files that"
                            + " could not be uploaded stay in the spool files that this log names",
                    lacking,
                    TimeUnit.NANOSECONDS.toSeconds(nanos));
        }
        over = true;
    }

    private long limitNanos() {
        return inFlight.stream().anyMatch(RemoteCalls::isUnlimited) ? LONG_SILENCE_NANOS : SILENCE_NANOS;
    }

    private synchronized boolean waited() {
        try {
            clock.waitOn(this, LOOK_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return !closed && !Thread.currentThread().isInterrupted();
    }

    /** The volume has shut down. */
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}

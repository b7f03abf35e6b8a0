package io.posixgateway.fuse.metrics;

import io.posixgateway.fuse.time.Clock;
import io.posixgateway.fuse.wire.Opcode;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * The counters of one session.
 *
 * <p>Hot counters are kept in stripes, one array each, and a thread always adds to the stripe of its id: adding is one
 * uncontended atomic add, and an answered request costs three of them: it began, how long it took, in which bucket. All else
 * is derived by the reader. A sum over the stripes is exact once the adding threads are quiet, and else a moment old; a
 * difference of two sums (in flight, busy) is read in the order that never lets it fall below zero.
 */
public final class SessionMetrics {
    /** Errors above this number are counted as it. */
    public static final int MAX_ERRNO = 133;

    /** Benchmarks switch the hot counters off, to show what they cost. */
    private static final boolean COUNTING = !"off".equals(System.getProperty("posixgateway.metrics"));

    /** The fields of a stripe: a few totals, then a row per opcode. */
    private static final int BEGAN = 0;

    private static final int HANDED_OVER = 1;
    private static final int RESUMED = 2;
    private static final int BYTES_READ = 3;
    private static final int BYTES_WRITTEN = 4;
    private static final int TOTALS = 8;

    private static final int ROW_NANOS = 0;
    private static final int ROW_WAITED = 1;
    private static final int ROW_REMOTE = 2;
    private static final int ROW_BUCKETS = 3;
    private static final int ROW = ROW_BUCKETS + LatencyBuckets.COUNT;

    private final Clock clock;
    private final AtomicLongArray[] stripes;
    private final AtomicLongArray errors = new AtomicLongArray(Opcode.CODES * (MAX_ERRNO + 1));
    private final LongAdder workersCreated = new LongAdder();
    private final LongAdder workersDestroyed = new LongAdder();
    private final LongAdder delays = new LongAdder();
    private final LongAdder delaysEnded = new LongAdder();
    private final LongAdder delayedNanos = new LongAdder();

    /** Counters for as many threads as this machine runs at once. */
    public SessionMetrics(Clock clock) {
        this(clock, Runtime.getRuntime().availableProcessors());
    }

    /**
     * @param clock the session's, see {@link #clock}
     * @param parallelism how many threads are expected to count at the same moment
     */
    public SessionMetrics(Clock clock, int parallelism) {
        this.clock = clock;
        int count = Integer.highestOneBit(Math.max(1, Math.min(parallelism, 8)) * 2 - 1);
        stripes = new AtomicLongArray[count];
        for (int i = 0; i < count; i++) {
            stripes[i] = new AtomicLongArray(TOTALS + Opcode.CODES * ROW);
        }
    }

    /** The time that {@link #requestEnded} is to be given. */
    public long nanos() {
        return COUNTING ? clock.nanos() : 0;
    }

    /** The one clock of the session: its other parts, which all count here, take it from here. */
    public Clock clock() {
        return clock;
    }

    /** A thread that carries requests came into being. Called on it. */
    public void workerStarted() {
        workersCreated.increment();
    }

    /** A thread that carries requests ends. */
    public void workerEnded() {
        workersDestroyed.increment();
    }

    /** A request came from the kernel, and the calling thread handles it. */
    public void requestBegan() {
        if (!COUNTING) {
            return;
        }
        stripe().incrementAndGet(BEGAN);
    }

    /** It could not be answered at once, and goes to the pool's queue; the calling thread is free again. */
    public void requestHandedOver() {
        stripe().incrementAndGet(HANDED_OVER);
    }

    /** A thread of the pool takes it up. */
    public void requestResumed() {
        stripe().incrementAndGet(RESUMED);
    }

    /** A limit of the session holds a request up. */
    public void delayBegan() {
        delays.increment();
    }

    /** It does so no longer. */
    public void delayEnded(long nanos) {
        delayedNanos.add(nanos);
        delaysEnded.increment();
    }

    /**
     * Where the time of a request went that was handed over.
     *
     * @param waitedNanos from its coming to a pool thread's taking it up
     * @param remoteNanos in calls to the store behind the file system
     */
    public void requestSpent(Opcode opcode, long waitedNanos, long remoteNanos) {
        AtomicLongArray stripe = stripe();
        stripe.addAndGet(row(opcode) + ROW_WAITED, waitedNanos);
        stripe.addAndGet(row(opcode) + ROW_REMOTE, remoteNanos);
    }

    /**
     * A request is about to be answered.
     *
     * @param errno 0, or the positive error
     * @param nanos since it came
     */
    public void requestEnded(Opcode opcode, int errno, long nanos) {
        if (!COUNTING) {
            return;
        }
        AtomicLongArray stripe = stripe();
        int row = row(opcode);
        stripe.addAndGet(row + ROW_NANOS, nanos);
        stripe.incrementAndGet(row + ROW_BUCKETS + LatencyBuckets.indexOf(nanos));
        if (errno != 0) {
            errors.incrementAndGet(opcode.code() * (MAX_ERRNO + 1) + Math.min(errno, MAX_ERRNO));
        }
    }

    /** Data went to a reader. */
    public void bytesRead(long bytes) {
        if (COUNTING) {
            stripe().addAndGet(BYTES_READ, bytes);
        }
    }

    /** Data came from a writer. */
    public void bytesWritten(long bytes) {
        if (COUNTING) {
            stripe().addAndGet(BYTES_WRITTEN, bytes);
        }
    }

    /** Worker threads made so far: receiving threads and pool threads. */
    public long workersCreated() {
        return workersCreated.sum();
    }

    /** Worker threads that ended so far. */
    public long workersDestroyed() {
        return workersDestroyed.sum();
    }

    /** Worker threads that live. */
    public long workersAlive() {
        long destroyed = workersDestroyed();
        return workersCreated() - destroyed;
    }

    /** Worker threads that handle a request at this moment. */
    public long workersBusy() {
        long resumed = sum(RESUMED);
        return Math.max(0, inFlight() - (sum(HANDED_OVER) - resumed) - delayed());
    }

    /** Requests that a limit of the session holds up at this moment. */
    public long delayed() {
        long ended = delaysEnded.sum();
        return Math.max(0, delays.sum() - ended);
    }

    /** Requests that a limit of the session held up so far. */
    public long delays() {
        return delays.sum();
    }

    /** For how long that was, together, once each was over. */
    public long delayedNanos() {
        return delayedNanos.sum();
    }

    /** Requests that came and are not answered, those that wait for a pool thread included. */
    public long inFlight() {
        long ended = 0;
        for (Opcode opcode : Opcode.values()) {
            ended += requests(opcode);
        }
        return sum(BEGAN) - ended;
    }

    /** Requests that went to the pool. */
    public long handedOver() {
        return sum(HANDED_OVER);
    }

    /** Requests that wait for a pool thread at this moment. */
    public long queued() {
        long resumed = sum(RESUMED);
        return Math.max(0, sum(HANDED_OVER) - resumed);
    }

    /** How long the requests of this kind waited for a pool thread, together. */
    public long waitedNanos(Opcode opcode) {
        return sum(row(opcode) + ROW_WAITED);
    }

    /** How long the requests of this kind waited for the store behind the file system, together. */
    public long remoteNanos(Opcode opcode) {
        return sum(row(opcode) + ROW_REMOTE);
    }

    public long bytesRead() {
        return sum(BYTES_READ);
    }

    public long bytesWritten() {
        return sum(BYTES_WRITTEN);
    }

    /** Requests answered, be it with an error. */
    public long requests(Opcode opcode) {
        long total = 0;
        for (int i = 0; i < LatencyBuckets.COUNT; i++) {
            total += sum(row(opcode) + ROW_BUCKETS + i);
        }
        return total;
    }

    /** Requests answered with this error. */
    public long errors(Opcode opcode, int errno) {
        return errors.get(opcode.code() * (MAX_ERRNO + 1) + errno);
    }

    /** The durations of the answered requests. */
    public Latencies latencies(Opcode opcode) {
        long[] counts = new long[LatencyBuckets.COUNT];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = sum(row(opcode) + ROW_BUCKETS + i);
        }
        return new Latencies(counts, sum(row(opcode) + ROW_NANOS));
    }

    private AtomicLongArray stripe() {
        return stripes[(int) Thread.currentThread().getId() & (stripes.length - 1)];
    }

    private static int row(Opcode opcode) {
        return TOTALS + opcode.code() * ROW;
    }

    private long sum(int field) {
        long total = 0;
        for (AtomicLongArray stripe : stripes) {
            total += stripe.get(field);
        }
        return total;
    }
}

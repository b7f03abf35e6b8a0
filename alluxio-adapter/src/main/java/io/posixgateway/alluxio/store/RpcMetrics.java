package io.posixgateway.alluxio.store;

import io.posixgateway.fuse.metrics.DurationCounter;
import io.posixgateway.fuse.metrics.Latencies;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/** How long Alluxio took, by what it was asked for. Any thread. */
public final class RpcMetrics {
    /** Errors above this number are counted as it. */
    public static final int MAX_ERRNO = 133;

    /** What Alluxio is asked for. */
    public enum Method {
        STATUS,
        FILE_PATH,
        LIST,
        CREATE,
        MAKE_DIRECTORY,
        DELETE,
        RENAME,
        CHANGE,
        OPEN,
        LOCAL_BLOCKS,
        CAPACITY,
        LOAD,
        READ,
        READ_ONCE,
        WRITE,
        COMPLETE,
        CLUSTER_ID;

        /** As it is told in metrics. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final class Counts {
        private final DurationCounter durations = new DurationCounter();
        private final AtomicLongArray errors = new AtomicLongArray(MAX_ERRNO + 1);
    }

    /** Complete before anybody counts, and not changed later. */
    private final Map<Method, Counts> counts = new EnumMap<>(Method.class);

    private final AtomicInteger inFlight = new AtomicInteger();

    public RpcMetrics() {
        for (Method method : Method.values()) {
            counts.put(method, new Counts());
        }
    }

    private Counts of(Method method) {
        return Objects.requireNonNull(counts.get(method));
    }

    public void began() {
        inFlight.incrementAndGet();
    }

    public void ended(Method method, long nanos, int errno) {
        inFlight.decrementAndGet();
        Counts ended = of(method);
        ended.durations.add(nanos);
        if (errno != 0) {
            ended.errors.incrementAndGet(Math.min(errno, MAX_ERRNO));
        }
    }

    /** Calls that have begun and not ended. */
    public long inFlight() {
        return inFlight.get();
    }

    /** How long the ended calls took. */
    public Latencies latencies(Method method) {
        return of(method).durations.latencies();
    }

    /** Calls that failed with this error; ENOENT is an answer like others, and counted too. */
    public long errors(Method method, int errno) {
        return of(method).errors.get(errno);
    }
}

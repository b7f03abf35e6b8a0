package io.posixgateway.alluxio.control;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads of the control calls that may wait: for Alluxio, for the keeper, or for the end of a volume. Each kind has threads of its own,
 * so that no kind holds up another, nor what is answered at once. Made when they are needed, ended when idle. Any thread.
 */
final class LongCalls implements AutoCloseable {
    private static final int IDLE_SECONDS = 30;

    /** Calls that are bounded together. Each may wait for something else than the others. */
    enum Kind {
        ATTACH("attaches", 128),
        DETACH("detaches", 128),
        DRAIN("drains", 4),
        DIRECTORY("calls on directories", 32),
        PATH("inspections of a path", 16),
        INVALIDATE("invalidations", 16),
        WARMUP("warm-ups", 16),
        SYNC("syncs", 16),
        DIAGNOSE("diagnoses", 4);

        private final String calls;
        private final int most;

        Kind(String calls, int most) {
            this.calls = calls;
            this.most = most;
        }

        /** How many of them may run at the same time. */
        int most() {
            return most;
        }
    }

    private final Map<Kind, ThreadPoolExecutor> threads = new EnumMap<>(Kind.class);

    LongCalls() {
        for (Kind kind : Kind.values()) {
            threads.put(
                    kind,
                    new ThreadPoolExecutor(
                            0,
                            kind.most,
                            IDLE_SECONDS,
                            TimeUnit.SECONDS,
                            new SynchronousQueue<>(),
                            ControlServer::thread));
        }
    }

    /** Runs the call on a thread of its kind; false: as many run as may, or this is closed. */
    boolean start(Kind kind, Runnable call) {
        try {
            Objects.requireNonNull(threads.get(kind)).execute(call);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Why a call was not started, and what to do. */
    static String busy(Kind kind) {
        return "busy: " + kind.most + " " + kind.calls
                + " are running; retry when one has finished, and check whether Alluxio answers";
    }

    /** Takes no more calls; those that run are left alone. */
    @Override
    public void close() {
        threads.values().forEach(ThreadPoolExecutor::shutdown);
    }
}

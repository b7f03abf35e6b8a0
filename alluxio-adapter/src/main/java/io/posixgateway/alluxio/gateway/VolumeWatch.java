package io.posixgateway.alluxio.gateway;

import io.posixgateway.alluxio.store.RunningListings;
import io.posixgateway.fuse.dispatch.InFlightRequest;
import io.posixgateway.fuse.metrics.CallerProcess;
import io.posixgateway.fuse.time.Supervised;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after the requests of one volume: names the slow ones once each, interrupts calls to Alluxio that take too long, and
 * as the last resort aborts the connection. {@link #look} by one thread; the counters by any.
 */
public final class VolumeWatch {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeWatch.class);
    private static final int STACK_LINES = 24;

    private final String volume;
    private final WatchLimits limits;
    private final Watched watched;
    private final ListingReports reports;
    private final ListingReports copyReports;
    private Set<Long> named = new HashSet<>();
    private Set<Long> interruptedOnce = new HashSet<>();
    private boolean aborted;
    private boolean complained;
    private volatile long slowNow;
    private final AtomicLong slow = new AtomicLong();
    private final AtomicLong interrupted = new AtomicLong();
    private final AtomicLong aborts = new AtomicLong();

    /** What is looked after. Nothing of it waits for the mount or for Alluxio. */
    interface Watched {
        /** Requests that came at least so long ago and are not answered. */
        List<InFlightRequest> inFlight(long atLeastNanos);

        /** Interrupts the call to Alluxio that a request waits for, if it does so for so long. */
        boolean interrupt(long unique, long atLeastNanos);

        /** Ends the connection to the kernel. */
        void abort() throws IOException;

        /** Listings in flight for at least so long, the longest first. */
        List<RunningListings.Listing> listings(long atLeastNanos);

        /** The same of renames that copy. */
        List<RunningListings.Listing> copies(long atLeastNanos);

        /** What can be seen of the program that requested something. */
        CallerProcess.State caller(int pid);

        /** Where a node is, as far as is known; empty: not known. */
        String pathOf(long node);
    }

    VolumeWatch(String volume, WatchLimits limits, Watched watched) {
        this.volume = volume;
        this.limits = limits;
        this.watched = watched;
        this.reports = new ListingReports(volume, watched::listings);
        this.copyReports = ListingReports.ofCopies(volume, watched::copies);
    }

    WatchLimits limits() {
        return limits;
    }

    /** Looks once. */
    public void look() {
        Set<Long> old = new HashSet<>();
        Set<Long> again = new HashSet<>();
        for (InFlightRequest request : watched.inFlight(limits.shortestNanos())) {
            if (over(request.ageNanos(), limits.slowNanos())) {
                old.add(request.unique());
                if (!named.contains(request.unique())) {
                    slow.incrementAndGet();
                    Supervised.run("Describing a request", () -> LOG.warn("{}", describe(request)));
                }
            }
            if (interruptedIfLong(request)) {
                again.add(request.unique());
            }
            if (!request.unlimited() && over(request.ageNanos(), limits.abortNanos())) {
                abort(request);
            }
        }
        slowNow = old.size();
        named = old;
        interruptedOnce = again;
        reports.look();
        copyReports.look();
    }

    /** Was a call of this request interrupted, now or before? */
    private boolean interruptedIfLong(InFlightRequest request) {
        boolean before = interruptedOnce.contains(request.unique());
        boolean signalled = WatchLimits.isEnded(request, watched::caller);
        long limit = limits.interruptNanos(request, signalled, before);
        if (!over(request.remoteNanos(), limit) || !watched.interrupt(request.unique(), limit)) {
            return before;
        }
        interrupted.incrementAndGet();
        LOG.warn(
                "Volume {}: {} (request {}) waited {} s for one call to Alluxio, which is interrupted: {}",
                volume,
                request.opcode().label(),
                request.unique(),
                seconds(request.remoteNanos()),
                signalled
                        ? "its program received a signal and gets EINTR"
                        : "it fails with ETIMEDOUT (interrupt_after)");
        return true;
    }

    private static boolean over(long nanos, long limitNanos) {
        return limitNanos > 0 && nanos >= limitNanos;
    }

    /** Tried with each look until it is done: what is in its way may be corrected. */
    private void abort(InFlightRequest request) {
        if (aborted) {
            return;
        }
        try {
            watched.abort();
            aborted = true;
            aborts.incrementAndGet();
            LOG.error(
                    "Volume {}: aborting the connection, because request {} was not answered for {} s (abort_after);"
                            + " all use of the mount now fails",
                    volume,
                    request.unique(),
                    seconds(request.ageNanos()));
        } catch (IOException e) {
            if (!complained) {
                LOG.error("Volume {}: the connection cannot be aborted, retrying: {}", volume, e.getMessage());
            }
            complained = true;
        }
    }

    /** One text for one request. */
    private String describe(InFlightRequest request) {
        String path = watched.pathOf(request.node());
        StringBuilder text = new StringBuilder(400)
                .append("Volume ")
                .append(volume)
                .append(": ")
                .append(request.opcode().label())
                .append(" of ")
                .append(path.isEmpty() ? "node " + request.node() : path)
                .append(" (request ")
                .append(request.unique())
                .append(", process ")
                .append(request.pid())
                .append(") is not answered for ")
                .append(seconds(request.ageNanos()))
                .append(" s");
        if (request.remoteNanos() > 0) {
            text.append(", its call to Alluxio for ")
                    .append(seconds(request.remoteNanos()))
                    .append(" s");
        }
        Thread thread = request.thread();
        if (thread == null) {
            return text.append("; it waits for a thread of the pool (pool_threads)")
                    .toString();
        }
        text.append("; thread ").append(thread.getName());
        int lines = 0;
        for (StackTraceElement at : thread.getStackTrace()) {
            if (lines++ < STACK_LINES) {
                text.append("\nat ").append(at);
            }
        }
        return text.toString();
    }

    private static String seconds(long nanos) {
        return String.valueOf(nanos / 1_000_000_000);
    }

    /** Slow requests, when it was looked the last time. */
    public long slowNow() {
        return slowNow;
    }

    /** Requests that were named as slow. */
    public long slow() {
        return slow.get();
    }

    /** Calls to Alluxio that were interrupted. */
    public long interrupted() {
        return interrupted.get();
    }

    /** Was the connection aborted? 0 or 1. */
    public long aborts() {
        return aborts.get();
    }
}

package io.posixgateway.alluxio.client;

import static alluxio.grpc.BlockMasterClientServiceGrpc.getGetWorkerInfoListMethod;

import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.block.util.BlockLocationUtils;
import alluxio.client.file.FileSystemContext;
import alluxio.collections.Pair;
import alluxio.conf.PropertyKey;
import alluxio.exception.status.DeadlineExceededException;
import alluxio.grpc.GetWorkerInfoListPOptions;
import alluxio.grpc.GrpcUtils;
import alluxio.network.TieredIdentityFactory;
import alluxio.util.network.NetworkAddressUtils;
import alluxio.wire.TieredIdentity;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.jni.UnpinnedThread;
import io.posixgateway.fuse.time.Clock;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers that Alluxio's master knows. Any thread.
 *
 * <pre>
 *   none ──used──► requested ──response──► known ──used after the interval──► requested, and the last list is used
 *    ▲                 │                     ▲                                        │
 *    └─────failed──────┘                     └─────────response, or failed────────────┘
 * </pre>
 *
 * <p>One request is in flight at a time, on a thread of its own, as a master that is stopped may never respond. Users wait for the first list,
 * for {@link #FIRST_NANOS} at most. For a newer one they wait only where the last is as old as {@link #OLD_NANOS}, until {@link #NEWER_NANOS}
 * after it was requested, and not where the last request failed.
 *
 * <p>A master that has become the leader knows no worker until they have registered with it. So for {@link #EMPTY_NANOS} an empty list
 * does not take the place of another one.
 */
final class WorkerList {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerList.class);

    /** The longest wait for the first list, and for a response. */
    static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** The longest wait for a list that takes the place of an old one. */
    static final long NEWER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** Longer than a request that is not answered takes after the interval: under load a list is never old. */
    static final long OLD_NANOS = TimeUnit.SECONDS.toNanos(15);
    /** A worker that is connected to the former leader may take a minute to find the new one. */
    static final long EMPTY_NANOS = TimeUnit.MINUTES.toNanos(2);

    private final FileSystemContext context;
    private final Source source;
    private final long intervalNanos;
    private final Clock clock;
    /** By the properties of this host alone: for all of the process, the first one that asks for it has it made. */
    private final TieredIdentity identity;

    private volatile Last last = Last.NONE;

    // Guarded by this.
    private boolean requested;

    private long requestedNanos;
    /** Of the first empty list after one that was not; null: the last one was not empty. */
    private @Nullable Long emptySinceNanos;

    /** Alluxio's master. */
    interface Source {
        /** Requests the list; waits. */
        List<BlockWorkerInfo> workers() throws IOException, InterruptedException;
    }

    /**
     * What came of the last request.
     *
     * @param workers of the last response; null: there was none
     * @param failure of the last request; null: it was answered
     * @param nanos when it ended; null: there was none
     */
    private record Last(
            @Nullable List<BlockWorkerInfo> workers,
            @Nullable IOException failure,
            @Nullable Long nanos) {
        static final Last NONE = new Last(null, null, null);
    }

    /** @param intervalNanos so long a list is not requested again */
    WorkerList(FileSystemContext context, Source source, long intervalNanos, Clock clock) {
        this.context = context;
        this.source = source;
        this.intervalNanos = intervalNanos;
        this.clock = clock;
        this.identity = TieredIdentityFactory.localIdentity(context.getClusterConf());
    }

    /** As the master says it, and requested as often as the configuration says. */
    static WorkerList of(FileSystemContext context, MasterClient master, Clock clock) {
        Source source = () -> master
                .sendAside(
                        "list of workers",
                        getGetWorkerInfoListMethod(),
                        GetWorkerInfoListPOptions.getDefaultInstance(),
                        FIRST_NANOS)
                .getWorkerInfosList()
                .stream()
                .map(worker -> new BlockWorkerInfo(
                        GrpcUtils.fromProto(worker.getAddress()), worker.getCapacityBytes(), worker.getUsedBytes()))
                .toList();
        long intervalNanos = context.getClusterConf()
                .getDuration(PropertyKey.USER_WORKER_LIST_REFRESH_INTERVAL)
                .toNanos();
        return new WorkerList(context, source, intervalNanos, clock);
    }

    /**
     * All of them. May wait.
     *
     * @throws IOException the master has never said which, and did not now
     */
    List<BlockWorkerInfo> all() throws IOException {
        Last known = last;
        boolean waits = known.failure == null && isAsOldAs(OLD_NANOS, known);
        return all(known, known.workers == null ? FIRST_NANOS : waits ? NEWER_NANOS : 0);
    }

    /** The first one on this host, by the last list, where there is one; null: there is none. May wait for the first list. */
    @Nullable
    WorkerNetAddress local() throws IOException {
        Last known = last;
        List<WorkerNetAddress> here = here(all(known, known.workers == null ? FIRST_NANOS : 0));
        return here.isEmpty() ? null : here.get(0);
    }

    /** Those on this host. May wait. */
    List<WorkerNetAddress> here() throws IOException {
        return here(all());
    }

    private List<WorkerNetAddress> here(List<BlockWorkerInfo> workers) {
        String here = NetworkAddressUtils.getClientHostName(context.getClusterConf());
        return workers.stream()
                .map(BlockWorkerInfo::getNetAddress)
                .filter(worker -> worker.getHost().equals(here))
                .toList();
    }

    /** Is it none of them any more, by the last list? Never waits. */
    boolean isGone(WorkerNetAddress worker) {
        List<BlockWorkerInfo> known = last.workers;
        return known != null
                && known.stream().noneMatch(one -> one.getNetAddress().equals(worker));
    }

    /** The nearest of these, by the tiers of the cluster's locality. Never waits. */
    WorkerNetAddress nearest(List<WorkerNetAddress> places) {
        return places.size() == 1
                ? places.get(0)
                : byLocality(places).map(Pair::getFirst).orElse(places.get(0));
    }

    /** Whether a worker is on this host, by the same. Never waits. */
    boolean isNodeLocal(WorkerNetAddress worker) {
        return byLocality(List.of(worker)).map(Pair::getSecond).orElse(false);
    }

    private Optional<Pair<WorkerNetAddress, Boolean>> byLocality(List<WorkerNetAddress> places) {
        return BlockLocationUtils.nearest(identity, places, context.getClusterConf());
    }

    private boolean isAsOldAs(long nanos, Last known) {
        return known.nanos == null || clock.nanos() - known.nanos >= nanos;
    }

    private List<BlockWorkerInfo> all(Last known, long mostNanos) throws IOException {
        Last now = isAsOldAs(intervalNanos, known) ? requested(mostNanos) : known;
        if (now.workers != null) {
            return now.workers;
        }
        String text = "Alluxio's master did not say which workers there are";
        throw now.failure == null
                ? new DeadlineExceededException(text)
                : new IOException(text + ": " + now.failure.getMessage(), now.failure);
    }

    private synchronized Last requested(long mostNanos) throws IOException {
        if (!requested && isAsOldAs(intervalNanos, last)) {
            requestedNanos = clock.nanos();
            new UnpinnedThread(clock.background(this::request), "worker-list").start();
            requested = true;
        }
        long end = mostNanos + (last.workers == null ? clock.nanos() : requestedNanos);
        try {
            for (long left = end - clock.nanos(); requested && left > 0; left = end - clock.nanos()) {
                clock.waitOn(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // ends the call that follows
        }
        return last;
    }

    private void request() {
        List<BlockWorkerInfo> workers = null;
        IOException failure = new IOException("The request failed");
        try {
            workers = source.workers();
            failure = null;
        } catch (IOException e) {
            failure = e;
        } catch (InterruptedException | RuntimeException | LinkageError e) { // of a class that only a log line needs
            failure = new IOException(e);
        } finally {
            responded(workers, failure);
        }
    }

    private synchronized void responded(@Nullable List<BlockWorkerInfo> workers, @Nullable IOException failure) {
        if (failure != null) {
            LOG.debug("The list of workers is as before: {}", failure.toString());
        }
        last = new Last(workers == null ? last.workers : replacing(last.workers, workers), failure, clock.nanos());
        requested = false;
        notifyAll();
    }

    private List<BlockWorkerInfo> replacing(@Nullable List<BlockWorkerInfo> known, List<BlockWorkerInfo> workers) {
        if (known == null || known.isEmpty() || !workers.isEmpty()) {
            emptySinceNanos = null;
            return workers;
        }
        long now = clock.nanos();
        Long since = emptySinceNanos == null ? Long.valueOf(now) : emptySinceNanos;
        emptySinceNanos = since;
        return now - since < EMPTY_NANOS ? known : workers;
    }
}

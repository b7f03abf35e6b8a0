package io.posixgateway.alluxio.client;

import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.block.policy.BlockLocationPolicy;
import alluxio.client.block.policy.options.GetWorkerOptions;
import alluxio.exception.status.UnavailableException;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * From which worker a reader reads, as Alluxio's client would choose it but for those that hang, and those that failed; and what came of
 * each call, for the {@link WorkerHealth}. For one thread at a time.
 */
final class ReadWorkerSelector {
    private static final long NO_BLOCK = -1;
    private static final int MAX_WAITS = 8;

    private final WorkerList list;
    private final WorkerHealth watch;
    /** Null: none that lacks the block. */
    private final @Nullable BlockLocationPolicy policy;
    /** Has the under file system the file, too? */
    private final boolean persisted;

    private final CancellableCall call = new CancellableCall();
    private WorkerHealth.@Nullable Worker current;
    private long began;
    /** Those that did not answer, or could not read the under file system; the one that failed last comes last. */
    private Set<WorkerNetAddress> failed = Set.of();
    /** Those that did not give {@link #block} though the master names them. */
    private Set<WorkerNetAddress> lacking = Set.of();

    private long block = NO_BLOCK;

    /**
     * Where a block is read.
     *
     * @param fromUfs from the under file system, by a worker that lacks it
     * @param movable is there another place?
     */
    record Place(WorkerNetAddress address, boolean fromUfs, boolean movable) {}

    /**
     * @param policy which of the workers reads from the under file system what none has; null: none does
     * @param persisted has the under file system the file, too?
     */
    ReadWorkerSelector(WorkerList list, WorkerHealth watch, @Nullable BlockLocationPolicy policy, boolean persisted) {
        this.list = list;
        this.watch = watch;
        this.policy = policy;
        this.persisted = persisted;
    }

    /**
     * Chooses, and begins a call. May wait for a moment.
     *
     * @param mayBeGivenUp when the worker does not answer any more, and another way is left
     * @throws IOException there is no worker
     */
    Place choose(BlockInfo info, boolean mayBeGivenUp) throws IOException {
        if (info.getBlockId() != block) {
            block = info.getBlockId();
            lacking = Set.of();
        }
        List<WorkerNetAddress> places = places(info);
        List<WorkerNetAddress> avoided = List.of();
        while (!places.isEmpty()) {
            WorkerNetAddress nearest = list.nearest(places);
            WorkerHealth.Worker worker = watch.of(nearest);
            long number = begin(worker, places, nearest);
            if (number != WorkerHealth.NOT_BEGUN) {
                return begun(worker, number, new Place(nearest, false, isElsewhere(places, nearest)), mayBeGivenUp);
            }
            avoided = avoided.isEmpty() ? new ArrayList<>(2) : avoided;
            avoided.add(nearest);
            places.remove(nearest);
        }
        WorkerNetAddress reading = toReadUfs(info, avoided);
        WorkerHealth.Worker worker = watch.of(reading);
        return begun(worker, worker.begin(), new Place(reading, true, isElsewhere(List.of(), reading)), mayBeGivenUp);
    }

    /** Another call begins where the last one was. */
    void resume(Place place, boolean mayBeGivenUp) {
        WorkerHealth.Worker worker = watch.of(place.address);
        begun(worker, worker.begin(), place, mayBeGivenUp);
    }

    private Place begun(WorkerHealth.Worker worker, long number, Place place, boolean mayBeGivenUp) {
        current = worker;
        began = number;
        call.beginCancellable(mayBeGivenUp && place.movable);
        worker.enter(call);
        return place;
    }

    /** What is given up when the worker does not answer any more. */
    CancellableCall call() {
        return call;
    }

    /** The worker sends; it may take long for the rest, as the way to it may be slow. */
    void heard() {
        if (current != null) {
            current.answered();
        }
    }

    /**
     * The call ended, if one began. Was it given up?
     *
     * @param answered by the worker, which may have refused it
     */
    boolean end(boolean answered) {
        WorkerHealth.Worker worker = current;
        if (worker == null) {
            return false;
        }
        current = null;
        worker.leave(call);
        boolean givenUp = call.end();
        if (answered) {
            worker.mayHaveAnswered(began);
        } else {
            worker.ended(began);
        }
        return givenUp;
    }

    /**
     * A call failed. The place is taken again only where there is no other.
     *
     * @param refused did the worker answer?
     */
    void failed(Place place, boolean refused) {
        if (refused && !place.fromUfs) {
            lacking = with(lacking, place.address);
        } else {
            failed = with(failed, place.address);
        }
    }

    private static Set<WorkerNetAddress> with(Set<WorkerNetAddress> workers, WorkerNetAddress last) {
        Set<WorkerNetAddress> more = new LinkedHashSet<>(workers);
        more.remove(last);
        more.add(last);
        return more;
    }

    /** True if the block is to be asked for again, where workers are known that had it. */
    boolean isOutdated(BlockInfo info) {
        return !(failed.isEmpty() && lacking.isEmpty())
                && info.getLocations().stream().allMatch(location -> isAvoided(info, location.getWorkerAddress()));
    }

    private boolean isAvoided(BlockInfo info, WorkerNetAddress worker) {
        return failed.contains(worker) || (info.getBlockId() == block && lacking.contains(worker));
    }

    /** Who has the block, in any order; those that failed only where nobody else can read it. */
    private List<WorkerNetAddress> places(BlockInfo info) {
        List<BlockWorkerInfo> alive = policy == null ? List.of() : workers();
        List<WorkerNetAddress> places = new ArrayList<>(info.getLocations().size());
        for (BlockLocation location : info.getLocations()) {
            WorkerNetAddress worker = location.getWorkerAddress();
            if (!isAvoided(info, worker) && isAmong(alive, worker)) {
                places.add(worker);
            }
        }
        if (places.isEmpty() && policy == null) {
            info.getLocations().forEach(location -> places.add(location.getWorkerAddress()));
        }
        Collections.shuffle(places);
        return places;
    }

    /** True also where none is known. */
    private static boolean isAmong(List<BlockWorkerInfo> workers, WorkerNetAddress one) {
        return workers.isEmpty()
                || workers.stream().anyMatch(worker -> worker.getNetAddress().equals(one));
    }

    /** A worker that is the only place is waited for longer, and then asked whatever is known of it. */
    private long begin(WorkerHealth.Worker worker, List<WorkerNetAddress> places, WorkerNetAddress place) {
        long number = worker.tryBegin();
        for (int wait = 0; number == WorkerHealth.NOT_BEGUN; wait++) {
            boolean elsewhere = isElsewhere(places, place);
            number = wait < MAX_WAITS || elsewhere ? worker.await(elsewhere) : worker.begin();
            if (elsewhere) {
                break;
            }
        }
        return number;
    }

    /** Is there a worker that does not hang, and has the block, or can fetch it from the under file system? */
    private boolean isElsewhere(List<WorkerNetAddress> places, WorkerNetAddress but) {
        for (WorkerNetAddress place : places) {
            if (!place.equals(but) && !watch.of(place).hangs()) {
                return true;
            }
        }
        return persisted
                && workers().stream()
                        .map(BlockWorkerInfo::getNetAddress)
                        .anyMatch(worker ->
                                !worker.equals(but) && !watch.of(worker).hangs());
    }

    private List<BlockWorkerInfo> workers() {
        try {
            return list.all();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** A worker to read from the under file system. */
    private WorkerNetAddress toReadUfs(BlockInfo info, Collection<WorkerNetAddress> avoided)
            throws UnavailableException {
        BlockLocationPolicy chooses = policy;
        if (chooses == null) {
            throw new UnavailableException("No worker with block " + info.getBlockId() + " responds");
        }
        List<BlockWorkerInfo> good = notFailed(workers());
        return choose(chooses, info, suiting(good, address -> !watch.of(address).hangs()))
                .or(() -> choose(chooses, info, suiting(good, address -> !avoided.contains(address))))
                .or(() -> choose(chooses, info, good))
                .orElseThrow(() -> new UnavailableException("No Alluxio worker is available to read block "
                        + info.getBlockId() + " from the under file system"));
    }

    /** Where all failed, the one that did first. */
    private List<BlockWorkerInfo> notFailed(List<BlockWorkerInfo> all) {
        List<BlockWorkerInfo> good = suiting(all, worker -> !failed.contains(worker));
        if (!good.isEmpty()) {
            return good;
        }
        for (WorkerNetAddress worker : failed) {
            List<BlockWorkerInfo> known = suiting(all, worker::equals);
            if (!known.isEmpty()) {
                return known;
            }
        }
        return List.of();
    }

    private static List<BlockWorkerInfo> suiting(List<BlockWorkerInfo> all, Predicate<WorkerNetAddress> matches) {
        List<BlockWorkerInfo> suiting = new ArrayList<>(all.size());
        for (BlockWorkerInfo worker : all) {
            if (matches.test(worker.getNetAddress())) {
                suiting.add(worker);
            }
        }
        return suiting;
    }

    private static Optional<WorkerNetAddress> choose(
            BlockLocationPolicy policy, BlockInfo info, List<BlockWorkerInfo> workers) {
        return workers.isEmpty()
                ? Optional.empty()
                : policy.getWorker(
                        GetWorkerOptions.defaults().setBlockInfo(info).setBlockWorkerInfos(workers));
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.block.policy.BlockLocationPolicy;
import alluxio.client.block.policy.options.GetWorkerOptions;
import alluxio.client.block.util.BlockLocationUtils;
import alluxio.client.file.FileSystemContext;
import alluxio.collections.Pair;
import alluxio.network.TieredIdentityFactory;
import alluxio.wire.BlockInfo;
import alluxio.wire.BlockLocation;
import alluxio.wire.WorkerNetAddress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * From which worker one stream reads, as Alluxio's client would choose it but for those that hang; and what came of it, for
 * the {@link WorkerWatch}. For one thread at a time.
 *
 * <p>Alluxio's stream asks for a block's locations when it opens the block, and again when that failed or the block's worker
 * did; then it knows better than we do. Where no location is left it asks its policy for a worker to read from the under file
 * system.
 */
final class WorkerChoice implements BlockLocationPolicy {
    private static final long NO_BLOCK = -1;
    private static final int MOST_WAITS = 8;

    private final FileSystemContext context;
    private final WorkerWatch watch;
    private final BlockLocationPolicy policy;
    private final boolean persisted;
    private WorkerWatch.@Nullable Worker current;
    private long currentBlock = NO_BLOCK;
    private boolean calling;
    private final WorkerCall call = new WorkerCall();
    /** May the call under way be given up where there is another way? */
    private boolean mayMove;
    /** Is there one for the current block? */
    private boolean movable;

    private boolean givenUp;
    /** Is the current block read from the under file system, by a worker that lacks it? */
    private boolean fromUfs;
    /** Was something read from there since {@link #forgetUfs}, or since the call on the stream began? */
    private boolean usedUfs;
    /** Those that hang and would have had the last block. */
    private final Set<WorkerNetAddress> avoided = new HashSet<>(2);

    private long began;

    /** @param persisted has the under file system the file, too? */
    WorkerChoice(FileSystemContext context, WorkerWatch watch, BlockLocationPolicy policy, boolean persisted) {
        this.context = context;
        this.watch = watch;
        this.policy = policy;
        this.persisted = persisted;
    }

    /**
     * A call on the stream begins.
     *
     * @param mayBeGivenUp when its worker does not answer any more, and another way is left: then it fails, and
     *     {@link #takeGivenUp} says so
     */
    void begin(boolean mayBeGivenUp) {
        calling = true;
        mayMove = mayBeGivenUp;
        givenUp = false;
        usedUfs = fromUfs;
        WorkerWatch.Worker worker = current;
        if (worker != null) {
            waitFor(worker, worker.begin(), movable);
        }
    }

    private void waitFor(WorkerWatch.Worker worker, long number, boolean elsewhere) {
        current = worker;
        began = number;
        movable = elsewhere;
        call.begin(mayMove && elsewhere);
        worker.enter(call);
    }

    /** Was the call that ended given up? Then what comes next begins anew, with another worker. */
    boolean takeGivenUp() {
        boolean was = givenUp;
        givenUp = false;
        if (was) {
            forget();
        }
        return was;
    }

    /** The worker sends; it may take long for the rest, as the way to it may be slow. */
    void heard() {
        if (current != null) {
            current.answered();
        }
    }

    /** It ended. */
    void end(boolean answered) {
        calling = false;
        if (current == null) {
            return;
        }
        current.leave(call);
        givenUp |= call.end();
        if (answered) {
            current.mayHaveAnswered(began);
        } else {
            current.ended(began);
        }
    }

    /** The stream has left its block without reading on. */
    void forget() {
        current = null;
        currentBlock = NO_BLOCK;
        fromUfs = false;
    }

    /** Was the last block placed elsewhere because a worker hangs? */
    boolean hasAvoided() {
        return !avoided.isEmpty();
    }

    boolean isFromUfs() {
        return fromUfs;
    }

    boolean hasUsedUfs() {
        return usedUfs;
    }

    /** What is read now is not read in a call on the stream. */
    void forgetUfs() {
        usedUfs = false;
    }

    boolean isCalling() {
        return calling;
    }

    /** Where the stream is to read this block, within a call. May wait for a moment. */
    BlockInfo choose(BlockInfo block) {
        boolean failed = block.getBlockId() == currentBlock;
        boolean before = calling;
        end(!failed);
        calling = before;
        forget();
        currentBlock = block.getBlockId();
        return failed ? block : placed(block);
    }

    private BlockInfo placed(BlockInfo block) {
        List<WorkerNetAddress> places = new ArrayList<>(block.getLocations().size());
        block.getLocations().forEach(location -> places.add(location.getWorkerAddress()));
        Collections.shuffle(places);
        avoided.clear();
        while (!places.isEmpty()) {
            WorkerNetAddress nearest = nearest(places);
            WorkerWatch.Worker worker = watch.of(nearest);
            long number = begin(worker, places, nearest);
            if (number != WorkerWatch.NOT_BEGUN) {
                waitFor(worker, number, isElsewhere(places, nearest));
                return block.getLocations().size() == 1 ? block : at(block, nearest);
            }
            avoided.add(nearest);
            places.remove(nearest);
        }
        return block.getLocations().isEmpty() ? block : copy(block, List.of());
    }

    /** A worker that is the only place is waited for longer, and then asked whatever is known of it. */
    private long begin(WorkerWatch.Worker worker, List<WorkerNetAddress> places, WorkerNetAddress place) {
        long number = worker.tryBegin();
        for (int wait = 0; number == WorkerWatch.NOT_BEGUN; wait++) {
            boolean elsewhere = isElsewhere(places, place);
            number = wait < MOST_WAITS || elsewhere ? worker.await(elsewhere) : worker.begin();
            if (elsewhere) {
                break;
            }
        }
        return number;
    }

    private WorkerNetAddress nearest(List<WorkerNetAddress> places) {
        return places.size() == 1
                ? places.get(0)
                : BlockLocationUtils.nearest(
                                TieredIdentityFactory.localIdentity(context.getClusterConf()),
                                places,
                                context.getClusterConf())
                        .map(Pair::getFirst)
                        .orElse(places.get(0));
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
                        .anyMatch(worker ->
                                !worker.equals(but) && !watch.of(worker).hangs());
    }

    private List<WorkerNetAddress> workers() {
        try {
            return context.getCachedWorkers().stream()
                    .map(BlockWorkerInfo::getNetAddress)
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static BlockInfo at(BlockInfo block, WorkerNetAddress place) {
        return copy(
                block,
                block.getLocations().stream()
                        .filter(location -> location.getWorkerAddress().equals(place))
                        .toList());
    }

    private static BlockInfo copy(BlockInfo block, List<BlockLocation> locations) {
        return new BlockInfo()
                .setBlockId(block.getBlockId())
                .setLength(block.getLength())
                .setLocations(locations);
    }

    /** A worker to read from the under file system. */
    @Override
    public Optional<WorkerNetAddress> getWorker(GetWorkerOptions options) {
        usedUfs = true;
        Optional<WorkerNetAddress> chosen = choose(
                        options, address -> !watch.of(address).hangs())
                .or(() -> choose(options, address -> !avoided.contains(address)))
                .or(() -> policy.getWorker(options));
        if (calling) {
            end(false);
            calling = true;
            fromUfs = true;
            chosen.ifPresent(
                    address -> waitFor(watch.of(address), watch.of(address).begin(), isElsewhere(List.of(), address)));
        }
        return chosen;
    }

    private Optional<WorkerNetAddress> choose(GetWorkerOptions options, Predicate<WorkerNetAddress> suits) {
        List<BlockWorkerInfo> suiting = new ArrayList<>();
        for (BlockWorkerInfo worker : options.getBlockWorkerInfos()) {
            if (suits.test(worker.getNetAddress())) {
                suiting.add(worker);
            }
        }
        return suiting.isEmpty()
                ? Optional.empty()
                : policy.getWorker(GetWorkerOptions.defaults()
                        .setBlockInfo(options.getBlockInfo())
                        .setBlockWorkerInfos(suiting));
    }
}

package io.posixgateway.alluxio.client;

import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.block.policy.BlockLocationPolicy;
import alluxio.client.block.policy.options.GetWorkerOptions;
import alluxio.wire.WorkerNetAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Through which workers one file is written, as Alluxio's client would choose them but for those that hang. For one thread at
 * a time.
 *
 * <p>What a stream of Alluxio's has sent is not answered before its end. So a call that lasts is no sign of anything, and only
 * {@link WorkerHealth}'s questions tell whether a worker still lives.
 */
final class WriteWorkerSelector implements BlockLocationPolicy {
    private static final Logger LOG = LoggerFactory.getLogger(WriteWorkerSelector.class);

    private final WorkerHealth watch;
    private final BlockLocationPolicy policy;
    private final Set<WorkerHealth.Worker> used = new LinkedHashSet<>(2);
    /** And their proofs until then. */
    private final Map<WorkerHealth.Worker, Long> suspects = new ConcurrentHashMap<>(2);

    private final CancellableCall call = new CancellableCall();
    private boolean calling;
    private boolean mayMove;
    private boolean elsewhere;

    WriteWorkerSelector(WorkerHealth watch, BlockLocationPolicy policy) {
        this.watch = watch;
        this.policy = policy;
    }

    /** @param again can all of the file be written again, through other workers? */
    void begin(boolean again) {
        calling = true;
        mayMove = again;
        used.forEach(this::waitFor);
    }

    /** Was the call given up, since a worker does not answer? */
    boolean end() {
        calling = false;
        used.forEach(worker -> worker.leave(call));
        return call.end();
    }

    private void waitFor(WorkerHealth.Worker worker) {
        call.begin(mayMove && elsewhere);
        worker.enter(call);
    }

    /** One of the workers did not answer, or could not be reached. */
    void suspect() {
        used.forEach(worker -> {
            suspects.put(worker, worker.proofs());
            worker.suspect();
        });
    }

    /** Have all of them answered a question since? Any thread. */
    boolean haveAnswered() {
        return suspects.entrySet().stream().allMatch(one -> one.getKey().proofs() > one.getValue());
    }

    @Override
    public Optional<WorkerNetAddress> getWorker(GetWorkerOptions options) {
        List<BlockWorkerInfo> suiting = new ArrayList<>();
        for (BlockWorkerInfo worker : options.getBlockWorkerInfos()) {
            if (!watch.of(worker.getNetAddress()).hangs()) {
                suiting.add(worker);
            }
        }
        Optional<WorkerNetAddress> chosen = suiting.isEmpty()
                ? Optional.empty()
                : policy.getWorker(GetWorkerOptions.defaults()
                        .setBlockInfo(options.getBlockInfo())
                        .setBlockWorkerInfos(suiting));
        if (suiting.isEmpty()) {
            chosen = answeredLast(options);
        }
        if (chosen.isEmpty()) {
            chosen = policy.getWorker(options);
        }
        elsewhere = suiting.size() > 1;
        chosen.ifPresent(this::use);
        return chosen;
    }

    /**
     * All seem to hang, as on a machine that is busy, or while Alluxio's client holds the locks of its connections: the one that hangs for
     * the shortest time is the likeliest to be slow only.
     */
    private Optional<WorkerNetAddress> answeredLast(GetWorkerOptions options) {
        BlockWorkerInfo last = null;
        long leastNanos = Long.MAX_VALUE;
        for (BlockWorkerInfo worker : options.getBlockWorkerInfos()) {
            long nanos = watch.of(worker.getNetAddress()).silentNanos();
            if (nanos < leastNanos) {
                leastNanos = nanos;
                last = worker;
            }
        }
        if (last == null) {
            return Optional.empty();
        }
        LOG.info(
                "No worker answers; writing through {}, which answered last",
                last.getNetAddress().getHost() + ":" + last.getNetAddress().getRpcPort());
        return policy.getWorker(
                GetWorkerOptions.defaults().setBlockInfo(options.getBlockInfo()).setBlockWorkerInfos(List.of(last)));
    }

    private void use(WorkerNetAddress address) {
        WorkerHealth.Worker worker = watch.of(address);
        used.add(worker);
        if (calling) {
            waitFor(worker);
        }
    }
}

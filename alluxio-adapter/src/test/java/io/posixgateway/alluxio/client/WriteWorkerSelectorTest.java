package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.block.BlockWorkerInfo;
import alluxio.client.block.policy.options.GetWorkerOptions;
import alluxio.wire.BlockInfo;
import alluxio.wire.WorkerNetAddress;
import io.posixgateway.fuse.time.ManualClock;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class WriteWorkerSelectorTest {
    private static final WorkerNetAddress STOPPED = new WorkerNetAddress().setHost("stopped");
    private static final WorkerNetAddress SLOW = new WorkerNetAddress().setHost("slow");

    private final ManualClock clock = new ManualClock();
    private final WorkerHealth watch = new WorkerHealth(clock, address -> false, (work, delayNanos) -> () -> {});
    /** As Alluxio's policies may: the first. */
    private final WriteWorkerSelector choice = new WriteWorkerSelector(
            watch,
            options ->
                    Optional.of(options.getBlockWorkerInfos().iterator().next().getNetAddress()));

    private Optional<WorkerNetAddress> chosen() {
        return choice.getWorker(GetWorkerOptions.defaults()
                .setBlockInfo(new BlockInfo())
                .setBlockWorkerInfos(List.of(info(STOPPED), info(SLOW))));
    }

    private static BlockWorkerInfo info(WorkerNetAddress address) {
        return new BlockWorkerInfo(address, 1, 0);
    }

    @Test
    void workerThatHangs_isNotChosen() {
        assertThat(chosen()).contains(STOPPED);
        watch.of(STOPPED).begin();
        clock.advanceNanos(WorkerHealth.SILENT_NANOS);
        assertThat(chosen()).contains(SLOW);
    }

    /** An upload would be sent to the one that it has just failed at. */
    @Test
    void whereAllHang_theOneThatAnsweredLastIsChosen() {
        watch.of(STOPPED).begin();
        clock.advanceNanos(WorkerHealth.SILENT_NANOS);
        watch.of(SLOW).begin();
        clock.advanceNanos(WorkerHealth.SILENT_NANOS);
        assertThat(watch.of(SLOW).hangs()).isTrue();
        assertThat(chosen()).contains(SLOW);
    }
}

package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.file.FileSystemContext;
import alluxio.client.file.options.OutStreamOptions;
import alluxio.conf.InstancedConfiguration;
import alluxio.master.block.BlockId;
import io.posixgateway.alluxio.store.StoreOptions;
import io.posixgateway.fuse.time.OffsetClock;
import java.util.Map;
import javax.security.auth.Subject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CachedBlocksTest {
    private static final int BYTES = 1000;
    private static final long FILE = BlockId.createBlockId(7, BlockId.getMaxSequenceNumber());
    private static final long BLOCK = BlockId.createBlockId(7, 0);

    /** Else the space that they take is lost until the worker starts again. */
    @Test
    void cancelledFile_isRemovedFromAllWorkersThatHaveItsBlocks() throws Exception {
        OffsetClock clock = new OffsetClock();
        try (FalseMaster master = new FalseMaster(true);
                FalseWorker first = new FalseWorker("first");
                FalseWorker second = new FalseWorker("second");
                FileSystemContext context = FileSystemContext.create(new Subject(), properties(master));
                MasterClient client = new MasterClient(context, 1, clock)) {
            master.workers.add(first.address());
            master.workers.add(second.address().setHost("localhost"));
            OutStreamOptions options = OutStreamOptions.defaults(context);
            options.setReplicationMin(2);
            BlockStreams streams = new BlockStreams(context, WorkerList.of(context, client, clock));
            CachedBlocks blocks = new CachedBlocks(context, streams, options, FILE, BYTES);
            blocks.write(new byte[BYTES], 0, BYTES);
            blocks.close();
            assertThat(first.written).containsExactly(BLOCK);
            assertThat(second.written).containsExactly(BLOCK);
            blocks.cancel();
            assertThat(first.removed).containsExactly(BLOCK);
            assertThat(second.removed).containsExactly(BLOCK);
        }
    }

    private static InstancedConfiguration properties(FalseMaster master) {
        StoreOptions options = new StoreOptions(
                master.address(),
                "",
                "CACHE_THROUGH",
                false,
                Map.of("alluxio.security.authentication.type", "NOSASL", "alluxio.user.hostname", "elsewhere"));
        return ClientProperties.of(options);
    }
}

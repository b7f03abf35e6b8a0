package io.posixgateway.alluxio.client;

import static org.assertj.core.api.Assertions.assertThat;

import alluxio.client.file.URIStatus;
import alluxio.wire.BlockInfo;
import alluxio.wire.FileBlockInfo;
import alluxio.wire.FileInfo;
import io.posixgateway.fuse.time.ManualClock;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long what the master said of a file counts, and for what. */
class StatusCacheTest {
    private static final long FILE = 7L << 24 | 0xffffff;

    private final OpenReaders streams = new OpenReaders();
    private final ManualClock clock = new ManualClock();
    private final StatusCache statuses = new StatusCache(clock, streams);

    private BlockFileReader.Asked asked(int blocks) {
        FileInfo file = new FileInfo()
                .setFileId(FILE)
                .setPath("/folder/file")
                .setCompleted(true)
                .setFileBlockInfos(Collections.nCopies(
                        blocks, new FileBlockInfo().setBlockInfo(new BlockInfo().setBlockId(FILE))));
        return new BlockFileReader.Asked(new URIStatus(file), clock.nanos(), streams.renames());
    }

    @Test
    void aSmallFileIsFoundForHalfAMinuteAndItsPathIsBelievedForTwoSeconds() {
        BlockFileReader.Asked asked = asked(1);
        statuses.keep(asked);
        clock.advanceNanos(StatusCache.RECENT_NANOS - 1);
        assertThat(statuses.isRecent(asked)).isTrue();
        clock.advanceNanos(1);
        assertThat(statuses.isRecent(asked)).isFalse();
        assertThat(statuses.find(FILE)).isSameAs(asked);
        clock.advanceNanos(StatusCache.KEPT_NANOS - StatusCache.RECENT_NANOS);
        assertThat(statuses.find(FILE)).isNull();
    }

    @Test
    void aFileThatThisMountRenamedSinceIsNotFound() {
        statuses.keep(asked(1));
        assertThat(statuses.find(FILE)).isNotNull();
        streams.moved("/folder");
        assertThat(statuses.find(FILE)).isNull();
    }

    @Test
    void filesOfManyBlocksAndWithoutAreLeftOut() {
        for (int blocks : List.of(0, 5)) {
            statuses.keep(asked(blocks));
            assertThat(statuses.find(FILE)).as("%d blocks", blocks).isNull();
        }
    }

    /** The id is asked for beside other calls: the first answer may come when files were seen already. */
    @Test
    void of_theFirstClusterId_keepsWhatWasSeenBefore() {
        statuses.keep(asked(1));
        statuses.of("one");
        assertThat(statuses.find(FILE)).isNotNull();
        statuses.of("");
        assertThat(statuses.find(FILE)).isNotNull();
        statuses.of("another");
        assertThat(statuses.find(FILE)).isNull();
    }
}

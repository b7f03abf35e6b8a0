package io.posixgateway.alluxio.meta;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.ManualClock;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What names a content on this node's disk, or to the next process, names no other one. */
class AttrVersionTest {
    private final MemoryAccounting bytes = new MemoryAccounting(Long.MAX_VALUE);
    private final AttrDecoder decoder =
            new AttrDecoder(IdMapper.ofHost(new ManualClock()), -1, -1, GroupAccess.NONE, 0, bytes);

    private Attr attr(long modifiedMillis, int createdSeconds) {
        FileStatus status =
                new FileStatus(7, "shard", false, true, 4, 4, 0644, "user", "user", modifiedMillis, 0, Map.of());
        return decoder.read(status.created(createdSeconds), 0);
    }

    /** An Alluxio restored from a backup gives ids anew, and tar or rsync give files of a data set the same time. */
    @Test
    void version_ofAnotherFileOfTheSameIdLengthAndTime_isAnother() {
        Attr first = attr(1_700_000_000_000L, 100);
        assertThat(attr(1_700_000_000_000L, 100).version()).isEqualTo(first.version());
        assertThat(attr(1_700_000_000_000L, 200).version()).isNotEqualTo(first.version());
        assertThat(attr(1_700_000_000_001L, 100).version()).isNotEqualTo(first.version());
        assertThat(attr(1_700_000_000_000L, 100).contentNumber()).isEqualTo(first.contentNumber());
        assertThat(attr(1_700_000_000_000L, 200).contentNumber()).isNotEqualTo(first.contentNumber());
    }
}

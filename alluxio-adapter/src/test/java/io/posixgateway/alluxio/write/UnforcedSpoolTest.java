package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.journal.DirtyFileRecord;
import io.posixgateway.alluxio.journal.Phase;
import io.posixgateway.alluxio.meta.Attr;
import io.posixgateway.alluxio.meta.AttrDecoder;
import io.posixgateway.alluxio.meta.GroupAccess;
import io.posixgateway.alluxio.meta.InodeTable;
import io.posixgateway.alluxio.meta.MemoryAccounting;
import io.posixgateway.alluxio.posix.IdMapper;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.ManualClock;
import io.posixgateway.alluxio.store.NameCodec;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A file that was uploaded past a worker that stopped, on a node whose disk may not have its spool file. */
class UnforcedSpoolTest {
    private static final FileStatus STATUS =
            new FileStatus(7, "file", false, true, 4, 4, 0644, "user", "user", 0, 0, Map.of());

    private final ManualClock clock = new ManualClock();
    private final MemoryAccounting bytes = new MemoryAccounting(Long.MAX_VALUE);
    private final InodeTable table = new InodeTable("/", 0, 1000, bytes, NameCodec.ESCAPED, clock);
    private final Attr attr =
            new AttrDecoder(IdMapper.ofHost(clock), -1, -1, GroupAccess.NONE, 0, bytes).read(STATUS, 0);

    /** Else the next process, after the node lost its power, would put the torn spool file in the place of what Alluxio has. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unstable_isInDoubtToTheNextProcess_onlyWhereTheSpoolIsOnTheDisk(boolean isForced, @TempDir Path path)
            throws Exception {
        SpoolFolder folder = new SpoolFolder(path, 1000, 0, true, clock);
        Spool spool = folder.make();
        spool.write(0, ByteBuffer.allocate(4));
        DirtyFileRecord record = folder.record(spool, new DirtyFileRecord.Content(7, 7, "/file", STATUS));
        record.mark(Phase.SPOOLED);
        DirtyFile dirtyFile =
                new DirtyFile(table.of(7, false), spool, record, attr, clock, new DirtyState.Unstable("/file", false));
        if (!isForced) {
            spool.close(true); // so that it cannot be synced
        }
        dirtyFile.committed();
        Path file = spool.file().resolveSibling(spool.file().getFileName() + DirtyFileRecord.SUFFIX);
        DirtyFileRecord left = Objects.requireNonNull(DirtyFileRecord.read(file));
        assertThat(left.phase(true)).isEqualTo(isForced ? Phase.UNSTABLE : Phase.COMMITTED);
        assertThat(dirtyFile.is(isForced ? Phase.UNSTABLE : Phase.COMMITTED)).isTrue();
    }
}

package io.posixgateway.alluxio.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.StoreException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DraftRecordTest {
    private static final int COUNTS = 1 << 30;

    private final Path file;

    DraftRecordTest(@TempDir Path folder) {
        file = folder.resolve("spool-1.draft");
    }

    private DraftRecord made() throws Exception {
        Files.deleteIfExists(file);
        FileStatus status = new FileStatus(0, "", false, true, 0, 4096, 0644, "o", "g", 0, 0, Map.of());
        return DraftRecord.make(file, new DraftRecord.Content(9, 7, "/a", status));
    }

    private int stored() throws Exception {
        ByteBuffer head = ByteBuffer.wrap(Files.readAllBytes(file));
        assertThat(head.getInt(0)).as("version").isEqualTo(1);
        return head.getInt(4);
    }

    private void assertRead(Phase phase, boolean hasContent) throws StoreException {
        DraftRecord read = Objects.requireNonNull(DraftRecord.read(file));
        assertThat(read.phase(hasContent)).isEqualTo(phase);
    }

    /** An earlier version may be next. */
    @Test
    void eachPhase_hasTheBitsThatEveryVersionKnows() throws Exception {
        Map<Phase, Integer> bits = Map.of(
                Phase.PENDING, 1 << 4,
                Phase.SPOOLED, 1,
                Phase.STREAMING, 1 << 6,
                Phase.COMMITTED, 0,
                Phase.UNSTABLE, 1 << 7,
                Phase.UNLINKED, 1 << 2);
        for (Map.Entry<Phase, Integer> one : bits.entrySet()) {
            made().mark(one.getKey());
            assertThat(stored()).as("%s", one).isEqualTo(COUNTS | one.getValue());
            assertRead(one.getKey() == Phase.STREAMING ? Phase.COMMITTED : one.getKey(), true);
        }
        made().pending(false);
        assertThat(stored()).isEqualTo(COUNTS | 1 << 4 | 1 << 3);
    }

    @Test
    void streamedFile_isLostOnceItsSpoolIsEmpty() throws Exception {
        DraftRecord record = made();
        record.mark(Phase.SPOOLED);
        record.mark(Phase.STREAMING);
        assertRead(Phase.SPOOLED, true);
        assertRead(Phase.LOST, false);
        record.unmark(Phase.STREAMING);
        assertRead(Phase.SPOOLED, false);
    }

    @Test
    void change_givesBackWhatItTook_andNothingElse() throws Exception {
        DraftRecord record = made();
        record.pending(true);
        record.mark(Phase.UNSTABLE);
        record.mark(Phase.SPOOLED);
        record.change(record.content().status(), true);
        assertThat(stored()).isEqualTo(COUNTS | 1 | 1 << 1 | 1 << 5 | 1 << 7);
        assertThat(record.showsLastWrite()).isFalse();
        record.mark(Phase.UNLINKED);
        record.mark(Phase.SPOOLED);
        assertThat(record.showsLastWrite()).isTrue();
        assertRead(Phase.UNLINKED, true);
        record.unmark(Phase.UNLINKED);
        assertRead(Phase.SPOOLED, true);
        record.mark(Phase.COMMITTED);
        assertThat(stored()).isEqualTo(COUNTS);
    }
}

package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.StoreException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirtyFileRecordTest {
    private static final int COUNTS = 1 << 30;

    private final Path file;

    DirtyFileRecordTest(@TempDir Path folder) {
        file = folder.resolve("spool-1.draft");
    }

    private DirtyFileRecord made() throws Exception {
        Files.deleteIfExists(file);
        return DirtyFileRecord.make(file, new DirtyFileRecord.Content(9, 7, "/a/b", status(0644)));
    }

    private static FileStatus status(int mode) {
        return new FileStatus(
                0, "b", false, true, 0, 64, mode, "someone", "some", 1, 2, Map.of("user.colour", new byte[] {1, 2}));
    }

    private int stored() throws Exception {
        ByteBuffer head = ByteBuffer.wrap(Files.readAllBytes(file));
        assertThat(head.getInt(0)).as("version").isEqualTo(1);
        return head.getInt(4);
    }

    private void assertRead(Phase phase, boolean hasContent) throws StoreException {
        DirtyFileRecord read = Objects.requireNonNull(DirtyFileRecord.read(file));
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
        DirtyFileRecord record = made();
        record.mark(Phase.SPOOLED);
        record.mark(Phase.STREAMING);
        assertRead(Phase.SPOOLED, true);
        assertRead(Phase.LOST, false);
        record.unmark(Phase.STREAMING);
        assertRead(Phase.SPOOLED, false);
    }

    @Test
    void change_givesBackWhatItTook_andNothingElse() throws Exception {
        DirtyFileRecord record = made();
        record.pending(true);
        record.mark(Phase.UNSTABLE);
        record.mark(Phase.SPOOLED);
        record.change(record.content().status(), null, true);
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

    @Test
    void a_record_counts_once_a_state_was_put_and_says_what_was_stored_last() throws Exception {
        DirtyFileRecord record = DirtyFileRecord.make(file, new DirtyFileRecord.Content(0, 0, "/a/b", status(0644)));
        assertThat(DirtyFileRecord.read(file)).isNull();
        record.mark(Phase.PENDING);
        record.identify(9, 7);
        record.mark(Phase.SPOOLED);
        record.change(status(0600), null, false);
        DirtyFileRecord read = Objects.requireNonNull(DirtyFileRecord.read(file));
        assertThat(read.content().node()).isEqualTo(9);
        assertThat(read.content().fileId()).isEqualTo(7);
        assertThat(read.content().path()).isEqualTo("/a/b");
        assertThat(read.content().status().mode()).isEqualTo(0600);
        assertThat(read.content().status().owner()).isEqualTo("someone");
        assertThat(read.content().status().xattrs()).containsOnlyKeys("user.colour");
        assertThat(read.isMarked(Phase.SPOOLED)).isTrue();
        assertThat(read.hasAttributes()).isTrue();
        assertThat(read.isMarked(Phase.PENDING)).isFalse();
        read.delete();
        assertThat(file).doesNotExist();
    }

    /** A gateway that is rolled back deletes the record of another version: what is new has to stand in files beside it. */
    @Test
    void a_record_has_the_form_that_every_version_reads() throws Exception {
        made().mark(Phase.SPOOLED);
        String form = "00000001 40000001 0000000000000009 0000000000000007" // version, state, node, file id
                + " 00000004 2f612f62 0000000000000040 000001a4" // path, bytes of a block, mode
                + " 00000007 736f6d656f6e65 00000004 736f6d65" // owner, group
                + " 0000000000000001 0000000000000002" // modified, accessed
                + " 00000001 0000000b 757365722e636f6c6f7572 00000002 0102"; // extended attributes
        assertThat(HexFormat.of().formatHex(Files.readAllBytes(file))).isEqualTo(form.replace(" ", ""));
    }

    @Test
    void what_is_in_doubt_says_where_and_since_when() throws Exception {
        DirtyFileRecord record = made();
        record.mark(Phase.SPOOLED);
        record.doubt(9, 8, "/a/c");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));
        DirtyFileRecord read = Objects.requireNonNull(DirtyFileRecord.read(file));
        assertThat(read.isUnstable()).isTrue();
        assertThat(read.content().fileId()).isEqualTo(8);
        assertThat(read.content().path()).isEqualTo("/a/c");
        assertThat(read.storedMillis()).isEqualTo(1_000);
        read.mark(Phase.SPOOLED);
        assertThat(read.isUnstable()).isFalse();
    }
}

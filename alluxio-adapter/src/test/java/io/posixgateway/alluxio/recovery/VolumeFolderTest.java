package io.posixgateway.alluxio.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.client.FileStatus;
import io.posixgateway.alluxio.client.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What one process leaves in a volume's folder, the next one reads. */
class VolumeFolderTest {
    @Test
    void the_last_pair_of_a_node_counts_until_the_node_is_forgotten(@TempDir Path root) throws Exception {
        try (VolumeFolder folder = VolumeFolder.open(root)) {
            folder.nodes().moved(5, 100);
            folder.nodes().moved(6, 200);
            folder.nodes().moved(5, 101);
            folder.nodes().moved(7, 300);
            folder.nodes().noticed(6, NodeLog.NOBODY);
        }
        try (VolumeFolder folder = VolumeFolder.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 101L, 7L, 300L));
            folder.nodes().noticed(7, NodeLog.NOBODY);
        }
        try (VolumeFolder folder = VolumeFolder.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 101L));
        }
    }

    @Test
    void half_a_pair_at_the_end_is_passed_over(@TempDir Path root) throws Exception {
        try (VolumeFolder folder = VolumeFolder.open(root)) {
            folder.nodes().moved(5, 100);
        }
        Files.write(root.resolve("nodes"), new byte[7], StandardOpenOption.APPEND);
        try (VolumeFolder folder = VolumeFolder.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 100L));
        }
    }

    @Test
    void two_cannot_hold_it(@TempDir Path root) throws Exception {
        try (VolumeFolder folder = VolumeFolder.open(root)) {
            assertThatThrownBy(() -> VolumeFolder.open(root))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining(folder.path().toString());
        }
    }

    @Test
    void a_record_counts_once_a_state_was_put_and_says_what_was_stored_last(@TempDir Path root) throws Exception {
        Path file = root.resolve("spool-1.draft");
        DraftRecord record = DraftRecord.make(file, new DraftRecord.Content(0, 0, "/a/b", status(0644)));
        assertThat(DraftRecord.read(file)).isNull();
        record.put(DraftRecord.RESERVING, 0);
        record.identify(9, 7);
        record.put(DraftRecord.DIRTY, DraftRecord.RESERVING);
        record.change(status(0600), DraftRecord.ATTRIBUTES, 0);
        DraftRecord read = Objects.requireNonNull(DraftRecord.read(file));
        assertThat(read.content().node()).isEqualTo(9);
        assertThat(read.content().fileId()).isEqualTo(7);
        assertThat(read.content().path()).isEqualTo("/a/b");
        assertThat(read.content().status().mode()).isEqualTo(0600);
        assertThat(read.content().status().owner()).isEqualTo("someone");
        assertThat(read.content().status().xattrs()).containsOnlyKeys("user.colour");
        assertThat(read.has(DraftRecord.DIRTY | DraftRecord.ATTRIBUTES)).isTrue();
        assertThat(read.has(DraftRecord.RESERVING)).isFalse();
        read.delete();
        assertThat(file).doesNotExist();
    }

    @Test
    void what_is_in_doubt_says_where_and_since_when(@TempDir Path root) throws Exception {
        Path file = root.resolve("spool-1.draft");
        DraftRecord record = DraftRecord.make(file, new DraftRecord.Content(9, 7, "/a/b", status(0644)));
        record.put(DraftRecord.DIRTY, 0);
        record.doubt(9, 8, "/a/c");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));
        DraftRecord read = Objects.requireNonNull(DraftRecord.read(file));
        assertThat(read.isDoubtful()).isTrue();
        assertThat(read.content().fileId()).isEqualTo(8);
        assertThat(read.content().path()).isEqualTo("/a/c");
        assertThat(read.storedMillis()).isEqualTo(1_000);
        read.put(DraftRecord.DIRTY, 0);
        assertThat(read.isDoubtful()).isFalse();
    }

    private static FileStatus status(int mode) {
        return new FileStatus(
                0, "b", false, true, 0, 64, mode, "someone", "some", 1, 2, Map.of("user.colour", new byte[] {1, 2}));
    }
}

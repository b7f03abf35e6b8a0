package io.posixgateway.alluxio.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.HdfsServer;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A mount of a real Alluxio on a real HDFS. A minute of a processor: of the long form alone. */
@EnabledIfSystemProperty(
        named = "pgw.under.store",
        matches = "hdfs",
        disabledReason = "of the long form: make hdfs-test")
class HdfsIT extends OnUnderStore {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    EmbeddedAlluxio cluster() throws Exception {
        return Clusters.onHdfs();
    }

    private HdfsServer hdfs() {
        return Objects.requireNonNull(alluxio.hdfs());
    }

    private static String permissions(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void a_file_in_hdfs_is_replaced_and_keeps_its_attributes() throws Exception {
        Path file = Files.writeString(root.resolve("f"), "one");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        note(file, "stays");
        Object number = Files.getAttribute(file, "unix:ino");
        Files.writeString(file, "two");
        assertThat(stored("f")).isEqualTo("two");
        Files.writeString(file, " and three", StandardOpenOption.APPEND);
        assertThat(stored("f")).isEqualTo("two and three");
        Files.writeString(file, "", StandardOpenOption.TRUNCATE_EXISTING);
        assertThat(stored("f")).isEmpty();
        Files.writeString(file, "last");
        other.compared("/" + folder + "/f"); // a metadata sync
        assertThat(stored("f")).isEqualTo("last");
        assertThat(file).hasContent("last");
        assertThat(permissions(file)).isEqualTo("rw-r-----");
        assertThat(hdfs().status(folder + "/f").permissions()).isEqualTo("640");
        assertThat(noteOf(file)).isEqualTo("stays");
        assertThat(Files.getAttribute(file, "unix:ino")).isEqualTo(number);
        assertThat(hdfs().names(folder)).containsExactly("f");
    }

    @Test
    void a_rename_in_hdfs_replaces_a_file() throws Exception {
        Path old = Files.writeString(root.resolve("old"), "old");
        Path saved = Files.writeString(root.resolve("saved.tmp"), "new");
        Files.setPosixFilePermissions(saved, PosixFilePermissions.fromString("rw-rw-r--"));
        note(saved, "comes along");
        Files.move(saved, old, StandardCopyOption.ATOMIC_MOVE);
        assertThat(old).hasContent("new");
        assertThat(saved).doesNotExist();
        assertThat(hdfs().names(folder)).containsExactly("old");
        assertThat(stored("old")).isEqualTo("new");
        assertThat(hdfs().status(folder + "/old").permissions()).isEqualTo("664");
        assertThat(permissions(old)).isEqualTo("rw-rw-r--");
        assertThat(noteOf(old)).isEqualTo("comes along");
    }

    @Test
    void a_directory_in_hdfs_is_never_replaced_by_a_file() throws Exception {
        Path file = Files.writeString(root.resolve("f"), "old");
        String path = "/" + folder + "/f";
        other.delete(path);
        other.makeDirectory(path, 0777, Map.of());
        other.makeDirectory(path + "/precious", 0777, Map.of());
        Path saved = Files.writeString(root.resolve("saved"), "new");
        assertThatThrownBy(() -> other.rename("/" + folder + "/saved", path, true))
                .hasMessageContaining("directory");
        assertThatThrownBy(() -> Files.move(saved, file, StandardCopyOption.ATOMIC_MOVE))
                .isInstanceOf(FileSystemException.class);
        assertThat(other.status(path + "/precious").directory()).isTrue();
        assertThat(saved).hasContent("new");
    }

    /** In one step, whatever it holds. */
    @Test
    void a_directory_in_hdfs_is_renamed_in_one_step_while_its_files_are_written() throws Exception {
        hdfs().put(folder + "/x/sub/others", "by another".getBytes(UTF_8));
        note(root.resolve("x/sub"), "stays");
        Object number = Files.getAttribute(root.resolve("x"), "unix:ino");
        try (OutputStream fresh = Files.newOutputStream(root.resolve("x/sub/f"))) {
            fresh.write("begun, ".getBytes(UTF_8));
            Files.move(root.resolve("x"), root.resolve("z"));
            fresh.write("ended".getBytes(UTF_8));
        }
        assertThat(root.resolve("x")).doesNotExist();
        assertThat(root.resolve("z/sub/f")).hasContent("begun, ended");
        assertThat(root.resolve("z/sub/others")).hasContent("by another");
        assertThat(noteOf(root.resolve("z/sub"))).isEqualTo("stays");
        assertThat(Files.getAttribute(root.resolve("z"), "unix:ino")).isEqualTo(number);
        assertThat(hdfs().names(folder)).containsExactly("z");
        assertThat(hdfs().names(folder + "/z/sub")).containsExactly("f", "others");
        assertThat(stored("z/sub/f")).isEqualTo("begun, ended");
    }

    /** Alluxio's user of the gateway owns what takes its place in HDFS; the mount shows the owner as before. */
    @Test
    void a_file_of_another_client_of_hdfs_keeps_owner_and_mode_when_replaced() throws Exception {
        hdfs().put(folder + "/put", "by another".getBytes(UTF_8));
        hdfs().change(folder + "/put", "daemon", "sys", "660");
        Path file = root.resolve("put");
        assertThat(file).hasContent("by another");
        PosixFileAttributes before = Files.readAttributes(file, PosixFileAttributes.class);
        assertThat(before.owner().getName()).isEqualTo("daemon");
        assertThat(before.group().getName()).isEqualTo("sys");
        Files.writeString(file, "replaced");
        assertThat(stored("put")).isEqualTo("replaced");
        PosixFileAttributes after = Files.readAttributes(file, PosixFileAttributes.class);
        assertThat(after.owner()).isEqualTo(before.owner());
        assertThat(after.group()).isEqualTo(before.group());
        assertThat(permissions(file)).isEqualTo("rw-rw----");
        assertThat(hdfs().status(folder + "/put").permissions()).isEqualTo("660");
    }

    /** HDFS refuses colons. */
    @Test
    void a_name_with_a_colon_is_stored_escaped_in_hdfs() throws Exception {
        assertThat(root.resolve("2026-01-02T03:04:05")).doesNotExist();
        Path directory = Files.createDirectory(root.resolve("d:d"));
        Path file = Files.writeString(directory.resolve("a:b"), "text");
        assertThat(stored("%pgw%d%3Ad/%pgw%a%3Ab")).isEqualTo("text");
        Path plain = Files.writeString(root.resolve("plain"), "replaced");
        Files.move(plain, file, StandardCopyOption.ATOMIC_MOVE);
        try (Stream<Path> names = Files.list(directory)) {
            assertThat(names).containsExactly(file);
        }
        assertThat(file).hasContent("replaced");
        Files.delete(file);
        Files.delete(directory);
        assertThat(hdfs().names(folder)).isEmpty();
    }

    @Test
    void owner_and_mode_that_are_given_here_are_those_of_hdfs() throws Exception {
        Path file = Files.writeString(root.resolve("f"), "x");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-x---"));
        assertThat(hdfs().status(folder + "/f").permissions()).isEqualTo("750");
        Path directory = Files.createDirectory(root.resolve("d"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x---"));
        assertThat(hdfs().status(folder + "/d").permissions()).isEqualTo("710");
        assertThat(hdfs().status(folder + "/f").owner())
                .isEqualTo(Files.readAttributes(file, PosixFileAttributes.class)
                        .owner()
                        .getName());
    }

    /** Until then reads of what no worker has are of the file that Alluxio knows, or fail. */
    @Test
    void a_file_that_is_replaced_in_hdfs_is_seen_after_a_metadata_sync() throws Exception {
        Path file = Files.writeString(root.resolve("f"), "old");
        note(file, "of the old one");
        hdfs().put(folder + "/f", "new content".getBytes(UTF_8));
        hdfs().put(folder + "/more", "more".getBytes(UTF_8));
        assertThat(file).hasContent("old"); // of a worker
        other.compared("/" + folder + "/f");
        Waiting.until("it is seen", LIMIT, () -> Files.readString(file).equals("new content"));
        assertThat(root.resolve("more")).hasContent("more");
        hdfs().delete(folder + "/f");
        Waiting.until("it is gone", LIMIT, () -> {
            other.listCompared("/" + folder, 10);
            try (Stream<Path> names = Files.list(root)) {
                return names.map(each -> each.getFileName().toString()).toList().equals(List.of("more"));
            }
        });
    }

    @Test
    void a_file_moves_from_hdfs_to_another_under_file_system_by_a_copy(@TempDir Path local) throws Exception {
        String point = "/" + folder + "/local";
        assertThat(alluxio.shell("mount", point, local.toString()).exit()).isZero();
        try {
            Path file = Files.writeString(root.resolve("f"), "moved");
            Path there = Files.writeString(root.resolve("local/f"), "replaced");
            assertThatThrownBy(() -> Files.move(file, there, StandardCopyOption.ATOMIC_MOVE))
                    .isInstanceOf(AtomicMoveNotSupportedException.class); // EXDEV
            Files.move(file, there, StandardCopyOption.REPLACE_EXISTING);
            assertThat(local.resolve("f")).hasContent("moved");
            assertThat(stored("f")).isEqualTo("(none)");
        } finally {
            alluxio.shell("unmount", point);
        }
    }

    @Test
    void a_quota_of_hdfs_that_is_used_up_is_a_full_disk() throws Exception {
        Path file = Files.writeString(root.resolve("f"), "old");
        hdfs().limit(folder, 1000, 1 << 20); // less than a block
        assertThatThrownBy(() -> Files.writeString(file, "new")).hasMessageContaining("No space left on device");
        assertThatThrownBy(() -> Files.writeString(root.resolve("g"), "new"))
                .hasMessageContaining("No space left on device");
        assertThat(stored("f")).isEqualTo("old");
        hdfs().limit(folder, 1, 1L << 40); // of names
        assertThatThrownBy(() -> Files.createDirectory(root.resolve("d")))
                .hasMessageContaining("No space left on device");
        hdfs().limit(folder, 1000, 1L << 40);
        Files.writeString(file, "newer");
        assertThat(stored("f")).isEqualTo("newer");
        Files.createDirectory(root.resolve("d"));
    }
}

package io.posixgateway.alluxio.mounted;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.S3Server;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A mount of a real Alluxio on a bucket of a real S3 server. */
class S3IT extends OnUnderStore {

    /** By this version of Alluxio, what is longer than 100 MiB. */
    private static final int COPIED_IN_PARTS_BYTES = (100 << 20) + 1;

    /** Alluxio's blocks have 64 MiB. */
    private static final int SEVERAL_BLOCKS_BYTES = (64 << 20) + (1 << 20);

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Override
    EmbeddedAlluxio cluster() throws Exception {
        return Clusters.onS3();
    }

    private S3Server bucket() {
        return Objects.requireNonNull(alluxio.s3());
    }

    @Test
    void a_file_is_replaced_appended_to_and_cut_and_keeps_its_attributes() throws Exception {
        Path file = Files.writeString(root.resolve("f"), "one");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        note(file, "stays");
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
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-r-----");
        assertThat(noteOf(file)).isEqualTo("stays");
    }

    @Test
    void a_rename_replaces_a_file() throws Exception {
        Path old = Files.writeString(root.resolve("old"), "old");
        Path saved = Files.writeString(root.resolve("saved.tmp"), "new");
        Files.setPosixFilePermissions(saved, PosixFilePermissions.fromString("rw-rw-r--"));
        Files.move(saved, old, StandardCopyOption.ATOMIC_MOVE);
        assertThat(old).hasContent("new");
        assertThat(saved).doesNotExist();
        assertThat(stored("old")).isEqualTo("new");
        assertThat(stored("saved.tmp")).isEqualTo("(none)");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(old)))
                .isEqualTo("rw-rw-r--");
    }

    @Test
    void an_object_of_another_client_is_replaced() throws Exception {
        bucket().put(folder + "/put", "by another".getBytes(UTF_8));
        Path file = root.resolve("put");
        assertThat(file).hasContent("by another");
        Files.writeString(file, "replaced");
        assertThat(stored("put")).isEqualTo("replaced");
    }

    @Test
    void a_directory_that_took_the_place_of_a_file_is_never_replaced() throws Exception {
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

    @Test
    void a_file_moves_to_another_under_file_system_by_a_copy(@TempDir Path local) throws Exception {
        String point = "/" + folder + "/local";
        assertThat(alluxio.shell("mount", point, local.toString()).exit()).isZero();
        try {
            Path file = Files.writeString(root.resolve("f"), "moved");
            Path there = Files.writeString(root.resolve("local/f"), "replaced");
            assertThatThrownBy(() -> Files.move(file, there, StandardCopyOption.ATOMIC_MOVE))
                    .isInstanceOf(AtomicMoveNotSupportedException.class); // EXDEV
            assertThat(there).hasContent("replaced");
            Files.move(file, there, StandardCopyOption.REPLACE_EXISTING);
            assertThat(local.resolve("f")).hasContent("moved");
            assertThat(stored("f")).isEqualTo("(none)");
            Files.writeString(there, "replaced again");
            assertThat(local.resolve("f")).hasContent("replaced again");
        } finally {
            alluxio.shell("unmount", point);
        }
    }

    @Test
    void a_key_that_is_too_long_is_refused_before_anything_is_done() throws Exception {
        Path deep = root;
        for (int i = 0; i < 4; i++) {
            deep = Files.createDirectory(deep.resolve("d".repeat(200)));
        }
        Path at = deep;
        Files.writeString(deep.resolve("f".repeat(1023 - (folder.length() + 4 * 201 + 1))), "fits");
        assertThatThrownBy(
                        () -> Files.writeString(at.resolve("f".repeat(1024 - (folder.length() + 4 * 201 + 1))), "no"))
                .hasMessageContaining("File name too long");
        try (Stream<Path> names = Files.list(deep)) {
            assertThat(names).hasSize(1);
        }
    }

    @Test
    void a_name_that_a_listing_lacks_is_listed_as_itself() throws Exception {
        Path directory = Files.createDirectory(root.resolve("d\u0002"));
        Path file = Files.writeString(directory.resolve("a\u0001"), "text");
        assertThat(stored("%pgw%d%02/%pgw%a%01")).isEqualTo("text");
        other.listCompared("/" + folder + "/%pgw%d%02", 10);
        try (Stream<Path> names = Files.list(directory)) {
            assertThat(names).containsExactly(file);
        }
        assertThat(file).hasContent("text");
        removeAll(directory);
        assertThat(directory).doesNotExist();
    }

    @Test
    void a_directory_of_another_client_without_markers_is_renamed_and_removed() throws Exception {
        for (int i = 0; i < 20; i++) {
            bucket().put(folder + "/tree/sub " + i % 2 + "/f" + i, ("content " + i).getBytes(UTF_8));
        }
        bucket().put(folder + "/tree/top", "at the top".getBytes(UTF_8));
        Path tree = root.resolve("tree");
        note(Files.createDirectory(tree.resolve("empty")), "stays");
        Files.setPosixFilePermissions(tree.resolve("empty"), PosixFilePermissions.fromString("r-xr-x---"));
        FileTime then = FileTime.from(Instant.parse("2001-02-03T04:05:06.789012345Z"));
        Files.setLastModifiedTime(tree, then);
        Object number = Files.getAttribute(tree, "unix:ino");
        Path moved = Files.move(tree, root.resolve("moved"));
        assertThat(tree).doesNotExist();
        assertThat(Files.getLastModifiedTime(moved)).isEqualTo(then);
        assertThat(Files.getAttribute(moved, "unix:ino")).isEqualTo(number);
        assertThat(moved.resolve("top")).hasContent("at the top");
        for (int i = 0; i < 20; i++) {
            assertThat(moved.resolve("sub " + i % 2).resolve("f" + i)).hasContent("content " + i);
            assertThat(stored("moved/sub " + i % 2 + "/f" + i)).isEqualTo("content " + i);
        }
        assertThat(stored("tree/top")).isEqualTo("(none)");
        assertThat(noteOf(moved.resolve("empty"))).isEqualTo("stays");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(moved.resolve("empty"))))
                .isEqualTo("r-xr-x---");
        Files.writeString(moved.resolve("sub 1/more"), "more");
        removeAll(moved);
        assertThat(moved).doesNotExist();
        assertThat(stored("moved/top")).isEqualTo("(none)");
    }

    @Test
    void a_directory_is_renamed_while_its_files_are_written() throws Exception {
        Files.createDirectories(root.resolve("x/sub"));
        try (OutputStream fresh = Files.newOutputStream(root.resolve("x/sub/f"))) {
            fresh.write("begun, ".getBytes(UTF_8));
            Files.move(root.resolve("x"), root.resolve("z"));
            fresh.write("moved, ".getBytes(UTF_8));
            Files.move(root.resolve("z"), root.resolve("x"));
            fresh.write("ended".getBytes(UTF_8));
        }
        assertThat(root.resolve("x/sub/f")).hasContent("begun, moved, ended");
        assertThat(stored("x/sub/f")).isEqualTo("begun, moved, ended");
        assertThat(stored("z/sub/f")).isEqualTo("(none)");
    }

    @Test
    void an_object_that_is_replaced_while_it_is_read_is_no_mix() throws Exception {
        byte[] content = new byte[SEVERAL_BLOCKS_BYTES];
        Arrays.fill(content, (byte) 'o');
        bucket().put(folder + "/object", content);
        ByteBuffer into = ByteBuffer.allocate(4096);
        try (FileChannel open = FileChannel.open(root.resolve("object"))) {
            open.read(into, 0);
            assertThat(into.get(0)).isEqualTo((byte) 'o');
            Arrays.fill(content, (byte) 'n');
            bucket().put(folder + "/object", content);
            assertThatThrownBy(() -> open.read(into.clear(), SEVERAL_BLOCKS_BYTES - 4096))
                    .hasMessageContaining("Stale file handle");
        }
        Waiting.until("the new one is opened", PATIENCE, () -> {
            try (FileChannel open = FileChannel.open(root.resolve("object"))) {
                return open.read(into.clear(), SEVERAL_BLOCKS_BYTES - 4096) == 4096 && into.get(0) == 'n';
            } catch (FileSystemException stale) {
                return false;
            } catch (IOException stale) {
                assertThat(stale).hasMessageContaining("Stale file handle");
                return false;
            }
        });
    }

    /** It comes in one piece, cut to the old one's length: the object's own hash says whose it is. */
    @Test
    void a_small_object_that_was_replaced_before_it_is_read_is_stale_or_new() throws Exception {
        bucket().put(folder + "/small", "the old one".getBytes(UTF_8));
        Path small = root.resolve("small");
        assertThat(Files.size(small)).isEqualTo("the old one".length());
        bucket().put(folder + "/small", "the new one, which is longer".getBytes(UTF_8));
        Waiting.until("the new one is read", PATIENCE, () -> {
            try {
                assertThat(Files.readString(small)).isEqualTo("the new one, which is longer");
                return true;
            } catch (IOException stale) {
                assertThat(stale).hasMessageContaining("Stale file handle");
                return false;
            }
        });
    }

    @Test
    void the_folder_for_objects_that_are_uploaded_whole_is_advised() throws Exception {
        assertThat(other.advice())
                .singleElement()
                .asString()
                .startsWith("/ is on s3://")
                .contains("alluxio.underfs.s3.streaming.upload.enabled is off", "alluxio.tmp.dirs (/");
    }

    private static void removeAll(Path directory) throws Exception {
        Process rm = new ProcessBuilder("rm", "-rf", directory.toString())
                .inheritIO()
                .start();
        assertThat(rm.waitFor()).isZero();
    }

    @Test
    void a_file_that_is_copied_in_parts_keeps_its_attributes_where_alluxio_syncs() throws Exception {
        AlluxioOptions syncing = new AlluxioOptions(
                alluxio.masters(), "/" + folder, "", Map.of("alluxio.user.file.metadata.sync.interval", "0"));
        try (MountedFileSystem second = MountedFileSystem.mount(
                AlluxioMount.open(syncing, SharedAlluxio.options(Map.of("metadata_ttl", "0"))), TransportChoice.AUTO)) {
            Path large = second.root().resolve("large");
            Files.writeString(large, "short");
            Files.setPosixFilePermissions(large, PosixFilePermissions.fromString("rw-r-----"));
            note(large, "stays");
            Files.write(large, new byte[COPIED_IN_PARTS_BYTES]);
            assertThat(other.compared("/" + folder + "/large").mode()).isEqualTo(0640); // before this mount looks
            Path moved = Files.move(large, second.root().resolve("moved"), StandardCopyOption.ATOMIC_MOVE);
            assertThat(other.compared("/" + folder + "/moved").mode()).isEqualTo(0640);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(moved)))
                    .isEqualTo("rw-r-----");
            assertThat(noteOf(moved)).isEqualTo("stays");
            assertThat(Files.size(moved)).isEqualTo(COPIED_IN_PARTS_BYTES);
        }
    }
}

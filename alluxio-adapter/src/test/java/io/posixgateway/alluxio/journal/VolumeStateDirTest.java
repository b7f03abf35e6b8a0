package io.posixgateway.alluxio.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What one process leaves in a volume's folder, the next one reads. */
class VolumeStateDirTest {
    @Test
    void the_last_pair_of_a_node_counts_until_the_node_is_forgotten(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            folder.nodes().moved(5, 100);
            folder.nodes().moved(6, 200);
            folder.nodes().moved(5, 101);
            folder.nodes().moved(7, 300);
            folder.nodes().noticed(6, NodeIdRemapLog.NOBODY);
        }
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 101L, 7L, 300L));
            folder.nodes().noticed(7, NodeIdRemapLog.NOBODY);
        }
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 101L));
        }
    }

    /** As a volume that is deleted leaves them: a process that was killed had made them, and nobody wrote into them. */
    @Test
    void what_holds_no_content_goes_with_the_volume(@TempDir Path parent) throws Exception {
        Path root = parent.resolve("volume");
        VolumeStateDir folder = VolumeStateDir.open(root);
        for (String name : List.of(
                "spool-11", "spool-12.draft.new", "spool-13.origin", "hidden-1-2.3-1", "moves-1-2.3-1", "nodes.new")) {
            Files.createFile(root.resolve(name));
        }
        assertThat(root.resolve("aside")).isDirectory();
        folder.discard();
        assertThat(root).doesNotExist();
    }

    @Test
    void content_and_what_is_left_to_do_stay_behind_a_volume(@TempDir Path parent) throws Exception {
        Path root = parent.resolve("volume");
        VolumeStateDir folder = VolumeStateDir.open(root);
        leaveContent(root);
        folder.discard();
        assertThat(root.resolve("spool-13")).doesNotExist();
        assertThat(new Remains(root, Set.of()).clear())
                .isEqualTo("5 files with 25 bytes (aside/spool-14, renames-1-2.3-1, spool-11, …)");
        for (String name : List.of("spool-11", "spool-11.draft", "spool-12", "renames-1-2.3-1", "aside/spool-14")) {
            assertThat(root.resolve(name)).exists();
        }
    }

    /** Whoever finds no lock has the folder, and files in it that are not to be taken for what was left. */
    @Test
    void the_lock_goes_when_nothing_else_will(@TempDir Path parent) throws Exception {
        Path root = parent.resolve("volume");
        VolumeStateDir folder = VolumeStateDir.open(root);
        Files.createDirectories(root.resolve("spool-12.draft.new").resolve("cannot be removed"));
        folder.discard();
        assertThat(root.resolve("lock")).exists();
    }

    /** Another Alluxio must not be changed by it. */
    @ParameterizedTest
    @ValueSource(strings = {"hidden", "renames", "moves", "directories"})
    void what_is_left_to_do_keeps_the_name_of_its_alluxio(String kind, @TempDir Path parent) throws Exception {
        Path root = parent.resolve("volume");
        VolumeStateDir folder = VolumeStateDir.open(root);
        folder.identityIs(new VolumeIdentity("cluster", "master:19998", "/"));
        Files.writeString(root.resolve(kind + "-1-2.3-1"), "entry");
        folder.discard();
        assertThat(root.resolve("volume")).exists();
        Files.delete(root.resolve(kind + "-1-2.3-1"));
        VolumeStateDir.open(root).discard();
        assertThat(root).doesNotExist();
    }

    private static void leaveContent(Path root) throws IOException {
        Files.createFile(root.resolve("spool-11")); // an empty file that is not in Alluxio yet
        Files.writeString(root.resolve("spool-11.draft"), "record");
        Files.writeString(root.resolve("spool-12"), "content");
        Files.createFile(root.resolve("spool-13"));
        Files.writeString(root.resolve("renames-1-2.3-1"), "entry");
        assertThat(root.resolve("aside")).isDirectory();
        Files.writeString(root.resolve("aside/spool-14"), "content");
    }

    @Test
    void half_a_pair_at_the_end_is_passed_over(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            folder.nodes().moved(5, 100);
        }
        Files.write(root.resolve("nodes"), new byte[7], StandardOpenOption.APPEND);
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 100L));
        }
    }

    /** As on a disk that is full: no new file can be made. */
    @Test
    void the_log_of_nodes_is_read_where_nothing_can_be_written_anew(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            folder.nodes().moved(5, 100);
        }
        Files.createDirectories(root.resolve("nodes.new/taken"));
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 100L));
            folder.nodes().moved(6, 200);
        }
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 100L, 6L, 200L));
        }
    }

    @Test
    void pairs_behind_half_a_pair_are_whole(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            folder.nodes().moved(5, 100);
        }
        Files.write(root.resolve("nodes"), new byte[7], StandardOpenOption.APPEND);
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            folder.nodes().moved(6, 200);
        }
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 100L, 6L, 200L));
        }
    }

    @Test
    void a_new_kernel_holds_nothing_of_what_was_passed_through(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            for (long node = 1; node <= 16_384; node++) {
                assertThat(folder.passthrough().add(node)).isTrue();
            }
            assertThat(folder.passthrough().add(20_000)).as("full").isFalse();
        }
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.passthrough().inherited()).hasSize(16_384);
            folder.passthrough().clear();
            assertThat(folder.passthrough().inherited()).isEmpty();
            assertThat(folder.passthrough().add(20_000)).isTrue();
        }
    }

    /** A request may end when the folder is the next process's. */
    @Test
    void what_was_passed_through_is_the_next_processes_once_the_folder_is_closed(@TempDir Path root) throws Exception {
        VolumeStateDir before = VolumeStateDir.open(root);
        before.passthrough().add(1);
        before.close();
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            before.passthrough().remove(1);
            assertThat(before.passthrough().add(2)).isFalse();
            assertThat(folder.passthrough().add(3)).isTrue();
        }
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.passthrough().inherited()).isEqualTo(Set.of(1L, 3L));
        }
    }

    @Test
    void the_root_of_a_cluster_has_number_0_and_is_remembered(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThat(folder.rootId()).isEmpty();
            folder.rootIs(0);
            assertThat(folder.rootId()).hasValue(0);
        }
    }

    @Test
    void what_others_may_have_put_there_is_not_believed(@TempDir Path parent) throws Exception {
        Path open = Files.createDirectory(parent.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path link =
                Files.createSymbolicLink(parent.resolve("link"), Files.createDirectory(parent.resolve("elsewhere")));
        for (Path bad : List.of(open, link)) {
            assertThatThrownBy(() -> VolumeStateDir.open(bad))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM))
                    .hasMessageContaining(bad.toString())
                    .hasMessageContaining("Give a folder that this user owns");
        }
    }

    /** Permissions mend nothing of it. */
    @Test
    void what_failed_is_said(@TempDir Path parent) throws Exception {
        Path file = Files.createFile(parent.resolve("file"));
        assertThatThrownBy(() -> VolumeStateDir.open(file.resolve("volume")))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM))
                .hasMessageEndingWith("Not a directory)");
    }

    @Test
    void nobody_else_can_look_into_it_or_hold_its_lock(@TempDir Path parent) throws Exception {
        Path root = parent.resolve("made/volume");
        VolumeStateDir.open(root).close();
        for (Path made : List.of(root, root.getParent())) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
                    .isEqualTo("rwx------");
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(root.resolve("lock"))))
                .isEqualTo("rw-------");
    }

    /** The link of /proc that leads to a process is always root's. */
    @Test
    void the_user_of_a_process_is_whose_its_folder_is(@TempDir Path proc) throws Exception {
        assumeTrue(Built.isRoot(), "only root can give a folder to another user");
        Path process = Files.createDirectory(proc.resolve("1234"));
        Files.setAttribute(process, "unix:uid", 65_534);
        Path self = Files.createSymbolicLink(proc.resolve("self"), Path.of("1234"));
        assertThat(StateFolder.userOf(self)).isEqualTo(65_534);
    }

    @Test
    void the_state_of_root_is_where_only_root_can_write() {
        assertThat(StateFolder.standard("root", null, "/root")).isEqualTo(Path.of("/var/lib/posix-gateway"));
        assertThat(StateFolder.standard("ann", "/s", "/home/ann")).isEqualTo(Path.of("/s/posix-gateway"));
        assertThat(StateFolder.standard("ann", null, "/home/ann"))
                .isEqualTo(Path.of("/home/ann/.local/state/posix-gateway"));
        assertThat(StateFolder.home("/home/ann", "/other")).isEqualTo("/home/ann");
        assertThat(StateFolder.home("?", "/home/1234")).isEqualTo("/home/1234");
        assertThat(StateFolder.home("?", null)).isEqualTo("/");
    }

    @Test
    void a_disk_is_full_by_its_error_and_not_by_the_words_of_a_name() {
        String full = Native.errorText(-Errno.ENOSPC);
        assertThat(DiskErrno.of(new IOException(full))).isEqualTo(Errno.ENOSPC);
        assertThat(DiskErrno.of(new FileSystemException("/f", null, full))).isEqualTo(Errno.ENOSPC);
        assertThat(DiskErrno.of(new FileSystemException("/" + full, null, "Is a directory")))
                .isEqualTo(Errno.EIO);
    }

    @Test
    void two_cannot_hold_it(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            assertThatThrownBy(() -> VolumeStateDir.open(root))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining(folder.path().toString());
        }
    }

    private static int run(String... words) throws Exception {
        return new ProcessBuilder(words).start().waitFor();
    }

    /** Writes until the disk is full. */
    private static void fill(Path disk) throws IOException {
        try (OutputStream file = Files.newOutputStream(disk.resolve("filler"))) {
            while (true) {
                file.write(new byte[4096]);
            }
        } catch (IOException full) {
            assertThat(DiskErrno.isFull(full)).isTrue();
        }
    }

    private static void move(NodeIdRemapLog nodes, long first, long last) throws StoreException {
        for (long node = first; node <= last; node++) {
            nodes.moved(node, node + 1);
        }
    }

    /** As the end of a killed program interrupts the thread that serves its call. */
    @Test
    void the_log_of_nodes_takes_pairs_of_an_interrupted_thread(@TempDir Path root) throws Exception {
        try (VolumeStateDir folder = VolumeStateDir.open(root)) {
            Thread.currentThread().interrupt();
            try {
                move(folder.nodes(), 1, 2);
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
            move(folder.nodes(), 3, 4);
        }
        try (VolumeStateDir next = VolumeStateDir.open(root)) {
            assertThat(next.nodes().inherited()).containsOnlyKeys(1L, 2L, 3L, 4L);
        }
    }

    /** What the kernel will ask by must not be lost: who cannot note it must refuse the change. */
    @Test
    void the_log_of_nodes_takes_pairs_from_the_reserve_each_time_the_disk_is_full(@TempDir Path disk) throws Exception {
        assumeTrue(Built.isRoot() && run("mount", "-t", "tmpfs", "-o", "size=2m", "none", disk.toString()) == 0);
        try {
            Path root = disk.resolve("volume");
            try (VolumeStateDir folder = VolumeStateDir.open(root)) {
                fill(disk);
                move(folder.nodes(), 1, 10_000);
                Files.delete(disk.resolve("filler"));
                move(folder.nodes(), 10_001, 10_100);
                fill(disk);
                move(folder.nodes(), 10_101, 20_000);
            }
            try (VolumeStateDir folder = VolumeStateDir.open(root)) {
                assertThat(folder.nodes().inherited()).hasSize(20_000);
            }
        } finally {
            run("umount", "-l", disk.toString()); // the JVM has a file of it mapped
        }
    }

    /** A store into a hole of a mapped file would find out that the disk is full, by a signal that ends the process. */
    @Test
    void what_is_passed_through_is_read_and_not_noted_where_its_file_has_holes_and_the_disk_is_full(@TempDir Path disk)
            throws Exception {
        assumeTrue(Built.isRoot() && run("mount", "-t", "tmpfs", "-o", "size=1m", "none", disk.toString()) == 0);
        try {
            Path root = disk.resolve("volume");
            StateFolder.make(root);
            Path log = root.resolve("passthrough");
            Files.write(log, ByteBuffer.allocate(8).putLong(5).array());
            try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.allocate(1), 16_385 * 8 - 1);
            }
            fill(disk);
            try (VolumeStateDir folder = VolumeStateDir.open(root)) {
                assertThat(folder.passthrough().inherited()).containsExactly(5L);
                assertThat(folder.passthrough().add(6)).isFalse();
            }
        } finally {
            run("umount", "-l", disk.toString());
        }
    }

    /** As the kernel makes a disk that has an error. */
    @Test
    void a_folder_on_a_disk_that_became_read_only_is_read_and_written_again_later(@TempDir Path disk) throws Exception {
        assumeTrue(Built.isRoot() && run("mount", "-t", "tmpfs", "-o", "size=4m", "none", disk.toString()) == 0);
        try {
            Path root = disk.resolve("volume");
            StateFolder.make(root);
            Files.createFile(root.resolve("lock"));
            Files.write(
                    root.resolve("nodes"),
                    ByteBuffer.allocate(16).putLong(5).putLong(100).array());
            Files.write(
                    root.resolve("passthrough"),
                    ByteBuffer.allocate(16_385 * 8).putLong(5).array());
            assertThat(run("mount", "-o", "remount,ro", disk.toString())).isZero();
            try (VolumeStateDir folder = VolumeStateDir.open(root)) {
                assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 100L));
                assertThat(folder.passthrough().inherited()).containsExactly(5L);
                assertThat(folder.passthrough().add(6)).isFalse();
                assertThatThrownBy(() -> folder.nodes().moved(6, 200))
                        .isInstanceOfSatisfying(
                                StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EROFS));
                assertThat(run("mount", "-o", "remount,rw", disk.toString())).isZero();
                folder.nodes().moved(6, 200);
            }
            try (VolumeStateDir folder = VolumeStateDir.open(root)) {
                assertThat(folder.nodes().inherited()).isEqualTo(Map.of(5L, 100L, 6L, 200L));
            }
        } finally {
            run("umount", "-l", disk.toString()); // the JVM has a file of it mapped
        }
    }
}

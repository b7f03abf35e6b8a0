package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.Waiting;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mounting by the command: in the background, in the foreground, and what is said when it cannot be. */
class TestFsIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder = Path.of("");

    private Path mount;

    @BeforeEach
    void makeMountPoint() throws Exception {
        mount = Files.createDirectory(folder.resolve("mount point"));
    }

    @AfterEach
    void discardMount() throws Exception {
        Mounts.discard(mount);
    }

    private String run(int exit, String... arguments) throws Exception {
        try (Program program = Program.gateway(folder, arguments)) {
            assertThat(program.await(LIMIT)).as(program.output()).isEqualTo(exit);
            return program.output();
        }
    }

    private String log() {
        return folder.resolve("server.log").toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"devfuse", "libfuse"})
    void the_command_returns_once_the_mount_answers_and_serves_on(String transport) throws Exception {
        String said = run(0, "testfs", "memory", mount.toString(), "--transport", transport, "--log-file", log());
        assertThat(said).contains("testfs memory is mounted at " + mount, "transport " + transport);
        Files.writeString(mount.resolve("hello"), "text");
        assertThat(mount.resolve("hello")).hasContent("text");
        run(0, "umount", mount.toString());
        assertThat(Mounts.isMounted(mount)).isFalse();
        assertThat(run(1, "umount", mount.toString())).contains("nothing is mounted at " + mount);
    }

    @Test
    void a_mount_in_use_is_unmounted_only_lazily() throws Exception {
        run(0, "testfs", "memory", mount.toString(), "--log-file", log());
        try (var open = Files.newOutputStream(mount.resolve("open"))) {
            open.write(1);
            assertThat(run(1, "umount", mount.toString())).contains("cannot be unmounted", "--lazy");
            run(0, "umount", "--lazy", mount.toString());
        }
        assertThat(Mounts.isMounted(mount)).isFalse();
    }

    @Test
    void the_end_of_a_server_in_the_foreground_unmounts() throws Exception {
        try (Program server = Program.gateway(folder, "testfs", "null", mount.toString(), "--files", "3", "-f")) {
            server.awaitOutput("Ctrl-C unmounts", LIMIT);
            assertThat(mount.toFile().list()).hasSize(3);
            server.terminate();
            server.await(LIMIT);
        }
        Waiting.until("unmounted", LIMIT, () -> !Mounts.isMounted(mount));
    }

    @Test
    void a_server_in_the_foreground_ends_when_somebody_unmounts() throws Exception {
        try (Program server = Program.gateway(folder, "testfs", "memory", mount.toString(), "-f")) {
            server.awaitOutput("Ctrl-C unmounts", LIMIT);
            run(0, "umount", mount.toString());
            assertThat(server.await(LIMIT)).isZero();
        }
    }

    @Test
    void a_mount_point_that_is_missing_is_told_by_the_command_itself() throws Exception {
        String missing = folder.resolve("missing").toString();
        assertThat(run(1, "testfs", "memory", missing, "--log-file", log())).contains(missing);
        assertThat(run(1, "testfs", "memory", missing, "-f")).contains(missing);
    }

    @Test
    void a_mount_point_that_is_no_folder_is_told() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(run(1, "testfs", "memory", file.toString(), "--log-file", log()))
                .contains(file.toString());
    }

    @Test
    void a_name_beyond_ascii_is_a_mount_point_whatever_the_locale_says() throws Exception {
        String script = """
                set -eu
                export LC_ALL=POSIX
                point=$2/$(printf 'mnt-\\303\\251\\360\\237\\220\\247')
                mkdir "$point"
                "$1" testfs null "$point" --files 2 --log-file "$3"
                ls "$point" | wc -l
                "$1" umount "$point"
                """;
        try (Program program = Program.start(
                folder, List.of("bash", "-c", script, "bash", Built.gateway().toString(), folder.toString(), log()))) {
            assertThat(program.await(LIMIT)).as(program.output()).isZero();
            assertThat(program.output()).contains("\n2\n");
        }
    }
}

package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.ShortTimeouts;
import io.posixgateway.alluxio.harness.Built;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.TestDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code posix-gateway mount} of a real Alluxio, and what it says when it cannot. */
class MountCommandIT {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static TestDirectory own;

    @TempDir
    private Path folder = Path.of("");

    private Path mount = Path.of("");

    @BeforeAll
    static void startAlluxio() throws Exception {
        Built.gateway();
        own = Clusters.directory(Clusters.oneWorker());
        Files.writeString(Files.createDirectory(own.ufs().resolve("data")).resolve("file"), "text");
    }

    @BeforeEach
    void makeMountPoint() throws Exception {
        mount = Files.createDirectory(folder.resolve("mnt"));
    }

    @AfterEach
    void discardMount() throws Exception {
        Mounts.discard(mount);
    }

    private static String uri(String path) {
        return own.uri() + path;
    }

    private String run(int exit, String... arguments) throws Exception {
        try (Program program = Program.gateway(folder, arguments)) {
            assertThat(program.await(LIMIT)).as(program.output()).isEqualTo(exit);
            return program.output();
        }
    }

    private String mount(int exit, String uri, Path target, String... more) throws Exception {
        String[] all = new String[more.length + 5];
        System.arraycopy(
                new String[] {
                    "mount",
                    uri,
                    target.toString(),
                    "--log-file",
                    folder.resolve("log").toString()
                },
                0,
                all,
                0,
                5);
        System.arraycopy(more, 0, all, 5, more.length);
        return run(exit, all);
    }

    @Test
    void the_command_returns_when_the_mount_answers() throws Exception {
        assertThat(mount(0, uri("/data"), mount)).contains(uri("/data") + " is mounted at " + mount, "transport ");
        assertThat(mount.resolve("file")).hasContent("text");
        Files.writeString(mount.resolve("new"), "written");
        assertThat(own.alluxio().shell("cat", own.path() + "/data/new").output())
                .isEqualTo("written");
        run(0, "umount", mount.toString());
        assertThat(Mounts.isMounted(mount)).isFalse();
    }

    /** In this JVM: that it ends with the right code as a program of its own is shown once. */
    private void unmount() {
        InProcess.run(0, "umount", mount.toString());
    }

    @Test
    void a_read_only_mount_refuses_changes() throws Exception {
        mount(0, uri("/data"), mount, "-o", "ro");
        assertThat(mount.resolve("file")).hasContent("text");
        assertThat(mount.resolve("other").toFile().mkdir()).isFalse();
        unmount();
    }

    @Test
    void a_mount_point_that_is_a_mount_already_is_busy() throws Exception {
        mount(0, uri("/"), mount);
        assertThat(mount(1, uri("/"), mount)).contains(mount.toString());
        unmount();
    }

    @Test
    void an_alluxio_that_does_not_answer_is_named() throws Exception {
        try (Program program = Program.gatewayWith(
                folder,
                ShortTimeouts.javaOptions(),
                "mount",
                "alluxio://127.0.0.1:1/",
                mount.toString(),
                "--log-file",
                folder.resolve("log").toString())) {
            assertThat(program.await(LIMIT)).as(program.output()).isEqualTo(1);
            assertThat(program.output())
                    .contains("posix-gateway: waiting for Alluxio's master at 127.0.0.1:1 (Connection refused)")
                    .contains("127.0.0.1:1 does not answer");
        }
        assertThat(Mounts.isMounted(mount)).isFalse();
    }

    @Test
    void a_path_that_is_not_in_alluxio_is_named() throws Exception {
        assertThat(mount(1, uri("/missing"), mount)).contains("Alluxio has no path " + own.path() + "/missing");
    }

    @Test
    void a_path_that_is_a_file_is_refused() throws Exception {
        assertThat(mount(1, uri("/data/file"), mount)).contains(own.path() + "/data/file is a file in Alluxio");
    }

    @Test
    void mount_points_that_cannot_be_are_told() throws Exception {
        Path missing = folder.resolve("missing");
        assertThat(mount(1, uri("/"), missing)).contains(missing.toString());
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(mount(1, uri("/"), file)).contains(file.toString());
    }

    @Test
    void an_unknown_option_is_a_wrong_argument() throws Exception {
        assertThat(mount(2, uri("/"), mount, "-o", "colour=red"))
                .contains("option 'colour' is not known", "metadata_ttl");
    }

    @Test
    void site_properties_name_the_masters() throws Exception {
        Path site = folder.resolve("alluxio-site.properties");
        String[] address = own.masters().split(":", 2);
        Files.writeString(
                site, "alluxio.master.hostname=" + address[0] + "\nalluxio.master.rpc.port=" + address[1] + "\n");
        mount(0, own.path() + "/data", mount, "--site-properties", site.toString());
        assertThat(mount.resolve("file")).hasContent("text");
        unmount();
    }

    @Test
    void site_properties_are_heeded_by_the_client() throws Exception {
        Path site = Files.writeString(
                folder.resolve("alluxio-site.properties"), "alluxio.user.block.size.bytes.default=256KB\n");
        mount(0, uri("/data"), mount, "--site-properties", site.toString());
        Path cut = Files.write(mount.resolve("cut"), new byte[600_000]);
        assertThat(InProcess.run(0, "info", cut.toString())).contains("blocks      3 of up to 256K\n");
        unmount();
    }
}

package io.posixgateway.alluxio.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.Mounts;
import io.posixgateway.alluxio.harness.Program;
import io.posixgateway.alluxio.harness.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first thing a newcomer runs. */
class DemoIT {
    private static final Duration LIMIT = Duration.ofMinutes(8);
    /** In each of ten folders; each costs some requests of the S3 server. */
    private static final int PICTURES_IN_BUCKET = Integer.getInteger("pgw.demo.pictures", 15);

    @Test
    void the_check_verifies_every_file_and_leaves_nothing_behind(@TempDir Path folder) throws Exception {
        Path mount = folder.resolve("mnt");
        try (Program demo = Program.gateway(folder, "demo", mount.toString(), "--check", "-o", "transport=devfuse")) {
            assertThat(demo.await(LIMIT)).as(demo.output()).isZero();
            assertThat(demo.output().lines().reduce((first, second) -> second).orElse(""))
                    .matches("demo ok: 1006 files, \\d{8,} bytes verified, transport devfuse");
        } finally {
            Mounts.discard(mount);
        }
        assertThat(mount).doesNotExist();
    }

    @Test
    void the_check_verifies_a_bucket_of_a_real_s3_server(@TempDir Path folder) throws Exception {
        Clusters.assumeS3();
        Path mount = folder.resolve("mnt");
        String java = "-Dposixgateway.demo.pictures=" + PICTURES_IN_BUCKET;
        int files = 10 * PICTURES_IN_BUCKET + 6;
        try (Program demo =
                Program.gatewayWith(folder, java, "demo", mount.toString(), "--check", "--under-store", "s3")) {
            assertThat(demo.await(LIMIT)).as(demo.output()).isZero();
            assertThat(demo.output()).containsPattern("demo ok: " + files + " files, \\d{8,} bytes verified");
        } finally {
            Mounts.discard(mount);
        }
    }

    @Test
    void the_demo_shows_alluxio_until_it_is_ended_and_takes_all_back(@TempDir Path folder) throws Exception {
        Path mount = folder.resolve("mnt");
        try (Program demo = Program.gateway(folder, "demo", mount.toString())) {
            demo.awaitOutput("Ctrl-C unmounts", LIMIT);
            assertThat(mount.resolve("pictures").resolve("class-0").toFile().list())
                    .hasSize(100);
            Files.copy(mount.resolve("README.txt"), mount.resolve("copy.txt"));
            assertThat(mount.resolve("copy.txt")).hasSameTextualContentAs(mount.resolve("README.txt"));
            try (Program sync =
                    Program.gateway(folder, "sync", mount.resolve("archives").toString())) {
                assertThat(sync.await(LIMIT)).as(sync.output()).isZero();
                assertThat(sync.output()).contains("entries compared");
            }
            demo.terminate();
            assertThat(demo.await(LIMIT)).as(demo.output()).isZero();
            Waiting.until("unmounted", LIMIT, () -> !Mounts.isMounted(mount));
            assertThat(mount).doesNotExist();
            assertThat(MountSocket.of(mount)).doesNotExist();
        } finally {
            Mounts.discard(mount);
        }
    }

    /** Before its first server runs. */
    @Test
    void the_demo_says_in_a_sentence_what_is_missing(@TempDir Path folder) throws Exception {
        String java = "-Dposixgateway.hdfs.lib=" + folder.resolve("missing");
        Path mount = folder.resolve("mnt");
        try (Program demo = Program.gatewayWith(folder, java, "demo", mount.toString(), "--under-store", "hdfs")) {
            assertThat(demo.await(LIMIT)).isEqualTo(1);
            assertThat(demo.output()).contains("No such folder: ").doesNotContain("Exception");
        }
        assertThat(mount).doesNotExist();
    }

    @Test
    void the_demo_that_is_ended_at_once_leaves_nothing(@TempDir Path folder) throws Exception {
        Path mount = folder.resolve("mnt");
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        String java = "-Djava.io.tmpdir=" + temporary;
        try (Program demo = Program.gatewayWith(folder, java, "demo", mount.toString())) {
            Waiting.until("it has begun", LIMIT, () -> hasAlluxio(temporary));
            demo.terminate();
            demo.await(LIMIT);
            assertThat(hasAlluxio(temporary)).isFalse();
            assertThat(mount).doesNotExist();
        } finally {
            Mounts.discard(mount);
        }
    }

    private static boolean hasAlluxio(Path temporary) throws IOException {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.anyMatch(file -> file.getFileName().toString().startsWith("embedded-alluxio-"));
        }
    }
}

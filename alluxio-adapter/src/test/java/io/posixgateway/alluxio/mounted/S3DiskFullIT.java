package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.embedded.EmbeddedOptions;
import io.posixgateway.alluxio.embedded.EmbeddedOptions.UnderStore;
import io.posixgateway.alluxio.embedded.S3Server;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The disk on which a worker keeps what it has not uploaded yet is full. Of the long form, as it needs servers of its own. */
@EnabledIfSystemProperty(named = "pgw.under.store", matches = "s3", disabledReason = "of the long form: make s3-test")
class S3DiskFullIT {
    private static final byte[] LARGE = new byte[8 << 20];

    private final Path disk;
    private final Path spool;
    private EmbeddedAlluxio alluxio;

    S3DiskFullIT(@TempDir Path folder) throws IOException {
        disk = Files.createDirectory(folder.resolve("disk"));
        spool = Files.createDirectory(folder.resolve("spool"));
    }

    @BeforeEach
    void start() throws Exception {
        Clusters.assumeS3();
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=2m", "none", disk.toString()) == 0, "may not mount");
        alluxio = EmbeddedAlluxio.start(EmbeddedOptions.defaults()
                .on(UnderStore.S3)
                .withProperties(Map.of("alluxio.tmp.dirs", disk.toString())));
    }

    @AfterEach
    void end() throws Exception {
        if (alluxio != null) {
            alluxio.close();
            run("umount", "-l", disk.toString());
        }
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    private List<Path> spooled() throws IOException {
        try (Stream<Path> files = Files.list(spool)) {
            return files.filter(file -> file.toFile().length() == LARGE.length).toList();
        }
    }

    @Test
    void close_names_the_folder_and_keeps_old_and_new() throws Exception {
        S3Server bucket = Objects.requireNonNull(alluxio.s3());
        AdapterOptions options = AdapterOptions.of(AdapterOptions.TABLE.read(Map.of("spool", spool.toString())));
        try (LogLines log = new LogLines();
                MountedFileSystem mounted = MountedFileSystem.mount(
                        AlluxioMount.open(AlluxioOptions.ofUri("alluxio://" + alluxio.masters() + "/"), options),
                        TransportChoice.AUTO)) {
            Path file = Files.writeString(mounted.root().resolve("checkpoint"), "old");
            assertThatThrownBy(() -> Files.write(file, LARGE)).hasMessageContaining("No space left");
            assertThat(log.anyWith("alluxio.tmp.dirs")).isTrue();
            assertThat(bucket.get("checkpoint")).asString().isEqualTo("old");
            assertThat(spooled()).as("the new content").hasSize(1);
            assertThat(spooled().get(0)).hasBinaryContent(LARGE);
        }
    }
}

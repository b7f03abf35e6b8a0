package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.client.StoreParts;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Two mounts append to one file in turn, as with {@code >>}: the kernel of each believes for long how long it is, or asks each time. */
@ParameterizedClass
@ValueSource(strings = {"1h", "0"})
class AppendIT {
    private final String metadataTtl;
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private MountedFileSystem one;
    private MountedFileSystem two;

    AppendIT(String metadataTtl) {
        this.metadataTtl = metadataTtl;
    }

    @BeforeEach
    void mount(@TempDir Path spools) throws Exception {
        one = MountedFileSystem.mount(open(spools.resolve("one")), TransportChoice.DEVFUSE);
        two = MountedFileSystem.mount(open(spools.resolve("two")), TransportChoice.DEVFUSE);
    }

    private AlluxioFileSystem open(Path spool) throws Exception {
        Files.createDirectory(spool);
        Map<String, String> options = Map.of("spool", spool.toString(), "metadata_ttl", metadataTtl, "open_trust", "0");
        return AlluxioMount.open(
                StoreParts.metered(cluster.connect(), cluster.clock()),
                "/",
                AdapterOptions.of(AdapterOptions.TABLE.read(options)),
                cluster.clock());
    }

    @AfterEach
    void unmount() throws Exception {
        two.close();
        one.close();
    }

    private static void append(Path file, String line) throws Exception {
        Files.writeString(file, line, StandardOpenOption.APPEND);
    }

    @Test
    void linesOfBothMountsStay() throws Exception {
        Path here = one.root().resolve("f");
        Path there = two.root().resolve("f");
        Files.writeString(here, "1\n");
        assertThat(Files.size(there)).isEqualTo(2);
        String all = "1\n";
        for (int line = 2; line <= 6; line++) {
            append(line % 2 == 0 ? here : there, line + "\n");
            all += line + "\n";
            assertThat(new String(cluster.ufs().read("/f"), StandardCharsets.UTF_8))
                    .isEqualTo(all);
        }
        assertThat(Files.readString(here)).isEqualTo(all);
        assertThat(Files.readString(there)).isEqualTo(all);
    }

    /** A path that ends at a mount, as of a volume's {@code subPath}, has no name that the kernel could look up again. */
    @Test
    void linesStayWhereTheFileIsBoundToAnotherPath(@TempDir Path folder) throws Exception {
        Path here = one.root().resolve("f");
        Files.writeString(here, "1\n");
        Path bound = Files.createFile(folder.resolve("bound"));
        run("mount", "--bind", two.root().resolve("f").toString(), bound.toString());
        try {
            assertThat(Files.size(bound)).isEqualTo(2);
            append(here, "2\n");
            append(bound, "3\n");
            assertThat(new String(cluster.ufs().read("/f"), StandardCharsets.UTF_8))
                    .isEqualTo("1\n2\n3\n");
        } finally {
            run("umount", "-l", bound.toString());
        }
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }
}

package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.Store;
import io.posixgateway.fuse.conformance.Command;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.OutputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What differs from a local disk, each with the answer that docs/semantics.md tells. */
class DeviationsIT {
    private static final String ANSWERS = """
            hard_link EPERM
            hard_link_elsewhere EOPNOTSUPP
            exchange EINVAL
            reserve None
            punch None
            collapse EOPNOTSUPP
            first_hole 1048576
            seek_behind_the_end ENXIO
            directory_links 1
            name_reserved_made EPERM
            name_reserved_looked_up ENOENT
            chown_by_number 31234:31235
            xattr_security EOPNOTSUPP
            xattr_no_namespace EOPNOTSUPP
            xattr_no_name EINVAL
            xattr_own EOPNOTSUPP
            access_time_after_reading 1000
            setxattr_moves_ctime False
            removexattr_moves_ctime False
            chmod_moves_ctime True
            time_given_while_mapped moves
            time_given_after_msync stays
            written_behind_the_end b'X'
            written_behind_the_end_and_synced b'\\x00'
            epoll 1
            removal_moves_ctime False
            files_of_statfs (0, 0)
            """;

    @Test
    void everyDeviationIsAnsweredAsDocumented() throws Exception {
        URL script = Objects.requireNonNull(DeviationsIT.class.getResource("/deviations.py"));
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem mounted = mount(folder);
                Store store = AlluxioMount.connect(SharedAlluxio.at("/"), SharedAlluxio.options(Map.of()))) {
            FileStatus before = store.status(folder);
            String printed = Command.run(
                    120,
                    "python3",
                    Path.of(script.toURI()).toString(),
                    mounted.root().toString());
            assertThat(printed).isEqualTo(ANSWERS);
            FileStatus chowned = store.status(folder + "/a");
            assertThat(chowned.owner()).as("Alluxio's own owner stays").isEqualTo(before.owner());
        }
    }

    @Test
    void aFileThatAnotherMountStillWritesIsBusy() throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem one = mount(folder);
                MountedFileSystem two = mount(folder)) {
            Path seen = two.root().resolve("new");
            try (OutputStream writing = Files.newOutputStream(one.root().resolve("new"))) {
                writing.write(1);
                assertThatThrownBy(() -> Files.readAllBytes(seen)).hasMessageContaining("busy");
            }
            assertThat(seen).hasBinaryContent(new byte[] {1});
        }
    }

    @Test
    void theLastToCloseWins() throws Exception {
        String folder = SharedAlluxio.folder();
        try (MountedFileSystem one = mount(folder);
                MountedFileSystem two = mount(folder)) {
            Files.writeString(one.root().resolve("f"), "old");
            OutputStream last = Files.newOutputStream(two.root().resolve("f"));
            try (last;
                    OutputStream first = Files.newOutputStream(one.root().resolve("f"))) {
                first.write("first to close".getBytes(StandardCharsets.UTF_8));
                last.write("last".getBytes(StandardCharsets.UTF_8));
            }
            assertThat(SharedAlluxio.ufs(folder).resolve("f")).hasContent("last");
            assertThat(one.root().resolve("f")).hasContent("last");
            assertThat(two.root().resolve("f")).hasContent("last");
        }
    }

    private static MountedFileSystem mount(String folder) throws Exception {
        return MountedFileSystem.mount(SharedAlluxio.open(folder, Map.of()), TransportChoice.LIBFUSE);
    }
}

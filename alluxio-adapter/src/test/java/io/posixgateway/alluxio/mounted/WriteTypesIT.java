package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.fs.AlluxioFileSystem;
import io.posixgateway.alluxio.store.FileDetails;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the bytes go with each type of writing: files that are made, replaced, appended to and cut. */
class WriteTypesIT {
    @ParameterizedTest
    @CsvSource({"CACHE_THROUGH,true,true", "THROUGH,false,true", "MUST_CACHE,true,false", "ASYNC_THROUGH,true,false"})
    void filesGoWhereTheTypeOfWritingSays(String type, boolean inWorkers, boolean below) throws Exception {
        String folder = SharedAlluxio.folder();
        AlluxioFileSystem fs = SharedAlluxio.open(folder, Map.of("write_type", type));
        try (MountedFileSystem mounted = MountedFileSystem.mount(fs, TransportChoice.AUTO);
                MountedFileSystem other = MountedFileSystem.mount(
                        SharedAlluxio.open(folder, Map.of("open_trust", "0")), TransportChoice.AUTO)) {
            Path file = Files.writeString(mounted.root().resolve("f"), "made");
            Files.writeString(file, "replaced");
            Files.writeString(file, " and longer", StandardOpenOption.APPEND);
            // Before it is read, which has a worker keep it.
            FileDetails details = fs.store().details(folder + "/f");
            assertThat(details.blocks().get(0).places().isEmpty()).isNotEqualTo(inWorkers);
            assertThat(SharedAlluxio.running().underStore().get(folder.substring(1) + "/f") != null)
                    .isEqualTo(below);
            assertThat(file).hasContent("replaced and longer");
            assertThat(other.root().resolve("f")).hasContent("replaced and longer");
        }
    }
}

package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.embedded.EmbeddedAlluxio;
import io.posixgateway.alluxio.fs.AdapterOptions;
import io.posixgateway.alluxio.fs.AlluxioMount;
import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.alluxio.harness.Clusters;
import io.posixgateway.alluxio.harness.TestDirectory;
import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Alluxio's job servers bring what is written with ASYNC_THROUGH to the under file system. */
class AsyncThroughIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void whatIsWrittenIsInTheUnderFileSystemAtLast(@TempDir Path spool) throws Exception {
        EmbeddedAlluxio alluxio = Clusters.twoWorkers();
        alluxio.startJobServers();
        TestDirectory own = Clusters.directory(alluxio);
        Map<String, String> options = Map.of("write_type", "ASYNC_THROUGH", "spool", spool.toString());
        try (MountedFileSystem mounted = MountedFileSystem.mount(
                AlluxioMount.open(
                        AlluxioOptions.ofUri(own.uri()), AdapterOptions.of(AdapterOptions.TABLE.read(options))),
                TransportChoice.AUTO)) {
            Path folder = Files.createDirectory(mounted.root().resolve("d"));
            Files.writeString(folder.resolve("made"), "made");
            Path replaced = Files.writeString(folder.resolve("replaced"), "old");
            Files.writeString(replaced, "replaced");
            Files.writeString(replaced, " and longer", StandardOpenOption.APPEND);
            Path checkpoint = Files.writeString(folder.resolve("checkpoint"), "old");
            Files.move(
                    Files.writeString(folder.resolve("temporary"), "new"), checkpoint, StandardCopyOption.ATOMIC_MOVE);

            Map<String, String> whole = Map.of("made", "made", "replaced", "replaced and longer", "checkpoint", "new");
            Path below = own.ufs().resolve("d");
            Waiting.until("all of it, and nothing else, is below", LIMIT, () -> contents(below)
                    .equals(whole));
            assertThat(contents(folder)).isEqualTo(whole);
        }
    }

    /** By name; nothing where one goes while they are looked at. */
    private static Map<String, String> contents(Path folder) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        if (Files.exists(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                for (Path file : files) {
                    contents.put(file.getFileName().toString(), Files.readString(file));
                }
            } catch (NoSuchFileException e) {
                return Map.of();
            }
        }
        return contents;
    }
}

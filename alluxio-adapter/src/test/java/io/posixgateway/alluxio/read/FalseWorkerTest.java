package io.posixgateway.alluxio.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryUfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker that puts others' files where its blocks should be, or says that its blocks are among them. */
class FalseWorkerTest {
    private static final String CONTENT = "what was written";

    private final Path folder;
    private final Path secret;
    private final MemoryCluster cluster;

    FalseWorkerTest(@TempDir Path folder) throws IOException {
        this.folder = folder;
        this.secret = Files.writeString(folder.resolve("secret"), "another volume's");
        this.cluster =
                new MemoryCluster(MemoryUfs.Kind.LOCAL, 1, 1 << 30, Files.createDirectory(folder.resolve("blocks")));
        cluster.clock().advance(Duration.ofHours(1));
    }

    private MemoryMount mount(String trusted) {
        return MemoryMount.of(cluster.connect()).with("block_folders", trusted).open();
    }

    private List<Path> blockFiles() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("blocks"))) {
            return files.toList();
        }
    }

    private void replaceBlocks() throws IOException {
        for (Path block : blockFiles()) {
            Files.delete(block);
            Files.createSymbolicLink(block, secret);
        }
    }

    private void writeBeforehand() {
        try (MemoryMount mount = mount("")) {
            mount.write("/file", CONTENT);
        }
    }

    @Test
    void read_linkInThePlaceOfABlock_showsWhatWasWritten() throws IOException {
        writeBeforehand();
        replaceBlocks();
        try (MemoryMount mount = mount(folder.toString())) {
            assertThat(mount.read("/file")).isEqualTo(CONTENT);
            assertThat(mount.read("/file")).isEqualTo(CONTENT);
        }
    }

    @Test
    void read_folderNobodyNamed_goesThroughTheWorker() throws IOException {
        writeBeforehand();
        for (Path block : blockFiles()) {
            Files.writeString(block, Files.readString(secret));
        }
        try (MemoryMount mount = mount(folder.resolve("elsewhere").toString())) {
            assertThat(mount.read("/file")).isEqualTo(CONTENT);
            assertThat(mount.read("/file")).isEqualTo(CONTENT);
        }
    }
}

package io.posixgateway.fuse.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.OutputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadmeExampleIT {
    private static final Path SOURCE = Path.of("src/test/java/io/posixgateway/fuse/example/ZipMount.java");

    @Test
    void theReadmeShowsTheExampleAsItIsCompiled() throws Exception {
        String source = Files.readString(SOURCE);
        String shown = source.substring(source.indexOf("/** Mounts a zip"));
        assertThat(Files.readString(Path.of("README.md"))).contains("```java\n" + shown + "```");
        List<String> lines = shown.lines().filter(line -> !line.isBlank()).toList();
        assertThat(lines).hasSizeLessThanOrEqualTo(40);
    }

    @Test
    void theExampleMountsAnArchive(@TempDir Path folder) throws Exception {
        Path archive = folder.resolve("sample.zip");
        try (FileSystem zip = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
            Files.createDirectory(zip.getPath("/inner"));
            Files.writeString(zip.getPath("/hello"), "hello from a zip");
            try (OutputStream big = Files.newOutputStream(zip.getPath("/inner/big"))) {
                big.write(new byte[300_000]);
            }
        }
        try (FileSystem zip = FileSystems.newFileSystem(archive);
                MountedFileSystem mounted = MountedFileSystem.mount(new ZipMount(zip), TransportChoice.AUTO)) {
            assertThat(Files.readString(mounted.root().resolve("hello"))).isEqualTo("hello from a zip");
            assertThat(Files.readAllBytes(mounted.root().resolve("inner/big"))).isEqualTo(new byte[300_000]);
            try (Stream<Path> listed = Files.list(mounted.root())) {
                assertThat(listed.map(path -> path.getFileName().toString()))
                        .containsExactlyInAnyOrder("hello", "inner");
            }
            assertThatThrownBy(() -> Files.size(mounted.root().resolve("none")))
                    .isInstanceOf(NoSuchFileException.class);
            assertThatThrownBy(() -> Files.createDirectory(mounted.root().resolve("d")))
                    .hasMessageContaining("not supported");
        }
    }
}

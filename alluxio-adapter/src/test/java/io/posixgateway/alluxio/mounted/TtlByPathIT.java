package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two mounts of one folder, which believe what is in "stays" for an hour, and what is in "changes" not at all. */
class TtlByPathIT {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private MountedFileSystem one;
    private MountedFileSystem two;

    @BeforeEach
    void mountTwice() throws Exception {
        String folder = SharedAlluxio.folder();
        Files.createDirectories(SharedAlluxio.ufs(folder).resolve("stays/now"));
        Files.createDirectories(SharedAlluxio.ufs(folder).resolve("changes"));
        Map<String, String> options = Map.of(
                "consistency", "ttl", "metadata_ttl", "1h", "metadata_ttl_of", "/changes=0:/stays/now=0:/stays=1h");
        one = MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
        two = MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
    }

    @AfterEach
    void unmount() throws Exception {
        one.close();
        two.close();
    }

    @Test
    void whatIsBelowAPathIsBelievedForItsTime() throws Exception {
        for (String path : new String[] {"stays", "changes", "stays/now"}) {
            Files.writeString(one.root().resolve(path).resolve("f"), "old");
            Path seen = two.root().resolve(path);
            assertThat(Files.size(seen.resolve("f"))).isEqualTo(3);
            assertThat(seen.resolve("new")).doesNotExist();
            // The first loads the names, which changes the directory; the second is kept.
            for (int look = 1; look <= 2; look++) {
                assertThat(names(seen)).contains("f").doesNotContain("new");
            }
        }
        for (String path : new String[] {"stays", "changes", "stays/now"}) {
            Files.writeString(one.root().resolve(path).resolve("f"), "longer");
            Files.writeString(one.root().resolve(path).resolve("new"), "new");
        }
        for (String path : new String[] {"changes", "stays/now"}) {
            Path seen = two.root().resolve(path);
            assertThat(Files.size(seen.resolve("f"))).isEqualTo(6);
            assertThat(seen.resolve("f")).hasContent("longer");
            assertThat(names(seen)).contains("new");
            assertThat(seen.resolve("new")).exists();
        }
        Path seen = two.root().resolve("stays");
        assertThat(Files.size(seen.resolve("f"))).isEqualTo(3);
        assertThat(names(seen)).doesNotContain("new");
        assertThat(seen.resolve("new")).doesNotExist();
    }

    private static List<String> names(Path directory) {
        return List.of(Objects.requireNonNull(directory.toFile().list()));
    }

    @Test
    void whatIsRenamedIsBelievedAsItsNewPathIs() throws Exception {
        Files.createDirectories(one.root().resolve("stays/folder"));
        Files.writeString(one.root().resolve("stays/folder/below"), "old");
        Files.writeString(one.root().resolve("stays/f"), "old");
        assertThat(Files.size(two.root().resolve("stays/folder/below"))).isEqualTo(3);
        assertThat(Files.size(two.root().resolve("stays/f"))).isEqualTo(3);
        Files.move(two.root().resolve("stays/folder"), two.root().resolve("changes/folder"));
        Files.move(two.root().resolve("stays/f"), two.root().resolve("changes/f"));
        Files.writeString(one.root().resolve("changes/folder/below"), "longer");
        Files.writeString(one.root().resolve("changes/f"), "longer");
        Waiting.until(
                "the new size of what was renamed",
                LIMIT,
                () -> Files.size(two.root().resolve("changes/f")) == 6);
        Waiting.until(
                "the new size of what is below it",
                LIMIT,
                () -> Files.size(two.root().resolve("changes/folder/below")) == 6);
    }
}

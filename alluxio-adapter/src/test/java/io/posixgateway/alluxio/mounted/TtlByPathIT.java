package io.posixgateway.alluxio.mounted;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.harness.Waiting;
import io.posixgateway.fuse.conformance.MountedFileSystem;
import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two mounts of one folder, which believe what is in "stays" for an hour, and what is in "changes" not at all: the kernel asks
 * again. All else is in {@code TtlByPathTest}.
 */
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
                "consistency",
                "ttl",
                "metadata_ttl",
                "1h",
                "negative_ttl",
                "1h",
                "metadata_ttl_of",
                "/changes=0:/stays/now=0:/stays=1h");
        one = MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
        two = MountedFileSystem.mount(SharedAlluxio.open(folder, options), TransportChoice.AUTO);
    }

    @AfterEach
    void unmount() throws Exception {
        one.close();
        two.close();
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

package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.store.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheFoldersTest {
    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final ManualClock clock = new ManualClock();

    @Test
    void volumesOfAProcessShareAFolder_whoseLargestSizeCounts() throws IOException {
        Path folder = above.resolve("cache");
        Path link = Files.createSymbolicLink(above.resolve("link"), above);
        try (CacheFolders.Shared one = CacheFolders.open(folder, 10, clock)) {
            try (CacheFolders.Shared other = CacheFolders.open(link.toRealPath().resolve("cache"), 20, clock)) {
                assertThat(other).isSameAs(one);
                assertThat(one.isReady(false)).isTrue();
            }
            assertThat(one.isReady(false)).as("the other one closed it").isTrue();
            assertThat(one.cache().limitBytes()).isEqualTo(20);
        }
        assertThat(CacheFolder.tryLock(folder)).isNotNull();
    }

    @Test
    void folderOfAnotherProcess_isUsedWhenThatEnds() throws IOException {
        Path folder = Files.createDirectory(above.resolve("cache"));
        CacheFolder lock = Objects.requireNonNull(CacheFolder.tryLock(folder));
        try (CacheFolders.Shared shared = CacheFolders.open(folder, 10, clock)) {
            assertThat(shared.isReady(true)).isFalse();
            lock.close();
            assertThat(shared.isReady(true)).as("not tried each time").isFalse();
            clock.advance(Duration.ofSeconds(6));
            assertThat(shared.isReady(false)).as("that would wait").isFalse();
            assertThat(shared.isReady(true)).isTrue();
            assertThat(shared.isReady(false)).isTrue();
        }
    }

    @Test
    void layeredFileSystem_isRefusedByName() {
        assertThatThrownBy(() -> CacheFolder.checkKind(Path.of("/var/cache"), "overlay"))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("cache_dir=/var/cache", "overlay", "hostPath");
    }

    @Test
    void folderThatOthersMayWriteTo_isRefused() throws IOException {
        Path folder = Files.createDirectory(above.resolve("cache"));
        Files.setPosixFilePermissions(folder, java.nio.file.attribute.PosixFilePermissions.fromString("rwxrwxrwx"));

        assertThatThrownBy(() -> CacheFolders.open(folder, 10, clock)).hasMessageContaining("writable by others");
    }
}

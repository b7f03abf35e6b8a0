package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.harness.TmpfsFolder;
import io.posixgateway.alluxio.store.ManualClock;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheFoldersTest {
    @TempDir(factory = TmpfsFolder.class)
    private Path above = Path.of("");

    private final ManualClock clock = new ManualClock();
    private final CacheFolders folders = new CacheFolders(clock);

    @Test
    void volumesOfAProcessShareAFolder_whoseLargestSizeCounts() throws IOException {
        Path folder = above.resolve("cache");
        Path link = Files.createSymbolicLink(above.resolve("link"), above);
        try (CacheFolders.Shared one = folders.open(folder, 10, false)) {
            try (CacheFolders.Shared other = folders.open(link.toRealPath().resolve("cache"), 20, false)) {
                assertThat(other).isSameAs(one);
                assertThat(one.isReady(false)).isTrue();
            }
            assertThat(one.isReady(false)).as("the other one closed it").isTrue();
            assertThat(one.cache().limitBytes()).isEqualTo(20);
        }
        assertThat(CacheFolder.tryLock(folder)).isNotNull();
    }

    @Test
    void otherSharedObject_sharesNothing() throws IOException {
        Path folder = above.resolve("cache");
        CacheFolders others = new CacheFolders(clock);
        try (CacheFolders.Shared one = folders.open(folder, 10, false);
                CacheFolders.Shared other = others.open(folder, 10, false)) {
            assertThat(one.isReady(true)).isTrue();
            assertThat(other.isReady(true)).as("as if another process had it").isFalse();
        }
    }

    @Test
    void folderOfAnotherProcess_isUsedWhenThatEnds() throws IOException {
        Path folder = Files.createDirectory(above.resolve("cache"));
        CacheFolder lock = Objects.requireNonNull(CacheFolder.tryLock(folder));
        try (CacheFolders.Shared shared = folders.open(folder, 10, false)) {
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
    void folderThatCannotBeUsedAtATakeover_isLeftOutUntilItCan() throws IOException {
        Path folder = Files.createDirectory(above.resolve("cache"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path disk = Files.writeString(above.resolve("disk"), "is not mounted here");
        try (CacheFolders.Shared shared = folders.open(folder, 10, true);
                CacheFolders.Shared missing = folders.open(disk.resolve("cache"), 10, true)) {
            assertThat(shared.isReady(true) || missing.isReady(true)).isFalse();
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
            Files.delete(disk);
            assertThat(shared.isReady(true) || missing.isReady(true))
                    .as("not tried each time")
                    .isFalse();
            clock.advance(Duration.ofSeconds(6));
            assertThat(shared.isReady(true) && missing.isReady(true)).isTrue();
        }
    }

    @Test
    void indexThatCannotBeLoaded_leavesTheFolderToOthers() throws IOException {
        Path folder = Files.createDirectory(above.resolve("cache"));
        try (RandomAccessFile index =
                new RandomAccessFile(folder.resolve(CacheIndex.FILE).toFile(), "rw")) {
            index.setLength(3L << 30); // more than can be mapped
        }
        try (CacheFolders.Shared shared = folders.open(folder, 10, false)) {
            assertThat(shared.isReady(true)).isFalse();
            assertThat(CacheFolder.tryLock(folder)).isNotNull();
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
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertThatThrownBy(() -> folders.open(folder, 10, false)).hasMessageContaining("writable by others");
    }
}

package io.posixgateway.alluxio.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.fs.AlluxioOptions;
import io.posixgateway.fuse.time.Clock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A spool that somebody else could replace fails the mount, before Alluxio is asked: each write would fail. */
class SpoolAtMountTest {
    private static final AlluxioOptions PLACE = new AlluxioOptions("", "/", "", Map.of());

    @Test
    void openToServe_othersMayReplaceTheSpool_isRefusedWithWhatToDo(@TempDir Path parent) throws Exception {
        Path open = Files.createDirectory(parent.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        FileSystemFactory volumes = new FileSystemFactory(null, open.resolve("spool"), Clock.system());
        assertThatThrownBy(() -> volumes.openToServe(PLACE, FileSystemFactory.OPTIONS.read(Map.of())))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("chmod o-w " + open);
        volumes.checkSpool(PLACE, FileSystemFactory.OPTIONS.read(Map.of("ro", "on")));
        assertThat(open).isEmptyDirectory();
    }
}

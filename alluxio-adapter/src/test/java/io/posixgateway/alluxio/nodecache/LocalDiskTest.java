package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.journal.DiskErrno;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalDiskTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void openThatFails_tellsTheSystemsReasonAlone() throws IOException {
        String name = "a (" + Native.errorText(-Errno.EMFILE) + ")";
        Files.createDirectory(folder.resolve(name));

        assertThatThrownBy(() -> new LocalDisk(folder).open(name))
                .isInstanceOfSatisfying(FileSystemException.class, e -> {
                    assertThat(e.getReason()).isEqualTo(Native.errorText(-Errno.EISDIR));
                    assertThat(DiskErrno.lacksDescriptors(e)).isFalse();
                });
    }
}

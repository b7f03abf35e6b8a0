package io.posixgateway.alluxio.nodecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.posixgateway.alluxio.journal.DiskErrno;
import io.posixgateway.fuse.jni.Native;
import io.posixgateway.fuse.spi.Errno;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalDiskTest {
    @TempDir
    private Path folder = Path.of("");

    /** The page cache has it before, or does not: so it is afterwards. */
    @Test
    void readOnce_leavesMemoryAsItWas() throws IOException {
        byte[] content = new byte[1 << 20];
        Path path = Files.write(folder.resolve("file"), content);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        try (FolderDisk.Opened file = new LocalDisk(folder).open("file")) {
            assumeTrue(Native.discardPages(file.descriptor(), 0, content.length) == 0 && !isInMemory(file));
            assertThat(file.readOnce(0, ByteBuffer.allocate(content.length))).isEqualTo(content.length);
            assertThat(isInMemory(file)).isFalse();
            assertThat(file.read(0, ByteBuffer.allocate(content.length))).isEqualTo(content.length);
            assertThat(isInMemory(file)).isTrue();
            assertThat(file.readOnce(0, ByteBuffer.allocate(content.length))).isEqualTo(content.length);
            assertThat(isInMemory(file)).isTrue();
        }
    }

    private static boolean isInMemory(FolderDisk.Opened file) {
        return file.readNow(0, ByteBuffer.allocateDirect(1 << 16)) > 0;
    }

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

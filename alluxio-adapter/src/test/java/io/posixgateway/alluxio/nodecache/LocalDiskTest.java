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
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalDiskTest {
    private static final int PART = 1 << 18;
    private static final int PARTS = 16;

    @TempDir
    private Path folder = Path.of("");

    /** The page cache has it before, or does not: so it is afterwards. */
    @Test
    void readOnce_leavesMemoryAsItWas() throws IOException {
        byte[] content = new byte[PARTS * PART];
        Path path = Files.write(folder.resolve("file"), content);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        try (FolderDisk.Opened file = new LocalDisk(folder).open("file")) {
            assumeTrue(Native.discardPages(file.descriptor(), 0, content.length) == 0 && partsInMemory(file) == 0);
            readOnce(file);
            assertThat(partsInMemory(file)).isZero();
            assertThat(file.read(0, ByteBuffer.allocate(content.length))).isEqualTo(content.length);
            assertThat(partsInMemory(file)).isEqualTo(PARTS);
            readOnce(file);
            assertThat(partsInMemory(file)).isEqualTo(PARTS);
        }
    }

    /** In parts, one behind the other. */
    private static void readOnce(FolderDisk.Opened file) throws IOException {
        for (long part = 0; part < PARTS; part++) {
            assertThat(file.readOnce(part * PART, ByteBuffer.allocate(PART))).isEqualTo(PART);
        }
    }

    private static int partsInMemory(FolderDisk.Opened file) {
        return (int) LongStream.range(0, PARTS)
                .filter(part -> file.readNow(part * PART, ByteBuffer.allocateDirect(1 << 12)) > 0)
                .count();
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

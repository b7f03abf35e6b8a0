package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import io.posixgateway.fuse.time.Clock;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What spool files may take together. */
class SpoolFolderTest {
    private static Spool written(SpoolFolder folder, int bytes) throws StoreException {
        Spool spool = folder.make();
        assertThat(spool.write(0, ByteBuffer.allocate(bytes))).isEqualTo(bytes);
        return spool;
    }

    @Test
    void whatIsKeptTakesRoomUntilItIsTakenAway(@TempDir Path path) throws Exception {
        SpoolFolder folder = new SpoolFolder(path, 1000, 0, false, Clock.system());
        Spool failed = written(folder, 600);
        failed.close(true);
        assertThat(failed.file()).hasSize(600);
        assertThat(folder.usedBytes()).isEqualTo(600);
        Spool next = folder.make();
        assertThatThrownBy(() -> next.write(0, ByteBuffer.allocate(500)))
                .hasMessageContaining("; 600 bytes of them")
                .hasMessageContaining(failed.file() + "]: move or delete")
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.type(StoreException.class))
                .extracting(StoreException::errno)
                .isEqualTo(Errno.ENOSPC);
        Files.delete(failed.file());
        assertThat(next.write(0, ByteBuffer.allocate(500))).isEqualTo(500);
        assertThat(folder.usedBytes()).isEqualTo(500);
        next.close(false);
        assertThat(folder.usedBytes()).isZero();
        assertThat(path).isEmptyDirectory();
    }

    /** Alluxio may answer: whoever waits for it waits for nothing. */
    @Test
    void records_ofAFolderThatCannotBeListed_failAsThisNodes(@TempDir Path parent) throws Exception {
        Path noFolder = Files.createFile(parent.resolve("spool"));
        SpoolFolder folder = new SpoolFolder(noFolder, 1000, 0, true, Clock.system());
        assertThatThrownBy(folder::records)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.isOfThisNode()).isTrue())
                .hasMessageContaining(noFolder + " cannot be listed");
    }

    /** Whoever can replace a spool file says what is uploaded. */
    @Test
    void make_othersMayWriteThereOrAbove_isRefused(@TempDir Path parent) throws Exception {
        for (String mode : new String[] {"rwxrwxrwx", "rwxr-xr-x"}) {
            Path spool = parent.resolve("spool");
            Files.createDirectories(spool);
            Files.setPosixFilePermissions(spool, PosixFilePermissions.fromString(mode));
            Files.setPosixFilePermissions(
                    parent, PosixFilePermissions.fromString(mode.equals("rwxrwxrwx") ? "rwx------" : "rwxrwxrwx"));
            SpoolFolder folder = new SpoolFolder(spool, 1000, 0, false, Clock.system());
            assertThatThrownBy(folder::make)
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM))
                    .hasMessageContaining("chmod o-w " + (mode.equals("rwxrwxrwx") ? spool : parent));
            assertThat(spool).isEmptyDirectory();
        }
    }

    @Test
    void aFolderThatIsFullOfWhatIsBeingWrittenBlamesNothingElse(@TempDir Path path) throws Exception {
        SpoolFolder folder = new SpoolFolder(path, 1000, 0, false, Clock.system());
        Spool first = written(folder, 600);
        Spool second = folder.make();
        assertThatThrownBy(() -> second.write(0, ByteBuffer.allocate(500))).hasMessageEndingWith("bytes in " + path);
        first.close(false);
        assertThat(second.write(0, ByteBuffer.allocate(500))).isEqualTo(500);
    }

    @Test
    void whatAnEarlierProcessKeptTakesRoomWhereTheFolderIsTheVolumesOwn(@TempDir Path path) throws Exception {
        Files.write(path.resolve("spool-1"), new byte[300]);
        Path goesOn = Files.write(path.resolve("spool-2"), new byte[200]);
        Path record = Files.write(path.resolve("spool-2.draft"), new byte[100]);
        Files.write(path.resolve("nodes"), new byte[50]);
        SpoolFolder folder = new SpoolFolder(path, 1000, 0, true, Clock.system());
        assertThat(folder.records()).containsExactly(record);
        assertThat(folder.usedBytes()).isEqualTo(300);
        Spool opened = folder.open(goesOn);
        assertThat(folder.usedBytes()).isEqualTo(500);
        opened.close(false);
        assertThat(folder.usedBytes()).isEqualTo(300);
        Files.delete(path.resolve("spool-1"));
        assertThat(folder.usedBytes()).isZero();
    }
}

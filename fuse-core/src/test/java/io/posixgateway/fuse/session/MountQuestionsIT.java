package io.posixgateway.fuse.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.fuse.session.SessionOptions.TransportChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A mount that cannot be made says what was given, what is wrong and what to do; and leaves nothing behind. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MountQuestionsIT {
    @Test
    void aMissingMountPointIsToBeCreated(@TempDir Path folder) {
        Path missing = folder.resolve("not here");
        assertRefused(missing, missing + " does not exist", "mkdir -p");
        assertRefused(missing.resolve("deeper"), "does not exist", "mkdir -p");
    }

    @Test
    void aFileIsNoMountPoint(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertRefused(file, file + " is not a folder", "give a folder");
    }

    @Test
    void theRootFolderIsNoMountPoint() {
        assertRefused(Path.of("/"), "'/' cannot be a mount point", "choose an empty folder");
    }

    @Test
    void aMountPointInUseIsNamedWithWhatIsMountedThere(@TempDir Path folder) throws IOException {
        try (FuseSession session = Sessions.mount(new TinyFileSystem(), folder, TransportChoice.DEVFUSE)) {
            assertRefused(folder, "is busy: 'tiny' (fuse.posix-gateway)", "fusermount -u");
            assertThat(session.ended()).isFalse();
        }
    }

    @Test
    void aFolderThatIsNotEmptyCanBeMountedOver(@TempDir Path folder) throws IOException {
        Files.createFile(folder.resolve("hidden"));
        try (FuseSession session = Sessions.mount(new TinyFileSystem(), folder, TransportChoice.DEVFUSE)) {
            assertThat(session.ended()).isFalse();
            assertThat(folder.resolve("hidden")).doesNotExist();
        }
        assertThat(folder.resolve("hidden")).exists();
    }

    @Test
    void aSymbolicLinkAndASpaceInTheMountPointAreNoObstacle(@TempDir Path folder) throws IOException {
        Path real = Files.createDirectory(folder.resolve("with space"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), real);
        try (FuseSession session = Sessions.mount(new TinyFileSystem(), link, TransportChoice.DEVFUSE)) {
            assertThat(session.ended()).isFalse();
            assertThat(real.resolve("slow")).exists();
        }
        assertThat(MountTable.at(real.toRealPath())).isNull();
    }

    @Test
    void aBadOptionIsNamedWithWhatIsAllowed(@TempDir Path folder) {
        SessionOptions good = Sessions.options(TransportChoice.DEVFUSE);
        SessionOptions bad = new SessionOptions(
                good.transport(), "tiny", false, false, true, good.flags(), 1000, 0, 0, 8, 0, false, false, good.off());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FuseSession.mount(new TinyFileSystem(), folder, bad))
                .withMessageContaining("maxWriteBytes is 1000")
                .withMessageContaining("from 131072 to 1048576");
    }

    @Test
    void aPersistentSessionIsNotServedByLibfuse() {
        PersistentSession kept = new PersistentSession(-1, -1, -1, -1, "/somewhere", false, 0, null, null, null);
        assertThatThrownBy(
                        () -> FuseSession.serve(new TinyFileSystem(), kept, Sessions.options(TransportChoice.LIBFUSE)))
                .isInstanceOf(MountException.class)
                .hasMessageContaining("/somewhere")
                .hasMessageContaining("choose auto, devfuse or uring");
    }

    private static void assertRefused(Path mountPoint, String what, String advice) {
        assertThatThrownBy(() -> Sessions.mount(new TinyFileSystem(), mountPoint, TransportChoice.DEVFUSE))
                .isInstanceOf(MountException.class)
                .hasMessageContaining(what)
                .hasMessageContaining(advice);
    }
}

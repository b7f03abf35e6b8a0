package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.FuseNode;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.RecordingKernel.Notification;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreWriter;
import io.posixgateway.fuse.spi.Errno;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Another client has put a directory in the place of a file, or a file in that of a directory, and this mount does not know it yet. Alluxio
 * deletes and replaces whatever has a name, so nothing of that may be sent: what the other client made stays as it was.
 */
class OtherKindTest {
    private static final String BELOW = "/dir/name/below";

    private record Mounted(MemoryCluster cluster, MemoryStore other, MemoryMount mount) implements AutoCloseable {
        static Mounted of(MemoryUfs.Kind kind) {
            MemoryCluster cluster = new MemoryCluster(kind);
            Mounted made = new Mounted(cluster, cluster.connect(), MemoryMount.of(cluster));
            made.mount.mkdir("/dir");
            return made;
        }

        /** Of the other client. */
        void makeFile(String path) throws StoreException {
            byte[] content = "of others".getBytes(StandardCharsets.UTF_8);
            StoreWriter writer = other.create(path, 0640, Map.of(), UUID.randomUUID());
            writer.write(content, 0, content.length);
            writer.complete();
        }

        void makeDirectoryInPlaceOfFile() throws StoreException {
            other.delete("/dir/name");
            other.makeDirectory("/dir/name", 0750, Map.of("user.a", new byte[] {1}));
            makeFile(BELOW);
        }

        void makeFileInPlaceOfDirectory() throws StoreException {
            other.delete("/dir/name");
            makeFile("/dir/name");
        }

        /** Nothing was dropped, and loaded again from the under file system. */
        void assertUnchanged(FileStatus directory, FileStatus below) throws StoreException {
            assertThat(other.status("/dir/name").id()).isEqualTo(directory.id());
            assertThat(other.status("/dir/name").xattrs()).containsKey("user.a");
            assertThat(other.status(BELOW).id()).isEqualTo(below.id());
        }

        /** So that it looks the name up again before it believes in it. */
        void awaitNameTold() throws InterruptedException {
            mount.kernel().await(Notification.entry(mount.lookup("/dir").id(), "name"));
        }

        @Override
        public void close() {
            mount.close();
        }
    }

    private static void fails(int errno, Runnable work) {
        assertThatThrownBy(work::run).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(errno));
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void rename_overFileThatIsADirectoryNow_isEisdir(MemoryUfs.Kind kind) throws Exception {
        try (Mounted volume = Mounted.of(kind)) {
            volume.mount.write("/dir/name", "old");
            volume.mount.write("/dir/source", "new");
            volume.makeDirectoryInPlaceOfFile();
            FileStatus directory = volume.other.status("/dir/name");
            FileStatus below = volume.other.status(BELOW);
            fails(Errno.EISDIR, () -> volume.mount.rename("/dir/source", "/dir/name"));
            volume.assertUnchanged(directory, below);
            assertThat(volume.mount.read("/dir/source")).isEqualTo("new");
            volume.awaitNameTold();
            fails(Errno.ENOTEMPTY, () -> volume.mount.rmdir("/dir/name"));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void close_ofFileWhoseNameIsADirectoryNow_isEisdir(MemoryUfs.Kind kind) throws StoreException {
        try (Mounted volume = Mounted.of(kind)) {
            volume.mount.write("/dir/name", "old");
            try (OpenFile file = volume.mount.openToWrite("/dir/name")) {
                file.write("new");
                volume.makeDirectoryInPlaceOfFile();
                FileStatus directory = volume.other.status("/dir/name");
                FileStatus below = volume.other.status(BELOW);
                fails(Errno.EISDIR, () -> volume.mount.requests().flush(file.opened()));
                volume.assertUnchanged(directory, below);
            } catch (FuseFailure e) {
                assertThat(e.errno()).as("of the close").isEqualTo(Errno.EISDIR);
            }
            assertThat(volume.other.list("/dir", "", 10).entries())
                    .extracting(FileStatus::name)
                    .containsExactly("name");
        }
    }

    /** The master would drop the target before it sees that a directory cannot replace it. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void rename_ofFileThatIsADirectoryNow_overAFile_isEnotdir(MemoryUfs.Kind kind) throws StoreException {
        try (Mounted volume = Mounted.of(kind)) {
            volume.mount.write("/dir/name", "old");
            volume.mount.write("/dir/target", "stays");
            long target = volume.other.status("/dir/target").id();
            volume.makeDirectoryInPlaceOfFile();
            FileStatus directory = volume.other.status("/dir/name");
            FileStatus below = volume.other.status(BELOW);
            int errno = kind == MemoryUfs.Kind.OBJECT_STORE
                    ? Errno.ESTALE
                    : Errno.ENOTDIR; // there it is looked at before, too
            fails(errno, () -> volume.mount.rename("/dir/name", "/dir/target"));
            volume.assertUnchanged(directory, below);
            assertThat(volume.other.status("/dir/target").id()).isEqualTo(target);
            assertThat(volume.mount.read("/dir/target")).isEqualTo("stays");
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void rmdir_ofDirectoryThatIsAFileNow_isEnotdir(MemoryUfs.Kind kind) throws Exception {
        try (Mounted volume = Mounted.of(kind)) {
            volume.mount.mkdir("/dir/name");
            volume.makeFileInPlaceOfDirectory();
            fails(Errno.ENOTDIR, () -> volume.mount.rmdir("/dir/name"));
            assertThat(volume.other.status("/dir/name").directory()).isFalse();
            assertThat(volume.cluster.ufs().read("/dir/name")).asString().isEqualTo("of others");
            volume.awaitNameTold();
            volume.mount.unlink("/dir/name");
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void rename_ofDirectoryOverOneThatIsAFileNow_isEnotdir(MemoryUfs.Kind kind) throws Exception {
        try (Mounted volume = Mounted.of(kind)) {
            volume.mount.mkdir("/dir/name");
            volume.mount.mkdir("/dir/source");
            volume.makeFileInPlaceOfDirectory();
            fails(Errno.ENOTDIR, () -> volume.mount.rename("/dir/source", "/dir/name"));
            assertThat(volume.cluster.ufs().read("/dir/name")).asString().isEqualTo("of others");
            assertThat(volume.other.status("/dir/source").directory()).isTrue();
            volume.awaitNameTold();
            volume.mount.unlink("/dir/name");
        }
    }

    /** The kernel takes a node that changes its kind for damaged, for all who have it open. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void chmod_ofFileThatIsALinkNow_isEstale(MemoryUfs.Kind kind) throws StoreException {
        try (Mounted volume = Mounted.of(kind);
                MemoryMount second = MemoryMount.of(volume.cluster)) {
            volume.mount.write("/dir/name", "old");
            FuseNode file = volume.mount.lookup("/dir/name");
            second.unlink("/dir/name");
            FuseNode link = second.requests().symlink(second.lookup("/dir").id(), "name", "elsewhere");
            fails(Errno.ESTALE, () -> volume.mount.requests().chmod(file.id(), 0600));
            assertThat(volume.mount
                            .requests()
                            .readlink(volume.mount.lookup("/dir/name").id()))
                    .isEqualTo("elsewhere");
            assertThat(second.lookup("/dir/name").mode()).isEqualTo(link.mode());
        }
    }

    /** Nor is it taken for a file where nothing is known of it at the moment. */
    @ParameterizedTest
    @EnumSource(MemoryUfs.Kind.class)
    void getattr_ofForgottenLinkThatIsAFileNow_isEstale(MemoryUfs.Kind kind) throws StoreException {
        try (Mounted volume = Mounted.of(kind)) {
            FuseNode link =
                    volume.mount.requests().symlink(volume.mount.lookup("/dir").id(), "name", "elsewhere");
            volume.other.delete("/dir/name");
            volume.makeFile("/dir/name");
            volume.mount.fileSystem().invalidate("/dir/name");
            fails(Errno.ESTALE, () -> volume.mount.requests().getattr(link.id()));
            assertThat(volume.mount.read("/dir/name")).isEqualTo("of others");
        }
    }
}

package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryStore;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The name of a file that is being replaced is missing, and what is to have it lies beside, when something else happens. */
class UnfinishedRenameTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.HDFS);
    private final MemoryStore outside = cluster.connect();
    private final Path folder;

    UnfinishedRenameTest(@TempDir Path folder) {
        this.folder = folder;
    }

    private static void failsWithEio(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(FuseFailure.class, e -> assertThat(e.errno())
                .isEqualTo(Errno.EIO));
    }

    private static OpenFile changed(MemoryMount mount) {
        mount.mkdir("/dir");
        mount.write("/dir/file", "old");
        return mount.openToWrite("/dir/file").write("new");
    }

    private List<String> names(String directory) throws StoreException {
        return outside.list(directory, "", 10).entries().stream()
                .map(FileStatus::name)
                .toList();
    }

    /** The upload at the release fails, too, so that the hidden file is the only one. */
    @Test
    void unmount_afterReplacementThatFailedUnexpectedly_keepsTheOnlyCopy() throws Exception {
        MemoryMount mount = MemoryMount.of(cluster.connect()).in(folder).open();
        OpenFile file = changed(mount);
        mount.faults().on(StoreCall.RENAME).dieInTheCopy(true).after(() -> {
            throw new IllegalStateException("nobody expects this");
        });
        mount.faults().on(StoreCall.CREATE).nth(2).always().fail(Errno.EACCES);
        assertThatThrownBy(file::close).isInstanceOf(FuseFailure.class);
        assertThat(mount.faults().count(StoreCall.RENAME)).as("a rename failed").isPositive();
        mount.close(); // before the mount has given the file its name in the background, or after
        assertThat(names("/dir")).containsExactly("file");
        assertThat(cluster.ufs().read("/dir/file")).asString().isEqualTo("new");
    }

    @Test
    void kill_beforeAnotherClientRenamesTheDirectory_givesTheFileItsNameThere() throws Exception {
        try (MemoryMount killed = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("killed"), null)) {
            OpenFile file = changed(killed);
            killed.faults().on(StoreCall.RENAME).dieInTheCopy(true);
            killed.faults().on(StoreCall.PATH_OF).always().fail(Errno.EIO);
            failsWithEio(file::fsync);
            killed.kill();
            outside.rename("/dir", "/moved", false);
            MemoryMount.of(cluster.connect())
                    .openReturned(folder.resolve("next"), killed)
                    .close();
        }
        assertThat(names("/moved")).containsExactly("file");
        assertThat(cluster.ufs().read("/moved/file")).asString().isEqualTo("new");
    }
}

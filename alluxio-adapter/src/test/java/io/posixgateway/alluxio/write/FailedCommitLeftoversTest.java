package io.posixgateway.alluxio.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.posixgateway.alluxio.store.FileStatus;
import io.posixgateway.alluxio.store.FuseFailure;
import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import io.posixgateway.alluxio.store.StoreCall;
import io.posixgateway.alluxio.store.StoreException;
import io.posixgateway.alluxio.store.StoreFaults.Fault;
import io.posixgateway.fuse.spi.Errno;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An upload that fails leaves nothing in Alluxio that is in anybody's way. */
class FailedCommitLeftoversTest {
    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);

    @BeforeEach
    void retryAtOnce() {
        cluster.clock().advanceBySleeps();
    }

    private List<String> names(String directory) throws StoreException {
        return cluster.connect().list(directory, "", 100).entries().stream()
                .map(FileStatus::name)
                .toList();
    }

    /** Others may have it open, so that its content stays; its name in Alluxio need not. */
    @Test
    void close_ofNewFileThatWasTakenOver_givesItsNameUpWhenItFails(@TempDir Path folder) throws Exception {
        MemoryMount first = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("first"), null);
        OpenFile file = first.create("/file");
        first.kill();
        assertThat(names("/")).containsExactly("file");
        try (MemoryMount second = MemoryMount.of(cluster.connect()).openPersistent(folder.resolve("second"), first)) {
            Fault fault = second.faults().on(StoreCall.RENAME).always().fail(Errno.EIO);
            assertThatThrownBy(second.inherited(file)::close).isInstanceOf(FuseFailure.class);
            fault.remove();
            assertThat(names("/")).as("the incomplete file").doesNotContain("file");
            assertThat(second.read("/file")).isEmpty();
        }
        assertThat(names("/")).as("uploaded at the end").containsExactly("file");
        first.close();
    }

    @Test
    void hiddenFileOfAnUploadThatFailed_isRemovedThoughItsDirectoryWasRenamed() throws Exception {
        MemoryMount mount = MemoryMount.of(cluster);
        mount.mkdir("/dir");
        mount.write("/dir/file", "first");
        OpenFile file = mount.openToWrite("/dir/file").write("other");
        Fault rename = mount.faults().on(StoreCall.RENAME).always().fail(Errno.EIO);
        Fault delete = mount.faults().on(StoreCall.DELETE).always().fail(Errno.EIO);
        assertThatThrownBy(file::close).isInstanceOf(FuseFailure.class);
        rename.remove();
        delete.remove();
        assertThat(names("/dir")).as("with hidden ones").hasSizeGreaterThan(1);
        mount.rename("/dir", "/renamed");
        mount.close();
        assertThat(names("/renamed")).containsExactly("file");
    }
}

package io.posixgateway.alluxio.fs;

import static org.assertj.core.api.Assertions.assertThat;

import io.posixgateway.alluxio.store.MemoryCluster;
import io.posixgateway.alluxio.store.MemoryMount;
import io.posixgateway.alluxio.store.MemoryMount.OpenFile;
import io.posixgateway.alluxio.store.MemoryUfs;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another mount replaces a file by a longer one, and this one learns of it, while it copies the file to change it. */
class ReplacedWhileCopiedTest {
    private static final String OLD = "old content";
    private static final String NEW = "new content, which is longer";

    private final MemoryCluster cluster = new MemoryCluster(MemoryUfs.Kind.LOCAL);
    private final MemoryMount other = MemoryMount.of(cluster);
    private final MemoryMount mount =
            MemoryMount.of(cluster.connect()).with("metadata_ttl", "0").open();

    @AfterEach
    void unmount() {
        mount.close();
        other.close();
    }

    /** @param opened before, and not after, the content is opened */
    private void replaceOnce(boolean opened) {
        VolumeContext volume = mount.fileSystem().volume;
        AtomicBoolean done = new AtomicBoolean();
        volume.dirtyFiles.readFrom((inode, id) -> {
            var source = opened ? volume.orphans.open(inode, id) : null;
            if (done.compareAndSet(false, true)) {
                other.write("/file", NEW);
                volume.metadata.refresh(inode); // as for a stat that began before the copy
                assertThat(inode.fileId()).isNotEqualTo(id);
            }
            return source != null ? source : volume.orphans.open(inode, id);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void write_ofFileReplacedWhileItIsCopied_changesTheNewOne(boolean opened) {
        mount.write("/file", OLD);
        try (OpenFile file = mount.openToWrite("/file")) {
            replaceOnce(opened);
            file.write("N");
            assertThat(file.readText()).isEqualTo("N" + NEW.substring(1));
        }
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo("N" + NEW.substring(1));
        assertThat(other.read("/file")).isEqualTo("N" + NEW.substring(1));
    }

    @Test
    void truncate_ofFileReplacedWhileItIsCopied_cutsTheNewOne() {
        mount.write("/file", OLD);
        try (OpenFile file = mount.openToWrite("/file")) {
            replaceOnce(false);
            file.truncate(NEW.length() - 1);
        }
        assertThat(cluster.ufs().read("/file")).asString().isEqualTo(NEW.substring(0, NEW.length() - 1));
    }
}
